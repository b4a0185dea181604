// SPDX-License-Identifier: Apache-2.0
/*
 * driver.js - runs JavaScript inside a box and reports the outcome to the executor (guest/protocol.h).
 *
 * It shares a process with the program, so nothing here is a security boundary: the program may close, forge or break
 * all of it, and harms only its own result.
 *
 * A program runs as node would run a file: until nothing is left to wait for.  Statements run one after another in
 * one global scope.  Their declarations, including `let`, `const` and `class`, persist and may be repeated.  A
 * statement is over when its code has run and, if its value is a promise, the promise has settled.  Timers continue
 * after it.  process.exit() ends a program.  In a statement it ends only that statement, with its code.
 */
'use strict';

/* As they are before any program, which may declare or replace each of these names. */
const { Array, Atomics, Buffer, Date, Error, Int32Array, JSON, Map, Number, Object, Promise, Set, SharedArrayBuffer, String,
	SyntaxError, TypeError, console, global: globalThis, process, setImmediate, setTimeout } = global;

const { EventEmitter } = require('events');
const fs = require('fs');
const net = require('net');
const os = require('os');
const path = require('path');
const vm = require('vm');
const { builtinModules, createRequire, Module, syncBuiltinESMExports } = require('module');
const { Stream } = require('stream');
const { inspect, types } = require('util');
const { pathToFileURL } = require('url');

const as_file = require('./as_file.js');
const guard = require('./guard.js');
const { OWN, PARAMETERS, rewrite } = require('./rewrite.js');
const { strip } = require('./typed.js');
const { as_json } = require('./values.js');

const CONTROL = 3;
const TYPED = 8; /* of enum guest_manner */
const INSTALLED = '/node_modules'; /* where installations mount packages */
const MAX_RESULT = 1 << 20, MAX_NAMES = 256, MAX_NAME = 256, MAX_TEXT = 4096;
const real_exit = process.exit.bind(process);

/* ---- the channel ---- */

let rehearsing = true; /* nothing is sent */

/* The channel is non-blocking.  The driver has nothing else to do, so it waits until the frame is read. */
function send(kind, payload) {
	const body = Buffer.from(payload), head = Buffer.alloc(5);
	head.write(kind, 0, 'latin1');
	head.writeUInt32LE(body.length, 1);
	if (rehearsing)
		return;
	for (let data = Buffer.concat([head, body]); data.length > 0;) {
		try {
			data = data.subarray(fs.writeSync(CONTROL, data));
		} catch (error) {
			if (error.code !== 'EAGAIN')
				return;
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
		}
	}
}

/* ---- reports ---- */

const MAX_SOURCES = 100;
const sources = new Map(); /* original text of the last statements, by file */
let current = null; /* { text, file } of the running code */
let unreadable; /* the error of code that is not JavaScript */

/* Removes the frames of the driver and the loader.  Text after a removed frame, such as the brace before an error's
 * own properties, is appended to the previous kept line. */
function own_frames(text) {
	const kept = [];
	for (const line of text.replace(/^(node:internal|\S+\/driver\.js:).*\n.*\n\s*\^\n\n/, '').split('\n'))
		if (!/^ +at .*(node:(vm|internal|events|net|async_hooks)|\/driver\.js:)/.test(line))
			kept.push(line);
		else if (line.endsWith(' {') && kept.length > 0)
			kept[kept.length - 1] += ' {';
	return kept.join('\n');
}

/* V8 shows the rewritten line.  This restores the original line from sources. */
function own_line(text) {
	const without_ours = part => part.replace(/;fix_constants\(.*?\);/g, '');
	return text.replace(/^(<code[^>]*>):(\d+)\n(.*)\n(?:( *)(\^+\n))?/, (all, file, line, shown, blanks = '', mark = '') => {
		const wrote = sources.get(file)?.split('\n')[line - 1];
		const place = wrote?.length === without_ours(shown).length
			? ' '.repeat(without_ours(shown.slice(0, blanks.length)).length) + mark : '';
		return wrote === undefined ? all : `${file}:${line}\n${wrote}\n${mark !== '' ? place : ''}`;
	});
}

