// SPDX-License-Identifier: Apache-2.0
/*
 * javascript_danger.js - what a check of JavaScript warns of: code that does not end, uses up the memory or runs text, and names
 * and members that do not exist.  A warning refuses nothing: the box limits the harm.
 *
 * It looks at each place alone and follows no value, so it misses much; what it says must be right nearly always.
 */
'use strict';

const { builtinModules } = require('module');

const { MODULES } = require('./rules.js');
const { shown } = require('./report.js');

/* Calls, by the module's name and the member's. */
const CALLS = new Map(Object.entries({
	'child_process.exec': 'runs its text in a shell; use execFile() with an array',
	'child_process.execSync': 'runs its text in a shell; use execFileSync() with an array',
	'crypto.createCipher': 'derives a weak key and is gone from newer versions; use createCipheriv()',
	'crypto.createDecipher': 'derives a weak key and is gone from newer versions; use createDecipheriv()',
	'process.abort': 'ends the interpreter with a signal; use process.exit()',
	'process.binding': 'reaches what is inside of Node and changes with each version',
	'process.kill': 'the process 0 or -1 stands for the program itself',
	'vm.compileFunction': 'compiles text as code; the module vm is no security boundary',
	'vm.runInContext': 'runs its text as code; the module vm is no security boundary',
	'vm.runInNewContext': 'runs its text as code; the module vm is no security boundary',
	'vm.runInThisContext': 'runs its text as code, with all that this program can do',
}));

/* Globals that run text; for profiles that allow it. */
const EVALUATORS = new Map(Object.entries({
	Function: 'compiles text as code; write the function out',
	eval: 'runs its text as code; use JSON.parse() for data',
}));

/* Properties of options. */
const GIVEN = new Map(Object.entries({
	rejectUnauthorized: [false, 'accepts any certificate'],
	shell: [true, 'a shell interprets the text; pass an array without it'],
}));

/* What deletes a directory with all that is in it, if it is told so. */
const DELETES = new Set(['fs.rm', 'fs.rmSync', 'fs.rmdir', 'fs.rmdirSync', 'fs.promises.rm', 'fs/promises.rm']);
/* What ends a loop for certain. */
const EXITS = new Set(['process.abort', 'process.exit', 'process.kill', 'process.reallyExit']);
/* What keeps a program running, and what lets it end. */
const KEEPS = new Map(Object.entries({
	setInterval: ['setInterval() keeps the program running until its time is over', /^(clearInterval|unref|exit)$/],
	listen: ['a server keeps the program running until its time is over', /^(close|unref|exit)$/],
}));
const SERVERS = new Set(['dgram', 'http', 'http2', 'https', 'net', 'tls']);
/* Elements of a list or bytes of a text, that a box has no memory for. */
const MANY = 100000000, MANY_BYTES = 500000000, MANY_BITS = 10000000;
const ALLOCATES = new Set(['ArrayBuffer', 'Buffer.alloc', 'Buffer.allocUnsafe', 'Uint8Array', 'SharedArrayBuffer']);
/* Whose members are known. */
const OBJECTS = ['Array', 'BigInt', 'Buffer', 'Date', 'Intl', 'JSON', 'Math', 'Number', 'Object', 'Promise', 'Reflect', 'String', 'Symbol', 'console'];
const MAX_UNKNOWN = 64, MAX_KNOWN = 2000;
const INHERITED = new Set(['__proto__', 'prototype']);
/* What is there while a program runs, and not here. */
const PARAMETERS = ['require', 'module', 'exports', '__filename', '__dirname', 'arguments', 'undefined', 'display', 'bridge'];

const LOOPS = /^(While|DoWhile|For|ForIn|ForOf)Statement$/;
const FUNCTIONS = /Function/;
const DECIDES = new Set(['IfStatement', 'ConditionalExpression', 'LogicalExpression', 'SwitchStatement', 'TryStatement', 'ThrowStatement',
	'YieldExpression', 'AwaitExpression', 'WhileStatement', 'ForStatement', 'ForInStatement', 'ForOfStatement', 'ChainExpression']);

function* children(node) {
	for (const value of Object.values(node))
		for (const child of Array.isArray(value) ? value : [value])
			if (child !== null && typeof child === 'object' && typeof child.type === 'string')
				yield child;
}

/* Every node that runs when this one does, or is a function. */
function* within(node) {
	for (const child of children(node)) {
		yield child;
		if (!FUNCTIONS.test(child.type))
			yield* within(child);
	}
}

/* ---- values ---- */

