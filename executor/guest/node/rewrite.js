// SPDX-License-Identifier: Apache-2.0
/*
 * rewrite.js - rewrites code so that V8 accepts it as one script of many: `await` and `import` work at its top level,
 * and a later statement can repeat the top-level declarations of an earlier one.
 *
 * Node's own parser finds the declarations.  The edits are made in the text, so that line numbers do not change.
 */
'use strict';

const acorn = require('internal/deps/acorn/acorn/dist/acorn'); // by --expose-internals

const OPTIONS = { ecmaVersion: 'latest', allowHashBang: true, allowAwaitOutsideFunction: true };

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
	const call = `await import_module(${node.source.raw})`;
	const whole = node.specifiers.find(s => s.type === 'ImportNamespaceSpecifier');
	const parts = node.specifiers.filter(s => s !== whole).map(s =>
		`${s.type === 'ImportDefaultSpecifier' ? 'default' : name(s.imported)}: ${s.local.name}`);
	if (whole === undefined)
		return parts.length > 0 ? `({${parts.join(', ')}} = ${call});` : `${call};`;
	return `${whole.local.name} = ${call};` + (parts.length > 0 ? `({${parts.join(', ')}} = ${whole.local.name});` : '');
}

/* A declaration becomes an assignment to the global of that name. */
function assign(text, node) {
	if (node.type === 'ClassDeclaration') {
		text.replace(node.start, node.start, `${node.id.name} = `);
		text.replace(node.end, node.end, ';');
	} else if (node.type === 'VariableDeclaration') {
		const first = node.declarations[0];
		text.replace(node.start, first.start, ';');
		for (const d of node.declarations) {
			text.replace(d.start, d.start, '(');
			text.replace(d.end, d.end, d.init !== null ? ')' : node.kind === 'var' ? ')' : ' = undefined)');
		}
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
	if (last !== null) {
		text.replace(last.start, last.start, 'return (');
		text.replace(last.expression.end, last.end, '\n)');
	}
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
		} else if (node.type === 'ClassDeclaration') {
			text.replace(node.start, node.start, `var ${node.id.name} = `);
			text.replace(node.end, node.end, ';');
		}
	}
	return text.done();
}

/* { text, waits: its value is a promise, tail: its value is that of an expression, names: declared at its top level,
 * module: it is an ES module } */
function rewrite(source, statement) {
	const tree = parse(source);
	const names = tree.body.flatMap(declared), end = tree.body.at(-1), module = tree.sourceType === 'module';
	const last = end?.type === 'ExpressionStatement' && end.directive === undefined ? end : null;
	if (waits(tree))
		return { text: as_async(source, tree, last), waits: true, tail: last !== null, names, module };
	const tail = last !== null || end?.directive !== undefined;
	return { text: statement ? as_globals(source, tree) : imports_by_us(source, tree).done(), waits: false, tail, names, module };
}

module.exports = { all, parse, rewrite };