/* Prints an error as the interpreter does. */
function print_error(error, source, line) {
	let text = typeof error === 'object' && error !== null ? inspect(error, { customInspect: error.code !== 'ERR_ASSERTION' }) : `Uncaught ${inspect(error)}`;
	text = own_line(own_frames(text)).replaceAll(OWN, '');
	const code = line > 0 ? source?.text.split('\n')[line - 1] : undefined;
	if (code !== undefined && !text.startsWith('<code'))
		text = `${source.file}:${line}\n${code.slice(0, 500)}\n\n${text}`;
	try {
		fs.writeSync(2, text.slice(0, 1 << 20) + '\n');
	} catch {
		/* closed */
	}
}

function line_of(error, source) {
	if (error?.line_in_code !== undefined)
		return error.line_in_code;
	const stack = String(error?.stack), at = source ? stack.indexOf(source.file + ':') : -1;
	return at < 0 ? 0 : Number.parseInt(stack.slice(at + source.file.length + 1), 10) || 0;
}

function tell_error(error, source) {
	let type = 'Error', text = '', line = 0;
	try {
		line = line_of(error, source);
		type = error instanceof Error ? String(error.name || error.constructor.name) : error === null ? 'null' : typeof error;
		text = (error instanceof Error ? String(error.message) : inspect(error)).replaceAll(OWN, '');
	} catch {
		/* the value cannot be inspected */
	}
	try {
		print_error(error, source, line);
	} catch {
		/* likewise */
	}
	type = type.replace(/\n/g, ' ').slice(0, 64) || 'Error';
	send(error !== undefined && error === unreadable ? 'U' : 'E', `${type}\n${line}\n${Buffer.from(text).subarray(0, MAX_TEXT).toString()}`);
}

const mine = new Set(); /* names that a program declared: no properties of globalThis */
const known = new Set();
let show_result = () => globalThis.result; /* a program's own */

function look_up_result() {
	try {
		return show_result();
	} catch { /* it has no value yet */
		return undefined;
	}
}

function tell_names() {
	const own = Object.getOwnPropertyNames(globalThis).filter(n => !known.has(n));
	const names = [...new Set([...mine, ...own.map(n => n.replace(OWN, ''))])].filter(n => /^[\p{ID_Start}$][\p{ID_Continue}$]*$/u.test(n) &&
		Buffer.byteLength(n) <= MAX_NAME);
	send('V', names.slice(0, MAX_NAMES).map(n => n + '\n').join(''));
}

/* True for objects of servers, timers and the like in a last line: they are not meant as values, and some have kilobytes. */
function is_handle(value) {
	try {
		return value instanceof Stream ||
			/^(ChildProcess|Immediate|Interface|Server|Timeout|Worker|process)$/.test(value?.constructor?.name);
	} catch { /* the value cannot be inspected */
		return false;
	}
}

function tell_result(value, must) {
	if (must || (value !== undefined && !is_handle(value)))
		send('R', as_json(value, MAX_RESULT));
}

/* ---- running ---- */

/* Modules of the workspace are imported by a file that is in the same directory as a link to node_modules. */
let finder;
async function find_module(specifier, options) {
	const here = process.cwd();
	specifier = String(specifier);
	if (/^\.{0,2}\//.test(specifier))
		specifier = pathToFileURL(path.resolve(here, specifier)).href;
	if (/^[a-z]+:/i.test(specifier) || builtinModules.includes(specifier))
		return import(specifier, options);
	if (finder === undefined) {
		const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'node-'));
		fs.symlinkSync(path.join(here, 'node_modules'), path.join(directory, 'node_modules'));
		fs.writeFileSync(path.join(directory, 'finder.mjs'), 'export default (s, o) => import(s, o);\n');
		finder = (await import(pathToFileURL(path.join(directory, 'finder.mjs')).href)).default;
	}
	return finder(specifier, options);
}

