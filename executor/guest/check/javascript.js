// SPDX-License-Identifier: Apache-2.0
/*
 * javascript.js - checks JavaScript: V8 and the driver's own parser say whether it is JavaScript, the tree says what it does.
 *
 * Rules hold for what is written, not for what a program computes.  So every read of a global of this Node must be allowed by
 * name.  Names of properties that a program computes are those of its data nearly always; what runs text under such a name is
 * refused while the program runs (../node/guard.js).
 */
'use strict';

const vm = require('vm');

const { PARAMETERS, all, parse, rewrite } = require('../node/rewrite.js');
const { strip } = require('../node/typed.js');
const { advise, children } = require('./javascript_danger.js');
const { suggest } = require('./main.js');
const { Branches, shown } = require('./report.js');
const { CHARACTERS, Places, column_of_unit, line_at, retype, unfence } = require('./text.js');
const { MODULES, GLOBALS, LISTED_GLOBALS, POWERS_OF_GLOBALS, MEMBERS } = require('./rules.js');

/* Most of what programs consist of. */
const REHEARSED = `const fs = require('fs');
let n = 0;
for (const [key, value] of Object.entries({ a: 1 }))
	n += key in {} ? value : x?.y ?? \`\${n}\`;
class A { b() { return this.c; } }
async function f(g) { try { await g(); } catch (error) { process.exit(1); } }
console.log(n);
`;

const MAX_REPAIRS = 100;
const POWER_HINT = 'Do without it; no profile but open allows it.';

/* First match; for errors of V8 and of the parser. */
const HINTS = [
	[/code fence/, 'Send the code without the fence; auto_fix removes it.'],
	[/Invalid or unexpected token|Unexpected character/, 'Use the ASCII character instead, or close the string; auto_fix replaces typographic quotes.'],
	[/Unterminated|missing \/|unterminated/, 'Close the string, template or comment.'],
	[/Unexpected end of input/, 'Close every bracket and brace.'],
	[/missing \) after/, 'Put a comma between the arguments, or close the bracket.'],
	[/has already been declared/, 'Declare the name once, or choose another one.'],
	[/Illegal return|'return' outside/, 'Put the code into a function, or leave the value as the last expression.'],
	[/Expected an identifier|Expression expected|Expected/, 'Correct the code at this place.'],
	[/await/, 'Make the enclosing function async.'],
	[/Unexpected token ':'|Unexpected identifier/, 'Correct the code at this place. If it is TypeScript, say language=typescript.'],
];

const DECISIONS = new Set(['IfStatement', 'ConditionalExpression', 'LogicalExpression', 'ForStatement', 'ForInStatement', 'ForOfStatement',
	'WhileStatement', 'DoWhileStatement', 'CatchClause']);

/* ---- syntax ---- */

/* What V8 says of a program, which is the body of a function, with the place that it marks; null: it accepts it. */
function fault_of_body(text) {
	try {
		vm.compileFunction(text, PARAMETERS, { filename: '<check>' });
		return null;
	} catch (error) {
		const [, line, , mark] = /^<check>:(\d+)\n(.*)\n( *)\^/.exec(error.stack) ?? [];
		return { message: error.message, line: Number(line ?? 1), unit: mark?.length ?? 0 };
	}
}

/* { tree } or { fault }, and neither if V8 knows syntax that the parser does not. */
function read_plain(code) {
	let error;
	try {
		const tree = parse(code);
		const fault = fault_of_body(rewrite(code, false).text);
		return fault === null ? { tree } : { fault };
	} catch (thrown) {
		if (!(thrown instanceof SyntaxError))
			throw thrown;
		error = thrown;
	}
	const fault = fault_of_body(code);
	if (fault === null)
		return {};
	if (/import|export|await/.test(fault.message))
		return { fault: { message: error.message.replace(/ \(\d+:\d+\)$/, ''), line: error.loc.line, unit: error.loc.column } };
	return { fault: { ...fault, offset: error.pos } };
}

/* TypeScript is read without its types, as it runs: { tree, text, map } or { fault }. */
function read_typed(code, main) {
	let plain;
	try {
		plain = strip(code, main);
	} catch (error) {
		if (!(error instanceof SyntaxError))
			throw error;
		return { fault: { message: error.message, line: error.line_in_code, unit: error.column_in_code } };
	}
	return { ...read_plain(plain.code), text: plain.code, map: plain.map };
}

function report_fault(code, fault, report) {
	const line = code.split('\n')[fault.line - 1] ?? '';
	const hint = HINTS.find(([pattern]) => pattern.test(fault.message))?.[1] ?? 'Correct the code at this place.';
	report.finding('syntax-error', fault.line, column_of_unit(line, fault.unit), fault.message, hint);
}

/* ---- values that the text gives away ---- */

/* The text of an expression of literals; undefined: it has none that is known. */
function constant(node) {
	if (node?.type === 'Literal' && typeof node.value !== 'object')
		return String(node.value);
	if (node?.type === 'TemplateLiteral') {
		const parts = node.expressions.map(constant);
		return parts.includes(undefined) ? undefined : node.quasis.map((q, i) => q.value.cooked + (parts[i] ?? '')).join('');
	}
	if (node?.type === 'BinaryExpression' && node.operator === '+') {
		const left = constant(node.left), right = constant(node.right);
		return left === undefined || right === undefined ? undefined : left + right;
	}
	return undefined;
}

