// SPDX-License-Identifier: Apache-2.0
/*
 * rules.js - what a profile allows in JavaScript and in shell.  Names of lists and powers are those of
 * common/profile/profiles.def.
 */
'use strict';

/* Modules by list. */
const MODULES = {
	basic: ['assert', 'assert/strict', 'buffer', 'crypto', 'events', 'path', 'path/posix', 'path/win32', 'punycode', 'querystring',
		'stream', 'stream/consumers', 'stream/promises', 'stream/web', 'string_decoder', 'timers', 'timers/promises', 'url', 'util',
		'util/types', 'zlib'],
	network: ['dgram', 'dns', 'dns/promises', 'http', 'http2', 'https', 'net', 'tls'],
	filesystem: ['fs', 'fs/promises'],
};

/* Globals that a program may use.  Every other global of this Node needs a power, or a list. */
const GLOBALS = new Set(`Object Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp
	Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError JSON Math Intl ArrayBuffer Uint8Array
	Int8Array Uint16Array Int16Array Uint32Array Int32Array Float16Array Float32Array Float64Array Uint8ClampedArray BigUint64Array
	BigInt64Array DataView Map BigInt Set WeakMap WeakSet WeakRef FinalizationRegistry Proxy Iterator decodeURI decodeURIComponent
	encodeURI encodeURIComponent escape unescape isFinite isNaN console Buffer SharedArrayBuffer Atomics URL URLSearchParams
	DOMException AbortController AbortSignal Event EventTarget CustomEvent TextEncoder TextDecoder TextEncoderStream
	TextDecoderStream TransformStream WritableStream WritableStreamDefaultWriter ReadableStream ReadableStreamDefaultReader
	ReadableStreamBYOBReader ByteLengthQueuingStrategy CountQueuingStrategy CompressionStream DecompressionStream clearImmediate
	setImmediate clearInterval clearTimeout setInterval setTimeout queueMicrotask structuredClone atob btoa Blob File performance
	Performance crypto Crypto CryptoKey SubtleCrypto FormData Headers Request Response MessageChannel MessageEvent MessagePort
	__filename __dirname bridge import_meta exports result`.split(/\s+/));

const NETWORK_GLOBALS = ['fetch', 'WebSocket', 'EventSource', 'CloseEvent'];

/* Globals that need a power: [power, hint]. */
const POWERS_OF_GLOBALS = {
	eval: ['evaluate', 'Compute it in the program, or read data with JSON.parse().'],
	Function: ['evaluate', 'Write the function out in the program.'],
	WebAssembly: ['evaluate', 'Write it in JavaScript.'],
	Reflect: ['reflect', 'Name the property in the program.'],
	process: ['namespace', 'Print with console.log(); end the program by its last statement.'],
	globalThis: ['namespace', 'Keep values in an object of your own.'],
	global: ['namespace', 'Keep values in an object of your own.'],
	module: ['imports', 'Import by require() with a literal name.'],
	import_module: ['imports', 'Import by require() with a literal name.'],
};

/* Properties that need a power, wherever they are read. */
const MEMBERS = {
	constructor: 'inspect',
	caller: 'inspect',
	callee: 'inspect',
	prepareStackTrace: 'inspect',
	mainModule: 'inspect',
	_stdout: 'inspect',
	_stderr: 'inspect',
	setEngine: 'evaluate',
	['__proto__']: 'reflect', /* without brackets it would be the prototype */
	__defineGetter__: 'reflect',
	__defineSetter__: 'reflect',
	__lookupGetter__: 'reflect',
	__lookupSetter__: 'reflect',
	getPrototypeOf: 'reflect',
	setPrototypeOf: 'reflect',
	getOwnPropertyDescriptor: 'reflect',
	getOwnPropertyDescriptors: 'reflect',
};

/* ---- shell ---- */

const BASIC_COMMANDS = `: true false echo printf test [ read let set unset shift return exit break continue local declare typeset
	export readonly getopts mapfile readarray wait sleep pwd type hash times umask shopt date cal expr seq bc dc factor numfmt
	sort uniq wc cut tr head tail tac rev nl paste join comm fold fmt column expand unexpand pr cat grep egrep fgrep diff cmp
	basename dirname md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum base32 base64 basenc od xxd hexdump
	strings tsort shuf yes sed jq`.split(/\s+/);

const COMMANDS = {
	basic: BASIC_COMMANDS,
	data_science: ['datamash'],
	network: ['curl', 'wget', 'host', 'dig', 'nslookup', 'ping', 'nc'],
	filesystem: ['ls', 'cp', 'mv', 'rm', 'mkdir', 'rmdir', 'touch', 'ln', 'readlink', 'realpath', 'stat', 'du', 'df', 'file', 'find',
		'chmod', 'mktemp', 'truncate', 'tee', 'split', 'csplit', 'cd', 'pushd', 'popd', 'dirs', 'gzip', 'gunzip', 'zcat', 'bzip2',
		'bunzip2', 'bzcat', 'xz', 'unxz', 'xzcat', 'zip', 'unzip'],
};

/* Commands that run a text, or another command that the check cannot see. */
const RUNNERS = new Map(Object.entries({
	eval: 'Write the command out.',
	source: 'Write the commands out in the program.',
	'.': 'Write the commands out in the program.',
	exec: 'Run the command as it is; exec with redirections only is allowed.',
	bash: 'Write the commands out in the program.',
	sh: 'Write the commands out in the program.',
	env: 'Write VARIABLE=value before the command.',
	xargs: 'Use a loop: while read -r line; do …; done.',
	awk: 'Use cut, tr, sort or sed --sandbox.',
	python3: 'Use the language python.',
	node: 'Use the language node.',
}));

/* Options that make an allowed command run others, or write files. */
const OPTIONS = {
	find: ['-exec', '-execdir', '-ok', '-okdir', '-fprint', '-fprint0', '-fprintf', '-fls'],
	sort: ['--compress-program', '-o', '--output'],
	split: ['--filter'],
	zip: ['-TT', '--unzip-command'],
};

/* Variables by which the shell or its programs find or run code. */
const VARIABLES = /^(PATH|ENV|BASH_ENV|BASH_LOADABLES_PATH|PROMPT_COMMAND|PS[0-4]|SHELLOPTS|BASHOPTS|BASH_CMDS|BASH_ALIASES|LD_\w+|GCONV_PATH)$/;

module.exports = { MODULES, GLOBALS, NETWORK_GLOBALS, POWERS_OF_GLOBALS, MEMBERS, COMMANDS, RUNNERS, OPTIONS, VARIABLES };