/* The module, if it has the names that an import declaration lists. */
function exporting(module, specifier, names, asked) {
	const missing = names.find(n => !(n in module));
	if (missing === undefined)
		return module;
	const error = new SyntaxError(`The requested module '${specifier}' does not provide an export named '${missing}'`);
	Object.defineProperty(error, 'line_in_code', { value: line_of({ stack: asked }, current) });
	throw error;
}

/* The caller is known only before the first await.  A missing module is an error of the code, not of the driver. */
async function import_module(specifier, options, names = []) {
	const asked = new Error().stack;
	try {
		return exporting(await find_module(specifier, options), specifier, names, asked);
	} catch (error) {
		if (/^ERR_(MODULE_NOT_FOUND|UNSUPPORTED_DIR_IMPORT)$/.test(error?.code)) {
			const ours = / imported from \/\S+\/(finder\.mjs|driver\.js)/;
			Object.defineProperty(error, 'line_in_code', { value: line_of({ stack: asked }, current) });
			error.message = error.message.replace(ours, '');
			error.stack = error.stack.replace(ours, '');
		}
		throw error;
	}
}

/* A constant of a session is global, and a later statement may declare its name again. */
function fix(...names) {
	for (const name of names) {
		const value = globalThis[name];
		try {
			Object.defineProperty(globalThis, name, {
				get: () => value,
				set() { throw new TypeError('Assignment to constant variable.'); },
				configurable: true,
				enumerable: true,
			});
		} catch { /* it was a function before, which V8 makes permanent */
		}
	}
}

function vm_check(source, statement) {
	if (statement)
		new vm.Script(source.text, { filename: source.file });
	else
		vm.compileFunction(source.text, PARAMETERS, { filename: source.file });
}

let typed = false;

/* Is the code that came TypeScript?  The next one is not, unless it is said again. */
function is_typed() {
	const is = typed;
	typed = false;
	return is;
}

/* V8 decides what is an error.  Its messages are for scripts, however, and are misleading about modules. */
function read(source, statement) {
	try {
		return rewrite(source.text, statement, known);
	} catch (error) {
		try {
			vm_check(source, statement);
		} catch (script_error) {
			if (!/import|export|await/.test(script_error.message))
				throw script_error;
			const wrong = new SyntaxError(error.message.replace(/ \(\d+:\d+\)$/, ''));
			Object.defineProperty(wrong, 'line_in_code', { value: error.loc?.line ?? 0 });
			wrong.stack = `SyntaxError: ${wrong.message}`;
			throw wrong;
		}
		return { text: source.text, waits: false, tail: false, names: [], module: false };
	}
}

/* Makes a global for each name that the code declares, or an earlier constant or read-only one writable. */
function give_way(names) {
	for (const name of names) {
		const there = Object.getOwnPropertyDescriptor(globalThis, name);
		if (there === undefined || (there.configurable && !('value' in there && there.writable)))
			Object.defineProperty(globalThis, name,
				{ value: undefined, writable: true, configurable: true, enumerable: true });
	}
}

function compile(source, statement) {
	try {
		const plain = source.typed ? { ...source, text: strip(source.text, main).code } : source;
		const code = read(plain, statement);
		const go = statement
			? () => script.runInThisContext({ breakOnSigint: true, displayErrors: true })
			: () => body.call(main.exports, main.exports, globalThis.require, main, globalThis.__filename, here, show => { show_result = show; });
		const script = statement && new vm.Script(code.text, { filename: source.file });
		const body = !statement && vm.compileFunction(code.text, PARAMETERS, { filename: source.file, columnOffset: -(code.moved ?? 0) });
		return { code, go, plain };
	} catch (error) {
		unreadable = error instanceof SyntaxError ? error : undefined;
		throw error;
	}
}

