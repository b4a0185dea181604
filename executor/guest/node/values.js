// SPDX-License-Identifier: Apache-2.0
/*
 * values.js - converts any JavaScript value to JSON text of bounded size, by the same rules as the Python driver's
 * values.py.  A value that has no JSON form is represented by the text that console.log would show.
 */
'use strict';

const { Array, ArrayBuffer, BigInt, Buffer, Error, JSON, Number, Object, Set, String } = global; /* before any program */
const { inspect, types } = require('util');

const MAX_DEPTH = 64, MAX_TEXT = 65536, MAX_CELLS = 200000, MAX_KEYS = 1000000;

class TooLarge extends Error {}

function whole(text) {
	return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
}

function shown(value) {
	try {
		return inspect(value, { depth: 2, maxArrayLength: 100, maxStringLength: 10000 }).slice(0, MAX_TEXT);
	} catch (error) {
		return `<${typeof value} that cannot be shown>`;
	}
}

class Writer {
	constructor(limit) {
		this.parts = [];
		this.room = limit;
		this.open = new Set();
	}

	put(text) {
		this.parts.push(text);
		this.room -= text.length;
		if (this.room < 0)
			throw new TooLarge();
	}

	text(text) {
		if (text.length > this.room) {
			this.put(JSON.stringify(whole(text.slice(0, 4096))));
			throw new TooLarge();
		}
		this.put(JSON.stringify(whole(text)));
	}

	value(value) {
		switch (typeof value) {
		case 'undefined': return this.put('null');
		case 'boolean': return this.put(String(value));
		case 'string': return this.text(value);
		case 'number': return Number.isFinite(value) ? this.put(JSON.stringify(value)) : this.text(String(value));
		case 'bigint':
			return BigInt.asIntN(64, value) === value ? this.put(String(value)) : this.text(shown(value).replace(/n$/, ''));
		case 'object': return value === null ? this.put('null') : this.object(value);
		default: return this.text(shown(value)); /* functions, symbols */
		}
	}

	object(value) {
		if (this.open.has(value) || this.open.size >= MAX_DEPTH)
			return this.text(shown(value));
		this.open.add(value);
		this.nested(value);
		this.open.delete(value);
	}

	nested(value) {
		if (Array.isArray(value))
			return this.list(value);
		if (types.isDate(value))
			return this.text(Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString());
		if (types.isMap(value))
			return this.map([...value]);
		if (types.isSet(value))
			return this.list([...value]);
		if (types.isTypedArray(value) && !Buffer.isBuffer(value) && value.length <= MAX_CELLS)
			return this.list(value);
		if (types.isBoxedPrimitive(value))
			return this.value(value.valueOf());
		if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value) || types.isNativeError(value) ||
			types.isRegExp(value) || types.isPromise(value) || types.isProxy(value) || types.isWeakMap(value) ||
			types.isWeakSet(value) || types.isGeneratorObject(value))
			return this.text(types.isNativeError(value) ? String(value) : shown(value));
		if (typeof value.toJSON === 'function')
			return this.value(value.toJSON());
		return this.entries(Object.keys(value), key => value[key]);
	}

	list(items) {
		this.put('[');
		for (let i = 0; i < items.length; i++) {
			this.put(i > 0 ? ', ' : '');
			this.value(items[i]);
		}
		this.put(']');
	}

	/* If JSON would make keys equal, such as 1 and "1", the result is a list of pairs. */
	map(pairs) {
		const keys = pairs.map(([key]) => typeof key === 'object' && key !== null ? shown(key) : String(key));
		if (new Set(keys).size < keys.length)
			return this.list(pairs);
		let i = 0;
		this.entries(keys, () => pairs[i++][1]);
	}

	entries(keys, get) {
		if (keys.length > MAX_KEYS)
			throw new TooLarge();
		this.put('{');
		keys.forEach((key, i) => {
			this.put(i > 0 ? ', ' : '');
			this.text(key);
			this.put(': ');
			this.value(get(key));
		});
		this.put('}');
	}
}

function kind(value) {
	try {
		return value === null || typeof value !== 'object' ? typeof value : String(value.constructor?.name ?? 'Object');
	} catch {
		return 'Object';
	}
}

/* JSON text of at most limit bytes.  A larger value is replaced by a string that says so and has its beginning. */
function as_json(value, limit) {
	const writer = new Writer(limit);
	try {
		writer.value(value);
		const text = writer.parts.join('');
		if (Buffer.byteLength(text) <= limit)
			return text;
	} catch (error) {
		if (!(error instanceof TooLarge))
			return JSON.stringify(whole(shown(value)));
	}
	const note = `${kind(value)} of more than ${limit} bytes as JSON; write it to a file instead. It begins: `;
	return JSON.stringify(note + writer.parts.join('').slice(0, MAX_TEXT / 16));
}

module.exports = { as_json };
