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
		? { message: /x (.*)/.exec(error)?.[1] ?? error, startLine: Number(/,-\[(\d+):/.exec(error)?.[1] ?? 1) } : error;
	const wrong = new SyntaxError(String(told?.message ?? told));
	Object.defineProperty(wrong, 'line_in_code', { value: told?.startLine ?? 0 });
	wrong.stack = `SyntaxError: ${wrong.message}`;
	return wrong;
}

/* main: the module in which the package is looked for. */
function without_types(text, main) {
	const { transformSync } = main.require('amaro');
	let why;
	for (const mode of ['strip-only', 'transform'])
		try {
			return transformSync(text, { mode }).code;
		} catch (error) {
			why = error;
		}
	throw error_of_types(why);
}

module.exports = { without_types };
