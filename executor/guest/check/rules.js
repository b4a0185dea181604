// SPDX-License-Identifier: Apache-2.0
/*
 * rules.js - what a profile allows in JavaScript and in shell: node.def and shell.def of common/profile as tables.
 *
 * Names of lists and powers are those of common/profile/profiles.def.
 */
'use strict';

const fs = require('fs');
const path = require('path');

/* The arguments of each row of that kind. */
function rows(file, kind) {
	const text = fs.readFileSync(path.join(__dirname, file), 'utf8');
	return [...text.matchAll(new RegExp(`^${kind}\\((.*)\\)$`, 'gm'))].map(([, row]) =>
		[...row.matchAll(/"(?:\\.|[^"\\])*"|\w+/g)].map(([word]) => (word.startsWith('"') ? JSON.parse(word) : word)));
}

/* { key: [value, ...] }, with no more names than the rows have. */
function lists(pairs) {
	const table = Object.create(null);
	for (const [key, value] of pairs)
		(table[key] ??= []).push(value);
	return table;
}

const names = values => values.map(([name]) => name);

/* A star at the end of a name stands for any characters of names. */
const pattern = variables => new RegExp(`^(${variables.map(name => name.replace(/\*$/, '\\w+')).join('|')})$`);

module.exports = {
	/* by list */
	MODULES: lists(rows('node.def', 'MODULE')),
	COMMANDS: lists(rows('shell.def', 'COMMAND')),
	LISTED_GLOBALS: lists(rows('node.def', 'LISTED')),
	/* Every other global of this Node needs a power, or a list. */
	GLOBALS: new Set(names(rows('node.def', 'GLOBAL'))),
	/* name: [power, hint] */
	POWERS_OF_GLOBALS: new Map(rows('node.def', 'POWERFUL').map(([name, ...rest]) => [name, rest])),
	/* name: power */
	MEMBERS: new Map(rows('node.def', 'PROPERTY')),
	/* name: hint */
	RUNNERS: new Map(rows('shell.def', 'RUNNER')),
	/* by command */
	OPTIONS: lists(rows('shell.def', 'OPTION')),
	VARIABLES: pattern(names(rows('shell.def', 'VARIABLE'))),
};
