// SPDX-License-Identifier: Apache-2.0
/*
 * main.js - checks code in a box and writes the report to stdout.
 *
 * The code is only read here, never run, but it can be hostile to what reads it.  The box limits time and memory.
 */
'use strict';

const fs = require('fs');

const { Report } = require('./report.js');

const TOO_MUCH = 3; /* exit status: the code is too much for a check */

const checkers = { node: './javascript.js', shell: './shell.js', typescript: './javascript.js' };

const words = text => (text === '' ? [] : text.split(','));
const text_of = base64 => Buffer.from(base64, 'base64').toString();

/* What a profile allows: its lists, its powers, and `only`, the imports that the caller allows; null: any. */
class Policy {
	constructor(ask) {
		this.title = ask.profile;
		this.open = ask.open;
		this.lists = words(ask.lists);
		this.powers = new Set(words(ask.powers));
		this.only = ask.only === null ? null : text_of(ask.only).split('\n').filter(n => n !== '');
	}

	has(power) {
		return this.open || this.powers.has(power);
	}

	/* Is the name in one of the profile's lists of this table? */
	lists_name(table, name) {
		return this.open || this.lists.some(list => table[list]?.includes(name));
	}
}

/* A list that would allow the name, for a hint. */
function suggest(table, name, policy) {
	const list = Object.keys(table).find(key => table[key].includes(name));
	return list !== undefined && !policy.lists.includes(list)
		? `Profile ${list} allows it; add it to the others, separated by a comma.`
		: 'Do without it; no profile but open allows it.';
}

/* ask: { language, profile, lists, powers, open, only, auto_fix, code }.  Texts that a client chose are in base64.
 * module: the program's, which sees the package for TypeScript. */
async function main(ask, module) {
	const report = new Report(), policy = new Policy(ask), code = text_of(ask.code);
	let fixed;
	try {
		fixed = await require(checkers[ask.language]).check(code, policy, ask.auto_fix, report, ask.language === 'typescript' ? module : undefined);
	} catch (error) {
		if (!(error instanceof RangeError))
			throw error;
		process.exit(TOO_MUCH); /* the stack is used up, or a buffer is full */
	}
	const bytes = report.bytes(policy.title, fixed);
	for (let at = 0; at < bytes.length;)
		at += fs.writeSync(1, bytes, at);
}

/* Makes a waiting process ready to check one code in the language; it is not called twice. */
async function prepare(language) {
	const checker = require(checkers[language]), report = new Report();
	const policy = new Policy({ profile: 'strict', open: false, lists: 'basic', powers: 'files', only: null });
	for (let i = 0; i < checker.rehearsals; i++)
		report.bytes(policy.title, await checker.check(checker.REHEARSED, policy, false, report));
	checker.prepare?.();
}

module.exports = { prepare, main, suggest };
