// SPDX-License-Identifier: Apache-2.0
/* text.js - positions in code, and repairs that concern its characters: code fences, typographic quotes. */
'use strict';

const { SourceMap } = require('module');

const CHARACTERS = new Map(Object.entries({
	'\u201c': '"', '\u201d': '"', '\u201e': '"', '\u00ab': '"', '\u00bb': '"',
	'\u2018': "'", '\u2019': "'", '\u201a': "'",
	'\u2013': '-', '\u2014': '-', '\u2212': '-', '\u2026': '...',
	'\u00d7': '*', '\u00f7': '/', '\u2264': '<=', '\u2265': '>=', '\u2260': '!==',
	'\u00a0': ' ', '\u202f': ' ', '\u3000': ' ',
	'\u200b': '', '\u200e': '', '\u200f': '', '\u2060': '', '\ufeff': '',
	'\uff08': '(', '\uff09': ')', '\uff0c': ',', '\uff1a': ':', '\uff1b': ';',
}));

const line_at = (code, offset) => code.slice(0, offset).split('\n').length;

/* In characters from 1, where a unit of UTF-16 and a byte of UTF-8 count from 0. */
const column_of_unit = (line, unit) => [...line.slice(0, unit)].length + 1;
const column_of_byte = (line, byte) => [...Buffer.from(line).subarray(0, byte).toString()].length + 1;

/* The lines and columns of offsets, in the text that was sent: map says where code comes from that was made of it. */
class Places {
	constructor(code, map) {
		this.map = map && new SourceMap(JSON.parse(map));
		this.lines = code.split('\n');
		this.starts = [0];
		for (const line of this.lines)
			this.starts.push(this.starts.at(-1) + line.length + 1);
	}

	/* Both count from 0. */
	own(offset) {
		let low = 0, high = this.lines.length - 1;
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (this.starts[middle] <= offset)
				low = middle;
			else
				high = middle - 1;
		}
		return { line: low, unit: offset - this.starts[low] };
	}

	/* The map counts columns in units, too, and knows only some of them. */
	line(offset) {
		const { line, unit } = this.own(offset);
		return (this.map === undefined ? line : this.map.findEntry(line, unit).originalLine ?? 0) + 1;
	}

	column(offset) {
		const { line, unit } = this.own(offset);
		return this.map === undefined ? column_of_unit(this.lines[line], unit) : (this.map.findEntry(line, unit).originalColumn ?? 0) + 1;
	}
}

/* The blocks within code fences; undefined if there is none. */
function unfence(code, report) {
	const lines = code.split('\n'), kept = [];
	let inside = false, first = 0;
	lines.forEach((line, i) => {
		const fence = /^\s*(```|~~~)/.test(line);
		if (fence && !inside && first === 0)
			first = i + 1;
		if (inside && !fence)
			kept.push(line);
		inside = fence ? !inside : inside;
	});
	if (first === 0 || kept.length === 0)
		return undefined;
	report.edit('fence', first, 'kept only the text inside of the code fence');
	return kept.join('\n') + '\n';
}

/* Replaces the character at the offset, else the typographic ones of its line; undefined if there are none. */
function retype(code, offset, report) {
	const by = CHARACTERS.get(code[offset]);
	if (by !== undefined) {
		report.edit('characters', line_at(code, offset), `replaced a typographic character by '${by}'`);
		return code.slice(0, offset) + by + code.slice(offset + 1);
	}
	const start = code.lastIndexOf('\n', offset - 1) + 1, end = (code + '\n').indexOf('\n', offset);
	const line = [...code.slice(start, end)].map(c => CHARACTERS.get(c) ?? c).join('');
	if (line === code.slice(start, end))
		return undefined;
	report.edit('characters', line_at(code, offset), 'replaced typographic characters');
	return code.slice(0, start) + line + code.slice(end);
}

module.exports = { CHARACTERS, Places, column_of_byte, column_of_unit, line_at, retype, unfence };