/* The number that an expression of constants gives; NaN: none that is known. */
function number(node) {
	if (node?.type === 'Literal' && /^(number|bigint)$/.test(typeof node.value))
		return Number(node.value);
	if (node?.type !== 'BinaryExpression' || !/^(\*|\*\*|<<)$/.test(node.operator))
		return NaN;
	const left = number(node.left), right = number(node.right);
	return node.operator === '*' ? left * right : node.operator === '**' ? left ** right : left << right;
}

const is_true = node => node === null || (node?.type === 'Literal' && Boolean(node.value));

/* Of words that start alike, the nearest to a wrong one; at most two letters differ. */
function near(wrong, names) {
	const distance = (a, b) => {
		let row = [...Array(b.length + 1).keys()];
		for (let i = 1; i <= a.length; i++) {
			const next = [i];
			for (let j = 1; j <= b.length; j++)
				next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
			row = next;
		}
		return row[b.length];
	};
	const [best] = names.filter(n => Math.abs(n.length - wrong.length) <= 2).map(n => [distance(wrong.toLowerCase(), n.toLowerCase()), n])
		.sort((a, b) => a[0] - b[0]);
	return best !== undefined && best[0] <= (wrong.length > 4 ? 2 : 1) ? `; did you mean '${best[1]}'?` : '';
}

/* ---- names ---- */

/* The names that a pattern binds. */
function* bound(pattern) {
	switch (pattern?.type) {
	case 'Identifier':
		yield pattern.name;
		break;
	case 'ObjectPattern':
		for (const p of pattern.properties)
			yield* bound(p.type === 'RestElement' ? p.argument : p.value);
		break;
	case 'ArrayPattern':
		for (const p of pattern.elements)
			yield* bound(p);
		break;
	case 'AssignmentPattern':
		yield* bound(pattern.left);
		break;
	case 'RestElement':
		yield* bound(pattern.argument);
		break;
	}
}

/* What stands for a module or a member of one, and how often each name is declared, wherever that is. */
class Names {
	constructor() {
		this.modules = new Map();
		this.declared = new Map();
	}

	declare(pattern) {
		for (const name of bound(pattern))
			this.declared.set(name, (this.declared.get(name) ?? 0) + 1);
	}

	/* The name of the module that an expression loads. */
	loads(node) {
		const source = node?.type === 'AwaitExpression' && node.argument.type === 'ImportExpression' ? node.argument.source
			: node?.type === 'CallExpression' && node.callee.name === 'require' ? node.arguments[0] : undefined;
		return typeof source?.value === 'string' ? source.value.replace(/^node:/, '') : undefined;
	}

	bind(pattern, dotted) {
		if (pattern.type === 'Identifier')
			this.modules.set(pattern.name, dotted);
		for (const p of pattern.type === 'ObjectPattern' ? pattern.properties : [])
			if (p.type === 'Property' && !p.computed && p.value.type === 'Identifier')
				this.modules.set(p.value.name, `${dotted}.${p.key.name}`);
	}

	add(node) {
		if (node.type === 'VariableDeclarator') {
			this.declare(node.id);
			if (this.loads(node.init) !== undefined)
				this.bind(node.id, this.loads(node.init));
		} else if (FUNCTIONS.test(node.type)) {
			this.declare(node.id);
			node.params.forEach(p => this.declare(p));
		} else if (/^Class/.test(node.type) || node.type === 'CatchClause') {
			this.declare(node.id ?? node.param);
		} else if (node.type === 'AssignmentExpression') {
			if (node.left.type !== 'MemberExpression')
				this.declare(node.left);
		} else if (/^Import.*Specifier$/.test(node.type)) {
			this.declare(node.local);
		} else if (node.type === 'ImportDeclaration') {
			const module = String(node.source.value).replace(/^node:/, '');
			for (const s of node.specifiers)
				this.modules.set(s.local.name, s.type === 'ImportSpecifier' && s.imported.name !== 'default' ? `${module}.${s.imported.name}` : module);
		} else if (/^For(In|Of)Statement$/.test(node.type) && !/Declaration$/.test(node.left.type)) {
			this.declare(node.left);
		}
	}

	/* fs.rm of `const f = require('fs'); f.rm()`; a global's own name; undefined: neither. */
	dotted(node) {
		if (node.type === 'Identifier') {
			const times = this.declared.get(node.name) ?? 0;
			return times === 0 ? node.name : times === 1 ? this.modules.get(node.name) : undefined;
		}
		if (node.type === 'MemberExpression' && !node.computed && node.property.type === 'Identifier') {
			const object = this.loads(node.object) ?? this.dotted(node.object);
			return object === undefined ? undefined : `${object}.${node.property.name}`;
		}
		return undefined;
	}
}

