// SPDX-License-Identifier: Apache-2.0
/*
 * guard.js - refuses, while a program runs, what its profile does not allow and a check of the source cannot find: what runs
 * text, under a property name that the program computes.
 *
 * It is in the program's own process and no security boundary; the box is.  It changes objects that libraries share, so it
 * is in force only for code under a profile with rules.
 */
'use strict';

const { Error, EvalError, Object, TypeError } = global;
const crypto = require('crypto');

/* Each kind of function has a constructor that makes one of a text. */
const CONSTRUCTORS = [function () {}, async function () {}, function* () {}, async function* () {}]
	.map(one => [Object.getPrototypeOf(one), 'constructor']);

let kept = []; /* [object, name, descriptor], while the guard is in force */

function replace(object, name, descriptor) {
	kept.push([object, name, Object.getOwnPropertyDescriptor(object, name)]);
	Object.defineProperty(object, name, { ...descriptor, configurable: true });
}

/* It has the name and prototype of what it stands for, by which code recognizes kinds of functions. */
function refusal(real, by) {
	const stub = { [real.name]: function () { throw new EvalError(`${real.name}() of a text is not allowed by ${by}`); } }[real.name];
	stub.prototype = real.prototype;
	return stub;
}

function release() {
	for (const [object, name, descriptor] of kept)
		Object.defineProperty(object, name, descriptor ?? { value: undefined, writable: true, configurable: true });
	kept = [];
}

/* by: the phrase for what forbids it, such as "profile strict". */
function hold(by) {
	release();
	for (const [object, name] of [...CONSTRUCTORS, [crypto, 'setEngine']])
		if (typeof object[name] === 'function')
			replace(object, name, { value: refusal(object[name], by), writable: true });
	/* It would get the frames of every caller. */
	replace(Error, 'prepareStackTrace', { get: () => undefined,
		set: () => { throw new TypeError(`Error.prepareStackTrace is not allowed by ${by}`); } });
}

module.exports = { hold, release };
