// SPDX-License-Identifier: Apache-2.0
/*
 * shell_danger.js - what a check of shell warns of beside ShellCheck: commands that do not end, fill the disk, delete everything
 * or run what they download.  A warning refuses nothing: the box limits the harm.
 *
 * It looks at each command alone and follows no value, so it misses much; what it says must be right nearly always.
 */
'use strict';

const { shown } = require('./report.js');

const ENDLESS = 'does not end by itself; its run lasts until its time is over';

/* By command: which of its words, joined by spaces, make it dangerous, and the advice. */
const CALLS = {
	cat: [[/(^| )\/dev\/(zero|urandom|random|full)( |$)/, ENDLESS, 'limited']],
	chmod: [[/^(-\S+ )*(0?777|a\+rwx|ugo\+rwx)( |$)/, 'lets everyone write; give only what is needed']],
	curl: [[/(^| )(-k|--insecure)( |$)/, 'accepts any certificate']],
	dd: [[/^(?!.*\bcount=).*\bif=\/dev\/(zero|urandom|random|full)\b/, 'has no end without count=', 'limited']],
	eval: [[/./, 'runs its text as code; keep arguments in an array']],
	kill: [[/(^| )(-- )?-1$/, 'ends every process of the box, and this one, too']],
	mkfs: [[/./, 'finds no disk in a box']],
	ping: [[/^(?!.*(^| )-[a-zA-Z]*[cw])./, ENDLESS]],
	rm: [[/^(?=.*(^| )-\w*[rR]).*( |^)(\/|\/\*|~|~\/|\.|\*|\.\*)( |$)/, 'deletes everything there']],
	sleep: [[/^(infinity|inf)$/, ENDLESS]],
	tail: [[/(^| )(-\w*[fF]|--follow(=\w+)?)( |$)/, ENDLESS, 'limited']],
	top: [[/^(?!.*(^| )-\w*n)/, ENDLESS, 'limited']],
	watch: [[/./, ENDLESS]],
	wget: [[/(^| )--no-check-certificate( |$)/, 'accepts any certificate']],
	yes: [[/^/, ENDLESS, 'limited']],
};

/* What ends a pipeline that writes to it, when it has enough. */
const LIMITERS = /^(head|sed|awk|grep|read|dd|timeout)$/;
const FETCHERS = /^(curl|wget)$/, SHELLS = /^(ba|da|z|k)?sh$|^(python3?|node|perl)$/;
const LEAVES = /^(break|exit|return|exec|read|wait)$/;
const PIPES = [12, 13]; /* shfmt's numbers of | and |& */
const DEVICES = /^\/dev\/(sd|hd|vd|nvme|mem|kmem)/;

class Dangers {
	constructor(tools, report) {
		this.tools = tools; /* { children, constant } of the walk */
		this.report = report;
	}

	warn(node, text) {
		this.report.advise(`Line ${node.Pos.Line}: ${text}`);
	}

	name(call) {
		return call?.Type === 'CallExpr' ? this.tools.constant(call.Args?.[0]) : undefined;
	}

	/* Every command that a node runs itself, not in a function. */
	* commands(node) {
		if (node.Type === 'CallExpr')
			yield node;
		for (const child of node.Type === 'FuncDecl' ? [] : this.tools.children(node))
			yield* this.commands(child);
	}

	call(node, limited) {
		const [name, ...rest] = (node.Args ?? []).map(word => this.tools.constant(word));
		const words = rest.map(word => word ?? '$').join(' ');
		for (const [pattern, advice, can] of (name !== undefined && Object.hasOwn(CALLS, name) && CALLS[name]) || [])
			if (pattern.test(words) && !(limited && can !== undefined))
				this.warn(node, `${shown(name)} ${advice}`);
	}

	/* A loop that nothing leaves, and a function that always calls itself. */
	loop(node) {
		const [only] = node.Cond ?? [], name = this.name(only?.Cmd);
		const endless = node.Cond?.length === 1 && (node.Until ? name === 'false' : name === 'true' || name === ':');
		const leaves = [...(node.Do ?? [])].some(s => [...this.commands(s)].some(c => LEAVES.test(this.name(c) ?? '')));
		if (endless && !leaves)
			this.warn(node, 'this loop never ends: nothing in it leaves it');
	}

	recursion(node) {
		const body = node.Body?.Cmd?.Stmts ?? [];
		if (body.some(s => [...this.unconditional(s.Cmd)].some(c => this.name(c) === node.Name.Value)))
			this.warn(node, `${shown(node.Name.Value)}() always calls itself, and so never ends; each call may start two more`);
	}

	* unconditional(command) {
		if (command?.Type === 'CallExpr')
			yield command;
		if (command?.Type === 'BinaryCmd' && PIPES.includes(command.Op))
			for (const side of [command.X, command.Y])
				yield* this.unconditional(side.Cmd);
	}

	/* The last command of the left side writes to the first one of the right. */
	pipe(node) {
		const to = this.name(node.Y?.Cmd?.Type === 'BinaryCmd' ? node.Y.Cmd.X?.Cmd : node.Y?.Cmd);
		const from = this.name(node.X?.Cmd?.Type === 'BinaryCmd' ? node.X.Cmd.Y?.Cmd : node.X?.Cmd);
		if (FETCHERS.test(from ?? '') && SHELLS.test(to ?? ''))
			this.warn(node, `${to} runs what ${from} downloads; save it, look at it, then run it`);
		return LIMITERS.test(to ?? '');
	}

	redirect(node) {
		const target = this.tools.constant(node.Word);
		if (DEVICES.test(target ?? ''))
			this.report.advise(`Line ${node.OpPos?.Line ?? node.Pos.Line}: ${shown(target)} is a disk or memory, and not in a box`);
	}

	walk(node, limited) {
		const pipes = node.Type === 'BinaryCmd' && PIPES.includes(node.Op);
		const inner = (pipes && this.pipe(node)) || limited || (node.Type === 'CallExpr' && this.name(node) === 'timeout');
		if (node.Type === 'CallExpr')
			this.call(node, inner);
		if (node.Type === 'WhileClause')
			this.loop(node);
		if (node.Type === 'FuncDecl')
			this.recursion(node);
		for (const redirect of node.Redirs ?? [])
			this.redirect(redirect);
		for (const child of this.tools.children(node))
			this.walk(child, inner);
	}
}

/* tools: { children, constant } of nodes. */
function advise(tree, tools, report) {
	new Dangers(tools, report).walk(tree, false);
}

module.exports = { advise };