/* ---- dangers ---- */

class Dangers {
	constructor(places, policy, report) {
		this.places = places;
		this.policy = policy;
		this.report = report;
		this.names = new Names();
		this.globals = new Set([...Object.getOwnPropertyNames(globalThis), ...PARAMETERS]);
		this.called = new Set(); /* names of methods and functions */
		this.expected = new Set(); /* members that the program sets or asks for, and names that it looks for by typeof */
		this.dynamic = false; /* names may come from elsewhere */
		this.unknown = new Set();
		this.ends = new Map(); /* of a row of KEEPS: the program calls what lets it end */
	}

	warn(node, text) {
		this.report.advise(`Line ${this.places.line(node.start)}: ${text}`);
	}

	/* What the profile refuses is a finding already. */
	allows(dotted) {
		const [module] = dotted.split('.');
		return this.policy.lists_name(MODULES, module) || !builtinModules.includes(module);
	}

	gather(node) {
		this.names.add(node);
		if (node.type === 'CallExpression')
			this.called.add(node.callee.property?.name ?? node.callee.name);
		for (const asked of this.asks(node))
			this.expected.add(asked?.property?.name ?? asked?.name);
		this.dynamic ||= node.type === 'WithStatement' || (node.type === 'CallExpression' && /^(eval|importScripts)$/.test(node.callee.name));
		for (const child of children(node))
			this.gather(child);
	}

	/* Expressions whose value may be undefined. */
	asks(node) {
		switch (node.type) {
		case 'AssignmentExpression': return [node.left];
		case 'IfStatement': case 'ConditionalExpression': return [node.test];
		case 'LogicalExpression': return [node.left, node.right];
		case 'BinaryExpression': return /^[!=]==?$/.test(node.operator) ? [node.left, node.right] : [];
		case 'UnaryExpression': return [node.argument];
		case 'ChainExpression': return [node.expression, node.expression.callee];
		default: return [];
		}
	}

	/* ---- loops and functions ---- */

	/* inner: within another loop or a switch, which a break leaves instead. */
	leaves(node, inner) {
		if (/^(Return|Throw)Statement$|^(Await|Yield)Expression$/.test(node.type) || (node.type === 'ForOfStatement' && node.await) ||
			(node.type === 'BreakStatement' && (node.label !== null || !inner)) || (node.type === 'ContinueStatement' && node.label !== null) ||
			(node.type === 'CallExpression' && EXITS.has(this.names.dotted(node.callee))))
			return true;
		if (FUNCTIONS.test(node.type))
			return false;
		const deeper = inner || LOOPS.test(node.type) || node.type === 'SwitchStatement';
		return [...children(node)].some(child => this.leaves(child, deeper));
	}

	loop(node) {
		if (/^(While|DoWhile|For)Statement$/.test(node.type) && is_true(node.test) && !this.leaves(node.body, false))
			this.warn(node, 'this loop never ends: nothing in it leaves it');
	}

	recursion(node) {
		const inside = node.type === 'FunctionDeclaration' && node.id ? [...within(node.body)] : [];
		const decides = inside.some(n => DECIDES.has(n.type) || n.type === 'ReturnStatement' && n.argument === null);
		if (!decides && inside.some(n => n.type === 'CallExpression' && n.callee.name === node.id.name))
			this.warn(node, `${shown(node.id.name)}() always calls itself, and so never returns`);
	}

	/* ---- calls ---- */

	call(node) {
		const dotted = this.names.dotted(node.callee), method = node.callee.property?.name ?? node.callee.name;
		const [first] = node.arguments;
		if (CALLS.has(dotted) && this.allows(dotted))
			this.warn(node, `${dotted}() ${CALLS.get(dotted)}`);
		if (EVALUATORS.has(dotted) && this.policy.has('evaluate'))
			this.warn(node, `${dotted}() ${EVALUATORS.get(dotted)}`);
		if (DELETES.has(dotted) && this.allows(dotted) && /recursive: *true/.test(this.text(node.arguments[1])))
			this.warn(node, `${dotted}() deletes everything below the path; check that the path is not empty`);
		if (KEEPS.has(method) && (method !== 'listen' || this.serves()) && !this.has_end(method))
			this.warn(node, KEEPS.get(method)[0]);
		if ((method === 'repeat' && number(first) >= MANY) || (ALLOCATES.has(dotted) && number(first) >= MANY_BYTES) ||
			(method === 'fill' && node.callee.object?.callee?.name === 'Array' && number(node.callee.object.arguments[0]) >= MANY))
			this.warn(node, 'this needs more memory than a box has');
	}

