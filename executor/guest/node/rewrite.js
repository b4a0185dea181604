// SPDX-License-Identifier: Apache-2.0
/*
 * rewrite.js - rewrites code so that V8 accepts it as one script of many: `await` and `import` work at its top level,
 * and a later statement can repeat the top-level declarations of an earlier one.
 *
 * Node's own parser finds the declarations.  The edits are made in the text, so that line numbers do not change.
 */
'use strict';

const acorn = require('internal/deps/acorn/acorn/dist/acorn'); // by --expose-internals

const { Array, JSON, Map, Object, Set } = global; /* as they are before any program */

const OPTIONS = { ecmaVersion: 'latest', allowHashBang: true, allowAwaitOutsideFunction: true, allowReturnOutsideFunction: true };

/* Names that a session has declared and that are globals of node: libraries must find node's.  So the session's code has
 * another name for its own. */
const OWN = 'own_of_session_';
const shadowing = new Set();

function parse(source) {
	try {
		return acorn.parse(source, { ...OPTIONS, sourceType: 'script' });
	} catch (error) {
		try {
			return acorn.parse(source, { ...OPTIONS, sourceType: 'module' });
		} catch (module_error) {
			throw /sourceType: module/.test(error.message) ? module_error : error;
		}
	}
}

/* Each node that runs as part of the code itself, not of a function in it. */
function* inside(node) {
	yield node;
	if (/Function|StaticBlock/.test(node.type)) /* new.target occurs only in these, so a MetaProperty here is import.meta */
		return;
	for (const [key, value] of Object.entries(node)) {
		const skip = node.type === 'PropertyDefinition' && key === 'value';
		for (const child of Array.isArray(value) ? value : [value])
			if (!skip && child !== null && typeof child === 'object' && typeof child.type === 'string')
				yield* inside(child);
	}
}

/* Each node of the tree. */
function* all(node) {
	yield node;
	for (const value of Object.values(node))
		for (const child of Array.isArray(value) ? value : [value])
			if (child !== null && typeof child === 'object' && typeof child.type === 'string')
				yield* all(child);
}

function waits(tree) {
	for (const node of inside(tree))
		if (node.type === 'AwaitExpression' || (node.type === 'ForOfStatement' && node.await) ||
			/^(Import|Export).*Declaration$/.test(node.type) || node.type === 'MetaProperty')
			return true;
	return false;
}

function returns(tree) {
	for (const node of inside(tree))
		if (node.type === 'ReturnStatement')
			return true;
	return false;
}

/* The names that a pattern binds. */
function* bound(pattern) {
	if (pattern === null)
		return;
	switch (pattern.type) {
	case 'Identifier': yield pattern.name; break;
	case 'ObjectPattern': for (const p of pattern.properties) yield* bound(p.value || p.argument); break;
	case 'ArrayPattern': for (const p of pattern.elements) yield* bound(p); break;
	case 'AssignmentPattern': yield* bound(pattern.left); break;
	case 'RestElement': yield* bound(pattern.argument); break;
	}
}

function declared(node) {
	if (node.type === 'VariableDeclaration')
		return node.declarations.flatMap(d => [...bound(d.id)]);
	if (/^(Function|Class)Declaration$/.test(node.type) && node.id)
		return [node.id.name];
	if (node.type === 'ImportDeclaration')
		return node.specifiers.map(s => s.local.name);
	return node.declaration ? declared(node.declaration) : [];
}

class Text {
	constructor(source) {
		this.source = source;
		this.edits = [];
	}

	/* Puts back replaced line feeds, so that line numbers below do not change. */
	replace(start, end, text) {
		const lines = this.source.slice(start, end).split('\n').length - text.split('\n').length;
		this.edits.push([start, end, text + '\n'.repeat(Math.max(0, lines))]);
	}

	done() {
		let text = '', at = 0;
		for (const [start, end, by] of this.edits.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
			text += this.source.slice(at, start) + by;
			at = end;
		}
		return text + this.source.slice(at);
	}
}

function name(node) {
	return node.type === 'Literal' ? JSON.stringify(node.value) : node.name;
}

function import_as_call(node) {
	const named = node.specifiers.filter(s => s.type !== 'ImportNamespaceSpecifier');
	const wanted = named.map(s => s.imported?.value ?? s.imported?.name ?? 'default');
	const call = `await import_module(${node.source.raw}${wanted.length > 0 ? `, undefined, ${JSON.stringify(wanted)}` : ''})`;
	const whole = node.specifiers.find(s => s.type === 'ImportNamespaceSpecifier');
	const parts = named.map(s =>
		`${s.type === 'ImportDefaultSpecifier' ? 'default' : name(s.imported)}: ${s.local.name}`);
	if (whole === undefined)
		return parts.length > 0 ? `({${parts.join(', ')}} = ${call});` : `${call};`;
	return `${whole.local.name} = ${call};` + (parts.length > 0 ? `({${parts.join(', ')}} = ${whole.local.name});` : '');
}

