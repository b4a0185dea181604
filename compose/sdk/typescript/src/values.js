// SPDX-License-Identifier: Apache-2.0
// Members of objects from the server, which is not trusted to send the right types; names and bytes for it.
import { ProtocolError } from "./errors.js";

/** @typedef {Record<string, any>} Dictionary */

/** @param {string} name */
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * The arguments of a call from the options of a method: those that are given, maxRamMb as max_ram_mb.
 * @param {object} options
 * @returns {Dictionary}
 */
export const snakes = (options) => Object.fromEntries(
	Object.entries(options).filter(([, value]) => value !== undefined).map(([name, value]) => [snake(name), value]));

/**
 * The member, or undefined if it is absent or null.
 * @param {Dictionary} object
 * @param {string} name
 * @param {"string" | "number" | "boolean" | "object" | "array"} type
 * @returns {any}
 */
export function optional(object, name, type) {
	const value = object[name] ?? undefined;
	const found = Array.isArray(value) ? "array" : typeof value;
	if (value !== undefined && found !== type) throw new ProtocolError(`the server sent ${name} as ${found} instead of ${type}`);
	return value;
}

/** @type {typeof optional} */
export function required(object, name, type) {
	const value = optional(object, name, type);
	if (value === undefined) throw new ProtocolError(`the server's reply lacks ${name}`);
	return value;
}

/**
 * The members of a list of objects; empty if it is absent.
 * @param {Dictionary} object
 * @param {string} name
 * @returns {any[]}
 */
export function objects(object, name) {
	const values = optional(object, name, "array") ?? [];
	for (const value of values)
		if (typeof value !== "object" || value === null) throw new ProtocolError(`the server sent ${name} with a value that is no object`);
	return values;
}

/** @param {string | Uint8Array | ArrayBuffer} content */
export const bytes = (content) => typeof content === "string" ? Buffer.from(content)
	: content instanceof ArrayBuffer ? Buffer.from(content)
	: Buffer.from(content.buffer, content.byteOffset, content.byteLength);

/**
 * A copy of its own, not a view of Node's pool.
 * @param {string} text
 */
export const decode = (text) => new Uint8Array(Buffer.from(text, "base64"));