/* ---- rules ---- */

class Walk {
	constructor(places, tree, policy, report) {
		this.places = places;
		this.policy = policy;
		this.report = report;
		this.functions = 0; /* arrows aside, that the node is in */
		this.globals = new Set([...Object.getOwnPropertyNames(globalThis), 'require', 'module', 'import_module']);
		/* A function or class at the top replaces the global of its name, for the whole program. */
		this.own = new Set(tree.body.map(n => n.declaration ?? n).filter(n => /^(Function|Class)Declaration$/.test(n.type) && n.id)
			.map(n => n.id.name));
	}

	finding(rule, node, message, hint) {
		this.report.finding(rule, this.places.line(node.start), this.places.column(node.start), message, hint);
	}

	/* ---- imports ---- */

	import(node, source) {
		const asked = constant(source), name = asked?.replace(/^node:/, '');
		if (name === undefined) {
			if (!this.policy.has('imports'))
				this.finding('computed-import', node, 'The name of an import must be a literal', 'Write the name of the module as a literal string.');
			return;
		}
		this.report.import(name);
		if (/^[./]|^[a-z]+:/i.test(name) && !this.policy.has('imports'))
			this.finding('relative-import', source, `Import '${shown(name)}' is a file`, 'Only modules by their name can be imported.');
		else if (!this.policy.lists_name(MODULES, name) && !this.policy.open)
			this.finding('forbidden-import', source, `Import '${shown(name)}' is not allowed`, suggest(MODULES, name, this.policy));
		else if (this.policy.only !== null && !this.policy.only.some(n => name === n || name.startsWith(n + '/')))
			this.finding('forbidden-import', source, `Import '${shown(name)}' is not allowed`, 'It is not in allowed_imports.');
	}

	/* ---- names ---- */

	global(node) {
		const name = node.name;
		const [power, hint] = POWERS_OF_GLOBALS.get(name) ?? ['namespace', POWER_HINT];
		const list = Object.keys(LISTED_GLOBALS).find(key => LISTED_GLOBALS[key].includes(name));
		if (GLOBALS.has(name) || this.own.has(name) || !this.globals.has(name) || this.policy.has(power))
			return;
		if (list !== undefined) {
			if (!this.policy.lists_name(LISTED_GLOBALS, name))
				this.finding('forbidden-global', node, `'${name}' is not allowed`, suggest(LISTED_GLOBALS, name, this.policy));
			return;
		}
		const rule = power === 'evaluate' ? 'forbidden-call' : 'forbidden-global';
		this.finding(rule, node, `'${name}' is not allowed`, `${hint} Rename a variable of your own that has this name.`);
	}

	member(node, name) {
		const power = MEMBERS.get(name);
		if (power !== undefined && !this.policy.has(power))
			this.finding('forbidden-member', node, `Property '${name}' is not allowed`,
				power === 'reflect' ? 'Name the property itself, or keep values in a Map.' : POWER_HINT);
	}

	/* A name within brackets. */
	computed(node) {
		const name = constant(node);
		if (name !== undefined)
			this.member(node, name);
	}

	/* The global object, unless a class or strict mode says otherwise. */
	this_of(node, parent, strict) {
		if (strict || this.policy.has('namespace'))
			return;
		if (parent.type === 'MemberExpression' && parent.object === node && !parent.computed) {
			if (parent.property.type === 'Identifier')
				this.global(parent.property);
			return;
		}
		this.finding('forbidden-global', node, "'this' can be the global object here", "Use 'this' in the methods of a class, or name the object.");
	}

	/* ---- the tree ---- */

	node(node, parent, strict) {
		switch (node.type) {
		case 'ImportDeclaration':
		case 'ExportAllDeclaration':
		case 'ImportExpression':
			this.import(node, node.source);
			break;
		case 'ExportNamedDeclaration':
			if (node.source)
				this.import(node, node.source);
			break;
		case 'MemberExpression':
			if (node.computed)
				this.computed(node.property);
			else if (node.property.type === 'Identifier')
				this.member(node.property, node.property.name);
			break;
		case 'ObjectPattern':
			for (const p of node.properties.filter(p => p.type === 'Property'))
				if (p.computed)
					this.computed(p.key);
				else
					this.member(p.key, p.key.name ?? String(p.key.value));
			break;
		case 'ThisExpression':
			this.this_of(node, parent, strict);
			break;
		case 'WithStatement':
			if (!this.policy.has('namespace'))
				this.finding('forbidden-global', node, "'with' is not allowed", 'Name the object.');
			break;
		case 'Identifier':
			this.identifier(node, parent);
			break;
		}
	}