const here = process.cwd(), meta = {}, main = new Module(path.join(here, 'code.js'), null);

function name_file(file) {
	if (file === undefined || file === meta.filename)
		return;
	if (globalThis.__filename === meta.filename)
		globalThis.__filename = file;
	if (process.argv[1] === meta.filename)
		process.argv[1] = file;
	process.mainModule.filename = file;
	meta.filename = file;
	meta.url = pathToFileURL(file).href;
}

/* Returns { value, waits, names }.  The value is a promise if the code awaits. */
function run(source, statement) {
	sources.set(source.file, source.text);
	if (sources.size > MAX_SOURCES)
		sources.delete(sources.keys().next().value);
	const { code, go, plain } = compile(source, statement);
	if (!rehearsing)
		name_file(as_file.write(plain.text, here, code.module));
	if (statement)
		give_way(code.names);
	else if (!rehearsing)
		code.names.forEach(n => mine.add(n));
	const value = go();
	return { value: code.tail || code.waits ? value : undefined, waits: code.waits, names: code.names };
}

/* ---- a program ---- */

/* The executor waits for whoever can still write to these, and this process will not. */
function close_output() {
	for (const number of [1, 2])
		try {
			fs.closeSync(number);
		} catch {
			/* closed */
		}
}

/* Sends DONE after all listeners for the end have run: only the process's cleanup is left then, and the caller need not
 * wait for it.  This covers both exit() and a program that ends by itself. */
function tell_end() {
	const emit = process.emit;
	process.emit = function (event, ...rest) {
		const heard = emit.call(this, event, ...rest);
		if (event === 'exit' && this === process) {
			as_file.remove();
			close_output();
			send('D', String((process.exitCode ?? rest[0] ?? 0) & 0xff));
		}
		return heard;
	};
}

/* A program that awaits something that can no longer happen is incomplete.  Node has its own exit status for that. */
function tell_unsettled(source) {
	const error = new Error('nothing is left that could settle what the code awaits');
	error.stack = `Error: ${error.message}`;
	tell_error(error, source);
	process.exitCode = 13;
}

function program(text) {
	const source = current = { text, file: '<code>', typed: is_typed() };
	let value, waits = false, drained = false;
	process.removeListener('SIGINT', on_interrupt);
	process.on('uncaughtException', error => {
		if (process.listenerCount('uncaughtException') > 1)
			return;
		tell_error(error, source);
		real_exit(1);
	});
	process.on('beforeExit', () => { drained = true; });
	process.on('exit', () => {
		if (waits && drained && process.exitCode === undefined)
			tell_unsettled(source);
		tell_names();
		const result = look_up_result();
		tell_result(result !== undefined ? result : value, result !== undefined);
	});
	tell_end();
	socket.pause();
	socket.unref();
	const ran = run(source, false);
	waits = ran.waits;
	if (types.isPromise(ran.value)) /* a rejected promise still ends the program as usual */
		ran.value.then(settled => {
			value = settled;
			waits = false;
		});
	else
		value = ran.value;
}

/* ---- statements ---- */

class Exit extends Error {
	constructor(code) {
		super(`process.exit(${code})`);
		this.code = code;
	}
}

const interrupted = () => Object.assign(new Error('interrupted'), { name: 'Interrupted' });
let interrupt = null, count = 0;

function on_interrupt() {
	interrupt?.(interrupted());
}

function exit_of_statement(code) {
	const status = Number(code ?? process.exitCode ?? 0) & 0xff;
	process.exitCode = undefined;
	const exit = new Exit(status);
	interrupt?.(exit); /* also if a callback calls it */
	throw exit;
}