	has_end(method) {
		if (!this.ends.has(method))
			this.ends.set(method, [...this.called].some(name => KEEPS.get(method)[1].test(name)));
		return this.ends.get(method);
	}

	serves() {
		return [...this.names.modules.values()].some(dotted => SERVERS.has(dotted.split('.')[0]));
	}

	/* An option is written out in the call nearly always. */
	text(node) {
		return (node?.properties ?? []).map(p => `${p.key?.name}: ${p.value?.value}`).join();
	}

	property(node) {
		const [value, advice] = GIVEN.get(node.key.name ?? node.key.value) ?? [];
		if (advice !== undefined && node.value.type === 'Literal' && node.value.value === value)
			this.warn(node, `${node.key.name ?? node.key.value}: ${value}: ${advice}`);
	}

	power(node) {
		const bits = node.operator === '**' && typeof node.left.value === 'bigint' ? number(node.right) * Math.log2(number(node.left)) : 0;
		if (bits > MANY_BITS)
			this.warn(node, 'this power has millions of digits');
	}

	assignment(node) {
		if (node.left.type === 'MemberExpression' && node.left.property.name === 'NODE_TLS_REJECT_UNAUTHORIZED')
			this.warn(node, 'NODE_TLS_REJECT_UNAUTHORIZED: accepts any certificate');
	}

	/* ---- what is not there ---- */

	/* The members of a module or global; undefined: they are not known. */
	members(dotted) {
		if (OBJECTS.includes(dotted))
			return globalThis[dotted];
		return builtinModules.includes(dotted) && this.policy.lists_name(MODULES, dotted) ? require(dotted) : undefined;
	}

	member(node, parent) {
		const name = node.property.name, dotted = this.loaded(node.object);
		const object = node.computed || dotted === undefined ? undefined : this.members(dotted);
		const used = (parent.callee ?? parent.object) === node; /* and does not only give a value */
		if (object === undefined || name in object || INHERITED.has(name) || this.expected.has(name) || !used)
			return;
		this.warn(node, `${dotted} has no member '${shown(name)}'${near(name, Object.getOwnPropertyNames(object))}`);
	}

	/* The module or global that an expression is. */
	loaded(node) {
		const dotted = node.type === 'Identifier' ? this.names.dotted(node) : this.names.loads(node);
		return this.names.modules.has(node.name) || node.type !== 'Identifier' || OBJECTS.includes(dotted) ? dotted : undefined;
	}

	identifier(node, parent) {
		const { name } = node;
		if (this.dynamic || (parent.type === 'MemberExpression' && parent.property === node && !parent.computed) ||
			(/^(Property|MethodDefinition|PropertyDefinition)$/.test(parent.type) && parent.key === node && !parent.computed && !parent.shorthand) ||
			/^(LabeledStatement|BreakStatement|ContinueStatement|MetaProperty|ImportSpecifier|ExportSpecifier|ImportAttribute|ExportAllDeclaration)$/.test(parent.type))
			return;
		if (this.globals.has(name) || this.expected.has(name) || this.names.declared.has(name) || this.unknown.has(name) || this.unknown.size >= MAX_UNKNOWN)
			return;
		this.unknown.add(name);
		const known = [...this.names.declared.keys()].slice(0, MAX_KNOWN).concat(...this.globals).filter(n => n.length > 2);
		this.warn(node, `name '${shown(name)}' is not defined${near(name, known)}`);
	}

	/* ---- the tree ---- */

	walk(node, parent) {
		if (ON.has(node.type))
			ON.get(node.type).call(this, node, parent);
		for (const child of children(node))
			this.walk(child, node);
	}
}

const { assignment, call, identifier, loop, member, power, property, recursion } = Dangers.prototype;
const ON = new Map(Object.entries({
	AssignmentExpression: assignment,
	BinaryExpression: power,
	CallExpression: call,
	DoWhileStatement: loop,
	ForStatement: loop,
	FunctionDeclaration: recursion,
	Identifier: identifier,
	MemberExpression: member,
	NewExpression: call,
	Property: property,
	WhileStatement: loop,
}));

function advise(tree, places, policy, report) {
	const dangers = new Dangers(places, policy, report);
	dangers.gather(tree);
	dangers.walk(tree, tree);
}

module.exports = { advise, children };
