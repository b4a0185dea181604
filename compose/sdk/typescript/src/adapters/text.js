// SPDX-License-Identifier: Apache-2.0
// What a model needs of a run, as text; the middle of a long one is left out.

export const MOST = 20_000;

/** @import { Result } from "../result.js" */

/** @param {Result} run */
export function textOf({ stdout, stderr, result, files, error, notes }) {
	const parts = [stdout, stderr, result === undefined || result === null ? "" : `result: ${JSON.stringify(result)}`];
	parts.push(...files.map((file) => `new file: ${file.filename}, ${file.size} bytes`));
	// A traceback says it already.
	if (error && !stderr.includes(error.message)) parts.push(`error: ${error.code}: ${error.message}`, error.hint ?? "");
	return [...parts, ...notes].map((part) => part.replace(/^\n+|\n+$/g, "")).filter(Boolean).join("\n") || "no output";
}

/** @param {string} text @param {number} most */
export function shortened(text, most) {
	if (text.length <= most) return text;
	const half = Math.floor(most / 2);
	return `${text.slice(0, half)}\n[${text.length - most} characters are left out]\n${text.slice(text.length - half)}`;
}
