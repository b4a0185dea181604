// SPDX-License-Identifier: Apache-2.0
/*
 * as_file.js - the program as a file, code.js in the workspace, while somebody may read it: the code itself, by
 * __filename, or workers and processes that it starts with its own file.
 *
 * A sticky bit tells the executor that the file is none of the workspace (builder/files/walk.c).  Most programs need no
 * file, and writing one would cost each run.
 */
'use strict';

const { Date, process } = global; /* before any program */
const fs = require('fs');
const path = require('path');

const NEEDS = /__filename|argv\[1\]|argv0|main\.filename|import\.meta|\bcluster\b/;
const STICKY = 0o1000, MODE = STICKY | 0o444, MAX_TRIES = 100, START_MS = 1000;

const { openSync, writeFileSync, closeSync, lstatSync, unlinkSync } = fs;

function is_ours(file) {
	try {
		const status = lstatSync(file);
		return status.isFile() && (status.mode & STICKY) !== 0;
	} catch {
		return false;
	}
}

/* Creates the file: under the name that __filename has, unless the workspace has such a file. */
function create(directory, extension) {
	for (let n = 0; n < MAX_TRIES; n++) {
		const file = path.join(directory, `code${n > 0 ? `_${n}` : ''}${extension}`);
		if (is_ours(file)) /* of a run that was killed */
			unlinkSync(file);
		try {
			return { file, number: openSync(file, 'wx', MODE) };
		} catch (error) {
			if (error.code !== 'EEXIST')
				return undefined;
		}
	}
	return undefined;
}

let there; /* its path */
let written = 0, old = false;
const owner = process.pid;

/* Writes the file if the text may need one; returns its path, or undefined. */
function write(text, directory, is_module) {
	if (!NEEDS.test(text) || (there !== undefined && !old))
		return there;
	remove();
	written = Date.now();
	old = false;
	const created = create(directory, is_module ? '.mjs' : '.js');
	if (created === undefined)
		return undefined;
	try {
		writeFileSync(created.number, text);
	} catch {
		/* no room for it */
	}
	closeSync(created.number);
	there = created.file;
	return there;
}

/* At the next statement.  A worker that the last one has just started may still have to read the file. */
function grow_old() {
	old = true;
	if (Date.now() > written + START_MS)
		remove();
}

function remove() {
	if (there === undefined || process.pid !== owner)
		return;
	try {
		unlinkSync(there);
	} catch {
		/* the program has removed it */
	}
	there = undefined;
}

module.exports = { write, grow_old, remove };