/* What is constant stays so behind its declaration (driver.js, fix()). */
function fix(text, node) {
	if (node.kind === 'const')
		text.replace(node.end, node.end, `;fix_constants(${declared(node).map(n => JSON.stringify(n)).join(', ')});`);
}

/* A declaration becomes an assignment to the global of that name. */
function assign(text, node) {
	if (node.type === 'ClassDeclaration') {
		text.replace(node.start, node.start, `${node.id.name} = `);
		text.replace(node.id.start, node.id.end, node.id.name.replace(OWN, ''));
		text.replace(node.end, node.end, ';');
	} else if (node.type === 'VariableDeclaration') {
		const first = node.declarations[0];
		text.replace(node.start, first.start, ';');
		for (const d of node.declarations) {
			text.replace(d.start, d.start, '(');
			text.replace(d.end, d.end, d.init !== null ? ')' : node.kind === 'var' ? ')' : ' = undefined)');
		}
		fix(text, node);
	}
}

function export_as_code(text, node) {
	const inner = node.declaration;
	if (!inner)
		return text.replace(node.start, node.end, ';');
	const anonymous = node.type === 'ExportDefaultDeclaration' && !(/Declaration$/.test(inner.type) && inner.id);
	text.replace(node.start, inner.start, anonymous ? ';(' : '');
	if (anonymous)
		return text.replace(inner.end, node.end, ');');
	return assign(text, inner);
}

/* V8 asks the embedder for modules.  Node resolves a script's modules only with flags that warn, so driver.js does it. */
function imports_by_us(source, tree) {
	const text = new Text(source);
	if (/\bimport\b/.test(source))
		for (const node of all(tree)) {
			if (node.type === 'ImportExpression')
				text.replace(node.start, node.start + 'import'.length, 'import_module');
			else if (node.type === 'MetaProperty' && node.meta.name === 'import')
				text.replace(node.start, node.end, 'import_meta');
		}
	return text;
}

/* Behind a comma V8 notes where the expression begins, as it does for a statement; else an error is told to be at `return`. */
const RETURN = 'return (0,';

/* Where the only statement is made a value: in front of the code, comments included, but behind a hash bang. */
function front(source, last) {
	return source.startsWith('#!') ? last.start : 0;
}

/* The insertion is behind the statement before, so that columns in the last line do not change. */
function return_last(text, tree, last) {
	const before = tree.body.at(-2);
	if (before !== undefined)
		text.replace(before.end, before.end, `;${RETURN}`);
	else
		text.replace(front(text.source, last), front(text.source, last), RETURN);
	const semicolon = text.source[last.end - 1] === ';' ? 1 : 0; /* and a comment may stand before it */
	text.replace(last.end - semicolon, last.end, '\n)');
}

/* What is exported is declared only: nobody imports a program. */
function export_as_declaration(text, node) {
	const inner = node.declaration;
	if (!inner)
		return text.replace(node.start, node.end, ';');
	const anonymous = node.type === 'ExportDefaultDeclaration' && !(/Declaration$/.test(inner.type) && inner.id);
	text.replace(node.start, inner.start, anonymous ? ';(' : '');
	if (anonymous)
		text.replace(inner.end, node.end, ');');
}

/* A program becomes the body of a function, as node makes one of a file: its names are nobody else's.  The function's
 * sixth argument gets a function that returns `result`. */
function as_program(source, tree, last, names) {
	const text = imports_by_us(source, tree), waiting = waits(tree);
	const show = names.includes('result') ? 'arguments[5](() => result);' : '';
	for (const node of tree.body)
		if (node.type === 'ImportDeclaration')
			text.replace(node.start, node.end, import_as_call(node));
		else if (/^Export/.test(node.type))
			export_as_declaration(text, node);
	if (last !== null)
		return_last(text, tree, last);
	const hash_bang = source.startsWith('#!') ? '//' : '';
	if (!waiting) {
		const first = tree.body.find(n => n.directive === undefined);
		if (first !== undefined && show !== '')
			text.replace(first.start, first.start, show);
		return hash_bang + text.done();
	}
	const imported = tree.body.filter(n => n.type === 'ImportDeclaration').flatMap(declared);
	const declare = imported.length > 0 ? `var ${imported.join(', ')};` : '';
	const strict = tree.sourceType === 'module' || tree.body[0]?.directive === 'use strict' ? '"use strict";' : '';
	return `return (async () => {${strict}${declare}${show}${hash_bang}${text.done()}\n})()`;
}