function status_of(error) {
	if (error instanceof Exit)
		return error.code;
	if (error?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED')
		error = interrupted();
	tell_error(error, current);
	return 1;
}

/* Earlier output has been passed to the stream by then, but a pipe may be full. */
function flushed(stream) {
	return new Promise(resolve => {
		if (stream.destroyed || stream.writableLength === 0)
			resolve();
		else
			stream.write('', resolve);
	});
}

/* Timers, sockets, requests and the like that keep the loop alive; `kind` begins the names of those that count. */
function count_open(kind = '') {
	return process.getActiveResourcesInfo?.().filter(name => name.startsWith(kind)).length ?? 0;
}

/* Callbacks that come soon belong to the statement; a file's come for certain, but later on a busy machine. */
const GRACE_MS = 50, FILE_GRACE_MS = 1000, LOOK_MS = 2;
async function are_left(open) {
	for (const begun = Date.now(); count_open() > open;) {
		const grace = count_open('FSReq') > 0 ? FILE_GRACE_MS : GRACE_MS;
		if (Date.now() - begun >= grace)
			return true;
		await new Promise(resolve => setTimeout(resolve, LOOK_MS));
	}
	return false;
}

const lent = new Map(); /* by name: what the environment had before */

function lend(name, value) {
	if (!lent.has(name))
		lent.set(name, process.env[name]);
	process.env[name] = value;
}

/* Restores the environment after a statement that got secrets. */
function take_back() {
	for (const [name, before] of lent)
		if (before === undefined)
			delete process.env[name];
		else
			process.env[name] = before;
	lent.clear();
}

async function statement(text) {
	const source = current = { text, file: `<code ${++count}>`, typed: is_typed() };
	as_file.grow_old();
	const stop = new Promise((_, reject) => { interrupt = reject; });
	const before = look_up_result(), open = count_open();
	let status = 0, value, names = [];
	stop.catch(() => {});
	try {
		const ran = run(source, true);
		names = ran.names;
		const promise = types.isPromise(ran.value); /* reading `then` of another value may throw */
		const settled = await Promise.race([promise ? ran.value : undefined, stop]);
		value = promise ? settled : ran.value;
	} catch (error) {
		status = status_of(error);
	}
	interrupt = null;
	tell_names();
	const result = look_up_result();
	/* If the statement failed, an unchanged `result` may belong to another statement. */
	const assigned = result !== before || names.includes('result') ||
		(status === 0 && result !== undefined && /\bresult\s*=[^=>]/.test(text));
	tell_result(assigned ? result : value, assigned && result !== undefined);
	await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
	take_back();
	if (await are_left(open))
		send('L', '');
	send('D', String(status));
}

/* Errors after the end of a statement are printed and end nothing. */
function serve_statements() {
	process.exit = exit_of_statement;
	process.on('uncaughtException', error => {
		if (!(error instanceof Exit) && process.listenerCount('uncaughtException') === 1)
			print_error(error, current, line_of(error, current));
	});
}

/* ---- main ---- */

/* Node reads processors from a file that a box's /proc lacks.  A program that starts one worker for each would start none. */
function count_processors() {
	if (os.cpus().length > 0)
		return;
	const one = { model: 'unknown', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } };
	os.cpus = () => Array.from({ length: os.availableParallelism?.() ?? 1 }, () => ({ ...one, times: { ...one.times } }));
	syncBuiltinESMExports();
}

/* Node remembers for good that a directory has no package.json, and an installation may bring that directory later. */
function look_anew() {
	const find = Module._findPath;
	Module._findPath = (request, paths, ...rest) => {
		const name = /^(@[^/]+\/)?[^./][^/]*/.exec(request)?.[0];
		const there = at => at !== INSTALLED || name === undefined || fs.existsSync(path.join(at, name));
		return find(request, paths?.filter(there), ...rest);
	};
}

