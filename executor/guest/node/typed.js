// SPDX-License-Identifier: Apache-2.0
/*
 * typed.js - TypeScript without its types, by the package amaro, which is installed for such a program.
 *
 * Lines and columns stay, unless the code has enums and the like, which become code.
 */
'use strict';

const { Number, Object, String, SyntaxError } = global; /* before any program */

/* An older amaro throws a text, with the line in a drawing. */
function error_of_types(error) {
	const told = typeof error === 'string'
		? { message: /x (.*)/.exec(error)?.[1] ?? error, startLine: Number(/,-\[(\d+):/.exec(error)?.[1] ?? 1),
			startColumn: /^ *: ( *)\^/m.exec(error)?.[1].length } : error;
	const wrong = new SyntaxError(String(told?.message ?? told));
	Object.defineProperty(wrong, 'line_in_code', { value: told?.startLine ?? 0 });
	Object.defineProperty(wrong, 'column_in_code', { value: told?.startColumn ?? 0 }); /* from 0 */
	wrong.stack = `SyntaxError: ${wrong.message}`;
	return wrong;
}

/*
 * { code, map }: what V8 runs, and where it comes from as text of a source map; no map: each character is in its place.
 * main: the module in which the package is looked for.
 */
function strip(text, main) {
	const { transformSync } = main.require('amaro');
	let why;
	for (const options of [{ mode: 'strip-only' }, { mode: 'transform', sourceMap: true, filename: '<code>' }])
		try {
			const { code, map } = transformSync(text, options);
			return { code, map: options.sourceMap ? map : undefined };
		} catch (error) {
			why = error;
		}
	throw error_of_types(why);
}

module.exports = { strip };