/* By how many columns the first line of a program was moved. */
function moved(source, tree, last) {
	return last !== null && tree.body.length === 1 && front(source, last) === 0 && !waits(tree) ? RETURN.length : 0;
}

function as_async(source, tree, last) {
	const text = imports_by_us(source, tree), names = new Set(tree.body.flatMap(declared));
	const functions = tree.body.map(n => n.declaration || n).filter(n => n.type === 'FunctionDeclaration' && n.id);
	for (const node of inside(tree)) {
		if (node.type === 'VariableDeclaration' && node.kind === 'var')
			declared(node).forEach(n => names.add(n));
	}
	for (const node of tree.body) {
		if (node.type === 'ImportDeclaration')
			text.replace(node.start, node.end, import_as_call(node));
		else if (/^Export/.test(node.type))
			export_as_code(text, node);
		else
			assign(text, node);
	}
	if (last !== null)
		return_last(text, tree, last);
	const declare = names.size > 0 ? `var ${[...names].join(', ')};` : '';
	const strict = tree.sourceType === 'module' || tree.body[0]?.directive === 'use strict' ? '"use strict";' : '';
	const hoist = functions.map(f => `globalThis.${f.id.name} = ${f.id.name};`).join('');
	const hash_bang = source.startsWith('#!') ? '//' : '';
	return `${declare}(async () => {${strict}${hoist}${hash_bang}${text.done()}\n})()`;
}

/* Turns top-level declarations into `var`: globals, which a later statement may declare again with any kind. */
function as_globals(source, tree) {
	const text = imports_by_us(source, tree);
	for (const node of tree.body) {
		if (node.type === 'VariableDeclaration' && node.kind !== 'var') {
			text.replace(node.start, node.start + node.kind.length, 'var'.padEnd(node.kind.length));
			for (const d of node.declarations)
				if (d.init === null)
					text.replace(d.end, d.end, ' = undefined');
			fix(text, node);
		} else if (node.type === 'ClassDeclaration') {
			text.replace(node.start, node.start, `var ${node.id.name} = `);
			text.replace(node.id.start, node.id.end, node.id.name.replace(OWN, '')); /* its property `name` */
			text.replace(node.end, node.end, ';');
		}
	}
	return text.done();
}

/* The variables below a node, with what a shorthand property has to become: { node, before }. */
function* variables(node) {
	if (node.type === 'Identifier')
		yield { node, before: '' };
	for (const [key, value] of Object.entries(node)) {
		const named = (/^(Property|MethodDefinition|PropertyDefinition)$/.test(node.type) && key === 'key') ||
			(node.type === 'MemberExpression' && key === 'property');
		if ((named && !node.computed) || /^(label|imported|exported|meta)$/.test(key))
			continue;
		for (const child of Array.isArray(value) ? value : [value])
			if (child !== null && typeof child === 'object' && typeof child.type === 'string')
				for (const found of variables(child))
					yield node.shorthand && found.node.start === node.start ? { node: found.node, before: `${node.key.name}: ` } : found;
	}
}

function with_own_names(source, tree, globals) {
	const text = new Text(source), seen = new Set();
	for (const name of tree.body.flatMap(declared))
		if (globals.has(name))
			shadowing.add(name);
	if (shadowing.size === 0)
		return source;
	for (const { node, before } of variables(tree))
		if (shadowing.has(node.name) && !seen.has(node.start)) {
			seen.add(node.start);
			text.replace(node.start, node.end, `${before}${OWN}${node.name}`);
		}
	return text.done();
}

/* { text, waits: its value is a promise, tail: its value is that of an expression, names: declared at its top level,
 * module: it is an ES module, moved: columns of a program's first line } */
function rewrite(source, statement, globals = new Set()) {
	let tree = parse(source);
	if (statement) {
		const renamed = with_own_names(source, tree, globals);
		tree = renamed === source ? tree : parse(source = renamed);
	}
	const names = tree.body.flatMap(declared), end = tree.body.at(-1), module = tree.sourceType === 'module';
	const last = end?.type === 'ExpressionStatement' && end.directive === undefined ? end : null;
	if (!statement) {
		const value = end?.type === 'ExpressionStatement' && end.directive !== 'use strict' ? end : null;
		return { text: as_program(source, tree, value, names), waits: waits(tree), tail: value !== null, names, module,
			moved: moved(source, tree, value) };
	}
	if (waits(tree) || returns(tree))
		return { text: as_async(source, tree, last), waits: true, tail: last !== null, names, module };
	const tail = last !== null || end?.directive !== undefined;
	return { text: as_globals(source, tree), waits: false, tail, names, module };
}

/* Of the function whose body a program is: what node gives a file. */
const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname'];

module.exports = { OWN, PARAMETERS, all, parse, rewrite };