function prepare() {
	const file = main.id, require = createRequire(file);
	const shown = { require, module: main, exports: main.exports, __filename: file, __dirname: here, bridge: {} };
	main.id = '.';
	main.filename = file;
	main.paths = Module._nodeModulePaths(here);
	require.main = process.mainModule = main;
	process.argv = [process.execPath, file];
	process.execArgv = [];
	for (const [name, value] of Object.entries(shown)) /* not in a loop over the keys: a module of node finds none of them there */
		Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
	Object.defineProperty(globalThis, 'import_module', { value: import_module });
	Object.defineProperty(globalThis, 'fix_constants', { value: fix });
	Object.assign(meta, { url: pathToFileURL(file).href, filename: file, dirname: here });
	Object.defineProperty(globalThis, 'import_meta', { value: meta });
	Object.getOwnPropertyNames(globalThis).forEach(n => known.add(n));
	count_processors();
	look_anew();
	for (const name in require.cache)
		delete require.cache[name];
}

/* Makes node load, compile and open in advance what it needs at first use.  This produces no output. */
function rehearse() {
	const nowhere = new console.Console({ stdout: Object.assign(new EventEmitter(), { write() {} }) });
	for (const statement of [false, true])
		read({ text: 'const [a] = [1]; class B {}\nfunction c() { return new B(); }\na', file: '<code>' }, statement);
	run({ text: '[1, "b"].map(n => `${n}`)', file: '<code>' }, false);
	nowhere.log('%s', 'a', 1, { b: [1] });
	process.stdout.write('');
	process.stdout._handle?.setBlocking(true); /* otherwise writers to descriptor 1, including children, get EAGAIN */
	tell_names();
	tell_result({ a: [1, 'b', null] }, true);
	look_up_result();
	rehearsing = false;
}

/* A file without a name; it gets the lowest free descriptor, which is that of standard input. */
function give_input(content) {
	const file = `${os.tmpdir()}/.stdin`;
	fs.writeFileSync(file, content);
	fs.closeSync(0);
	fs.openSync(file, 'r');
	fs.unlinkSync(file);
}

let running = Promise.resolve(), profile; /* of the next program or statement; undefined: there are no rules */

function guarded() {
	if (profile === undefined)
		guard.release();
	else
		guard.hold(profile);
	profile = undefined;
}

function take(kind, payload) {
	const text = payload.toString().replace(/^\ufeff/, '');
	switch (kind) {
	case 'B': {
		const at = text.indexOf('\n');
		globalThis.bridge[text.slice(0, at)] = JSON.parse(text.slice(at + 1));
		break;
	}
	case 'N': {
		const at = text.indexOf('\n');
		lend(text.slice(0, at), text.slice(at + 1));
		break;
	}
	case 'P':
		profile = text.slice(0, text.indexOf('\n'));
		break;
	case 'A':
		typed = (Number(text) & TYPED) !== 0;
		break;
	case 'G':
		process.argv.push(payload.toString());
		break;
	case 'T':
		give_input(payload);
		break;
	case 'S':
		if (count === 0)
			serve_statements();
		guarded();
		return statement(text);
	case 'C':
		guarded();
		return program(text);
	default:
		fs.writeSync(2, 'the control channel brought something else than a program\n');
		real_exit(1);
	}
}

const socket = new net.Socket({ fd: CONTROL, readable: true, writable: false });
let came = [], size = 0;

/* Handles frames in their order, each after the previous one is done. */
socket.on('data', data => {
	came.push(data);
	size += data.length;
	while (size >= 5) {
		if (came.length > 1)
			came = [Buffer.concat(came)];
		const length = came[0].readUInt32LE(1);
		if (size < 5 + length)
			return;
		const kind = String.fromCharCode(came[0][0]), payload = came[0].subarray(5, 5 + length);
		came = [came[0].subarray(5 + length)];
		size -= 5 + length;
		if (kind === 'C')
			return setImmediate(take, kind, payload);
		running = running.then(() => take(kind, payload));
	}
});
socket.on('end', () => {
	if (count === 0)
		fs.writeSync(2, 'the control channel ended before the program came\n');
	running.then(() => real_exit(count === 0 ? 1 : 0));
});
process.on('SIGINT', on_interrupt);
prepare();
rehearse();
send('I', '');