	identifier(node, parent) {
		if ((parent.type === 'MemberExpression' && parent.property === node && !parent.computed) ||
			(/^(Property|MethodDefinition|PropertyDefinition)$/.test(parent.type) && parent.key === node && !parent.computed && !parent.shorthand) ||
			/^(LabeledStatement|BreakStatement|ContinueStatement|MetaProperty|ImportSpecifier|ExportSpecifier)$/.test(parent.type))
			return;
		if (node.name === 'arguments' && this.functions === 0 && !this.policy.has('imports'))
			this.finding('computed-import', node, "'arguments' outside of a function is not allowed", 'It has the parameters that a module gets; use require("name").');
		else if (node.name !== 'require')
			this.global(node);
		else if (parent.type === 'CallExpression' && parent.callee === node)
			this.import(parent, parent.arguments[0]);
		else if (!this.policy.has('imports'))
			this.finding('computed-import', node, "'require' must be called with a literal name", 'Write require("name").');
	}

	/* strict: `this` is not the global object.  A function of its own has its own `this`, an arrow has not. */
	walk(node, parent, strict, strict_code) {
		let here = strict, code = strict_code;
		if (/^Class/.test(node.type))
			code = true;
		if (/^Function/.test(node.type)) {
			code ||= node.body.body?.some(n => n.directive === 'use strict') ?? false;
			here = code;
		}
		if (node.type === 'StaticBlock')
			here = true;
		this.node(node, parent, here);
		this.functions += /^Function/.test(node.type) ? 1 : 0;
		for (const child of children(node))
			this.walk(child, node, here || (node.type === 'PropertyDefinition' && child === node.value), code);
		this.functions -= /^Function/.test(node.type) ? 1 : 0;
	}
}

/* ---- measures ---- */

/* How a function or class is called; undefined: it has no name of its own. */
function name_of(node, parent) {
	const holder = parent.type === 'VariableDeclarator' ? parent.id : parent.type === 'AssignmentExpression' ? parent.left
		: !parent.computed ? parent.key : undefined;
	const place = node.id ?? holder?.property ?? holder;
	return place?.name ?? (place?.type === 'Literal' ? String(place.value) : undefined);
}

/* A function without a name is part of what is around it. */
function count_branches(node, parent, around, branches) {
	const is_function = /Function/.test(node.type), name = is_function || /^Class(Decl|Expr)/.test(node.type) ? name_of(node, parent) : undefined;
	const scope = name === undefined ? around : branches.scope(name, around, is_function ? node.start : undefined);
	branches.functions += is_function ? 1 : 0;
	branches.add(scope, DECISIONS.has(node.type) || (node.type === 'SwitchCase' && node.test !== null) ? 1 : 0);
	for (const child of children(node))
		count_branches(child, node, scope, branches);
}

/* ---- repairs ---- */

function repair(code, read, report) {
	let text = unfence(code, report) ?? code;
	for (let i = 0; i < MAX_REPAIRS; i++) {
		const { fault } = read(text);
		if (fault === undefined)
			return text;
		const offset = fault.offset ?? text.split('\n').slice(0, fault.line - 1).join('\n').length + (fault.line > 1 ? 1 : 0) + fault.unit;
		const next = retype(text, offset, report);
		if (next === undefined)
			break;
		text = next;
	}
	report.advise('auto_fix found nothing that makes the code parse');
	return undefined;
}

/* An empty template before another one is JavaScript, but at the start of a line it is a code fence of a chat. */
function fence_of(code, tree) {
	const at = code.search(/^[ \t]*```/m), offset = at + code.slice(at).search(/`/);
	if (at < 0 || (tree !== undefined && ![...all(tree)].some(n => n.type === 'TemplateLiteral' && n.start === offset)))
		return undefined;
	return { line: line_at(code, at), unit: offset - at, message: 'Unexpected code fence' };
}

function check_tree(code, map, tree, policy, report) {
	const places = new Places(code, map), branches = new Branches(start => places.line(start));
	const strict = tree.sourceType === 'module' || tree.body[0]?.directive === 'use strict';
	count_branches(tree, tree, branches.outside, branches);
	report.branches(branches);
	new Walk(places, tree, policy, report).walk(tree, tree, false, strict);
	advise(tree, places, policy, report);
}

/* main: the module that loads the package for TypeScript; undefined: the code is JavaScript. */
function check(code, policy, auto_fix, report, main) {
	const read = main === undefined ? read_plain : text => read_typed(text, main);
	const text = code.replace(/^\ufeff/, ''), { tree, fault: own, text: plain = text, map } = read(text), fault = fence_of(text, tree) ?? own;
	let fixed;
	report.measure(text);
	if (fault !== undefined) {
		report_fault(text, fault, report);
		fixed = auto_fix ? repair(text, read, report) : undefined;
		if (!auto_fix && [...CHARACTERS.keys()].some(c => text.includes(c)))
			report.advise('auto_fix replaces typographic characters');
	} else if (tree !== undefined) {
		check_tree(plain, map, tree, policy, report);
	} else if (!policy.open) {
		report.finding('unsupported-syntax', 1, 1, 'The code uses syntax that this check does not know', 'Use older syntax, or the profile open.');
	}
	return fixed;
}

module.exports = { REHEARSED, check, rehearsals: 2 };
