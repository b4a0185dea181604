// SPDX-License-Identifier: Apache-2.0
/*
 * report.js - the report on checked code, within the bounds of schema.def, and its form on the wire.
 *
 * The executor trusts none of it: it decodes the bytes like a message of the bus (executor/run/check/check.c).
 */
'use strict';

const MAX_FINDINGS = 256, MAX_EDITS = 256, MAX_ADVICE = 64, MAX_IMPORTS = 256;
const MAX_TEXT = 1024, MAX_POSITION = 10000000, MAX_FIXED = 2 << 20;
const MAX_COMPLEX = 16, MAX_NAME = 256;
const MEDIUM_FROM = 11, HIGH_FROM = 21; /* McCabe's thresholds */

/* At most so many bytes of UTF-8, without zero bytes and halves of characters. */
function bounded(text, most = MAX_TEXT) {
	const whole = String(text).replace(/\0/g, '').toWellFormed?.() ?? String(text).replace(/\0|\p{Cs}/gu, '');
	if (Buffer.byteLength(whole) <= most)
		return whole;
	return new TextDecoder().decode(Buffer.from(whole).subarray(0, most)).replace(/\ufffd+$/, '');
}

const position = n => Math.min(Math.max(Math.trunc(n) || 0, 0), MAX_POSITION);

/* The text of a token, short enough for a message. */
const shown = text => (text.length > 60 ? text.slice(0, 60) + '…' : text);

/* The branches of the code outside of functions, and of each function that has a name. */
class Branches {
	/* line_of: of a place that scope() got. */
	constructor(line_of = place => place) {
		this.line_of = line_of;
		this.outside = { name: '', count: 0 };
		this.all = [this.outside];
		this.functions = 0;
	}

	/* What is in a function of that name at that place, within the scope around.  No place: in a class, which has no branches. */
	scope(name, around, place) {
		const inner = { name: bounded(around.name === '' ? name : `${around.name}.${name}`, MAX_NAME), place, count: 0 };
		if (place === undefined)
			return { ...inner, of: around.of ?? around };
		this.all.push(inner);
		return inner;
	}

	add(scope, count) {
		(scope.of ?? scope).count += count;
	}

	total() {
		return 1 + this.all.reduce((sum, f) => sum + f.count, 0);
	}

	most() {
		return 1 + this.all.reduce((most, f) => Math.max(most, f.count), 0);
	}

	/* Functions with branches, the most complex first. */
	list() {
		return this.all.slice(1).filter(f => f.count > 0).sort((a, b) => b.count - a.count).slice(0, MAX_COMPLEX)
			.map(f => ({ name: f.name || '?', line: position(this.line_of(f.place)), cyclomatic: f.count + 1 }));
	}
}

class Report {
	constructor() {
		this.findings = [];
		this.edits = [];
		this.advice = [];
		this.imports = [];
		this.total = 0;
		this.analysis = { line_count: 0, character_count: 0, estimated_complexity: 'unknown', cyclomatic: 0, functions: 0 };
	}

	/* Lines and columns count from 1. */
	finding(rule, line, column, message, hint) {
		if (this.total++ < MAX_FINDINGS)
			this.findings.push({ line: position(line), column: position(column), rule, message: bounded(message), hint: bounded(hint) });
	}

	edit(rule, line, message) {
		if (this.edits.length < MAX_EDITS)
			this.edits.push({ line: position(line), rule, message: bounded(message) });
	}

	advise(text) {
		if (this.advice.length < MAX_ADVICE && !this.advice.includes(text))
			this.advice.push(bounded(text));
	}

	import(name) {
		if (this.imports.length < MAX_IMPORTS && !this.imports.includes(name) && name.length <= MAX_TEXT)
			this.imports.push(bounded(name));
	}

	/* Of the text as it was sent. */
	measure(code) {
		const lines = code.split(/\r\n|\n|\r/);
		this.analysis.line_count = lines.length - (lines.at(-1) === '' ? 1 : 0);
		this.analysis.character_count = [...code].length;
	}

	branches(branches) {
		const most = branches.most(), complex = branches.list();
		this.analysis.cyclomatic = branches.total();
		this.analysis.functions = branches.functions;
		this.analysis.estimated_complexity = most < MEDIUM_FROM ? 'low' : most < HIGH_FROM ? 'medium' : 'high';
		if (complex.length > 0)
			this.analysis.most_complex = complex;
	}

	message(profile) {
		if (this.total === 0)
			return `Code passes the checks of profile ${profile}`;
		if (this.findings[0].rule === 'syntax-error')
			return 'Code has a syntax error';
		if (this.total > MAX_FINDINGS)
			return `Code contains restricted operations: ${this.total}, of which the first ${MAX_FINDINGS} are listed`;
		return 'Code contains restricted operations';
	}

	/* fixed: the corrected code, or undefined. */
	bytes(profile, fixed) {
		const frames = fixed !== undefined && fixed.length > 0 && Buffer.byteLength(fixed) <= MAX_FIXED ? [Buffer.from(fixed)] : [];
		if (this.findings.some(f => f.rule !== 'syntax-error'))
			this.advise('Some operations may be restricted in sandbox environment');
		this.findings.sort((a, b) => a.line - b.line || a.column - b.column);
		const body = pack({
			validation: {
				valid: this.total === 0,
				errors: this.findings.map(f => `Line ${f.line}: ${f.message}`),
				message: this.message(profile),
			},
			findings: this.findings,
			analysis: { ...this.analysis, imports: this.imports },
			recommendations: this.advice,
			...(frames.length > 0 ? { fixed_code: 0 } : {}),
			edits: frames.length > 0 ? this.edits : [],
		});
		return flat(body, frames);
	}
}

/* ---- msgpack: maps, arrays, texts, flags and numbers ---- */

function head(first, n) {
	const bytes = Buffer.alloc(5);
	bytes[0] = first;
	bytes.writeUInt32BE(n, 1);
	return bytes;
}

function pack(value) {
	if (typeof value === 'boolean')
		return Buffer.of(value ? 0xc3 : 0xc2);
	if (typeof value === 'number')
		return head(0xce, value);
	if (typeof value === 'string') {
		const text = Buffer.from(value);
		return Buffer.concat([head(0xdb, text.length), text]);
	}
	if (Array.isArray(value))
		return Buffer.concat([head(0xdd, value.length), ...value.map(pack)]);
	const parts = Object.entries(value).flatMap(([key, item]) => [pack(key), pack(item)]);
	return Buffer.concat([head(0xdf, parts.length / 2), ...parts]);
}

/* As wire_flatten() writes it: the number of frames, all sizes, all bytes. */
function flat(body, frames) {
	const sizes = Buffer.alloc(8 * (2 + frames.length));
	[frames.length, body.length, ...frames.map(f => f.length)].forEach((n, i) => sizes.writeBigUInt64LE(BigInt(n), 8 * i));
	return Buffer.concat([sizes, body, ...frames]);
}

module.exports = { Branches, Report, shown };
