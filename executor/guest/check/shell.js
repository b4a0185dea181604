// SPDX-License-Identifier: Apache-2.0
/*
 * shell.js - checks shell: bash says whether it is shell, shfmt gives the tree that the rules walk, ShellCheck advises and fixes.
 *
 * Rules hold for what is written.  A shell computes commands and even arithmetic from text, so they are far from complete.
 */
'use strict';

const { spawn } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const { suggest } = require('./main.js');
const { Branches, shown } = require('./report.js');
const { advise: advise_of_dangers } = require('./shell_danger.js');
const { column_of_byte, line_at, unfence } = require('./text.js');
const { COMMANDS, RUNNERS, OPTIONS, VARIABLES } = require('./rules.js');

const MAX_CODE = 128 << 10, MAX_OUTPUT = 128 << 20, MAX_FIXES = 256;
/* Numbers of shfmt's operators. */
const HEREDOCS = [61, 62, 63], DUPLICATES = [58, 59], TRANSFORM = 84, ASSIGNS = [74, 75], AND_OR = [10, 11];

const BASH = ['/bin/bash', '--norc', '-n'], SHFMT = ['shfmt', '-ln', 'bash', '--to-json'];
const SHELLCHECK = ['shellcheck', '--norc', '-f', 'json1', '-s', 'bash', '-'];
const MAX_PIPED = 8 << 10, SHELLCHECKS = 4;
/* Most of what programs consist of. */
const REHEARSED = `n=0
f() { local x=$1; echo "$x" >> a; }
for i in 1 2; do
  if [ "$i" -gt 1 ] && f "$i"; then n=$((n + i)); fi
done
case $n in a) echo b ;; esac
cd /tmp || exit 1
list=(a b)
for k in "\${list[@]}"; do echo "$k" | grep x; done
while read -r l; do echo "\${l%%x}"; done < a
echo "\${n:-1}" | sort
`;

const HINTS = [
	[/unexpected EOF|unexpected end of file/, 'Close the quote, bracket or block that is open.'],
	[/`fi'|`done'|`esac'|`}'|`then'|`do'/, 'Match each if with then and fi, each loop with do and done, each case with esac.'],
	[/`\)'|`\('/, 'Match the brackets, or quote them.'],
	[/`newline'/, 'Complete the command on this line.'],
];

/* ---- programs ---- */

/* Until it gets its input, a program waits with all that it loads at its start. */
function start(argv) {
	const child = spawn(argv[0], argv.slice(1), { stdio: ['pipe', 'pipe', 'pipe'] });
	child.on('error', () => {}); /* run() sees it, if it is early enough */
	return child;
}

const waiting = new Map(); /* started ahead, by their command */

/* Each program is started before there is code.  ShellCheck first checks a text that gives no comments: it is lazy, and its
 * first check takes twice as long as the next. */
function prepare() {
	const file = path.join(os.tmpdir(), 'rehearsal');
	fs.writeFileSync(file, REHEARSED);
	waiting.set(BASH, start(BASH));
	waiting.set(SHFMT, start(SHFMT));
	waiting.set(SHELLCHECK, start([...SHELLCHECK.slice(0, -1), ...Array(SHELLCHECKS).fill(file), '-']));
}

/* { status, out, err }; status null: it was killed, or is not installed. */
function run(argv, input) {
	const child = waiting.get(argv) ?? start(argv);
	waiting.delete(argv);
	return new Promise(resolve => {
		const out = [], err = [];
		let size = 0;
		if (child.pid === undefined) {
			resolve({ status: null, out: '', err: '' });
			return;
		}
		child.on('error', () => resolve({ status: null, out: '', err: '' }));
		child.stdin.on('error', () => {}); /* it ended before it read all */
		child.stdin.end(input);
		child.stderr.on('data', data => err.length < 100 && err.push(data));
		child.stdout.on('data', data => {
			size += data.length;
			if (size > MAX_OUTPUT)
				child.kill('SIGKILL');
			else
				out.push(data);
		});
		child.on('close', status => resolve({ status, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }));
	});
}

/* It reads a pipe byte by byte, so long code comes from a file. */
function run_bash(code) {
	if (code.length <= MAX_PIPED)
		return run(BASH, code);
	const file = path.join(os.tmpdir(), 'code');
	fs.writeFileSync(file, code);
	return run([...BASH, file], '');
}

/* null: bash accepts it. */
async function fault_of_bash(code) {
	const { status, err } = await run_bash(code);
	if (status === 0)
		return null;
	if (status === null)
		throw new RangeError('bash was killed');
	const [, line, message] = /: line (\d+): (.*)/.exec(err) ?? [];
	return { line: Number(line ?? 1), message: message ?? 'syntax error' };
}

/* { tree } or { line, column, message }. */
async function parse(code) {
	const { status, out, err } = await run(SHFMT, code);
	if (status === 0)
		return { tree: JSON.parse(out) };
	const [, line, column, message] = /:(\d+):(\d+): (.*)/.exec(err) ?? [];
	return { line: Number(line ?? 0), column: Number(column ?? 1), message };
}

/* ShellCheck's comments; none if it is not installed. */
async function advice(code) {
	const { status, out } = await run(SHELLCHECK, code);
	return status === 0 || status === 1 ? JSON.parse(out).comments.filter(comment => comment.file === '-') : [];
}

/* ---- the tree ---- */

const is_node = value => value !== null && typeof value === 'object';

function* children(node) {
	for (const [key, value] of Object.entries(node))
		if (!/^(Pos|End|.*Pos|.*End|Left|Right|Position|Comments)$/.test(key) && is_node(value))
			yield* Array.isArray(value) ? value.filter(is_node) : [value];
}

function* all(node) {
	yield node;
	for (const child of children(node))
		yield* all(child);
}

/* The text of a word; undefined if it depends on anything but the text. */
function constant(word) {
	const parts = (word?.Parts ?? []).map(part => {
		switch (part.Type) {
		case 'Lit': return part.Value.replace(/\\\n/g, '').replace(/\\(.)/gs, '$1');
		case 'SglQuoted': return part.Dollar && part.Value?.includes('\\') ? undefined : part.Value ?? '';
		case 'DblQuoted': return constant(part) ?? undefined;
		default: return undefined;
		}
	});
	return parts.includes(undefined) ? undefined : parts.join('');
}

class Walk {
	constructor(code, tree, policy, report) {
		this.lines = code.split('\n');
		this.policy = policy;
		this.report = report;
		this.functions = new Set();
		for (const node of all(tree))
			if (node.Type === 'FuncDecl')
				this.functions.add(node.Name.Value);
	}

	finding(rule, node, message, hint) {
		const { Line, Col } = node.Pos;
		this.report.finding(rule, Line, column_of_byte(this.lines[Line - 1] ?? '', Col - 1), message, hint);
	}

	/* ---- commands ---- */

	/* args: the words from the command on. */
	command(args) {
		const name = constant(args[0]), rest = args.slice(1);
		if (name === undefined)
			this.finding('computed-command', args[0], 'The name of a command must be literal', 'Write the command out, or use case to choose among commands.');
		else if (name === 'command' || name === 'builtin')
			this.wrapped(rest);
		else if (name === 'trap')
			this.trap(rest);
		else if (!this.functions.has(name) && !(name === 'exec' && rest.length === 0))
			this.named(args[0], name, rest);
	}

	named(word, name, rest) {
		this.report.import(name);
		if (!this.policy.lists_name(COMMANDS, name))
			this.finding(RUNNERS.has(name) ? 'runs-text' : 'forbidden-command', word, `Command '${shown(name)}' is not allowed`,
				RUNNERS.get(name) ?? suggest(COMMANDS, name, this.policy));
		else if (this.policy.only !== null && !this.policy.only.includes(name))
			this.finding('forbidden-command', word, `Command '${shown(name)}' is not allowed`, 'It is not in allowed_imports.');
		else
			this.options(word, name, rest);
	}

	wrapped(rest) {
		const words = rest.filter(word => !/^-[pvV]+$/.test(constant(word) ?? ''));
		if (words.length > 0 && !rest.some(word => /^-[vV]/.test(constant(word) ?? '')))
			this.command(words);
	}

	/* Its first word is run as code later. */
	trap(rest) {
		const code = constant(rest[0]);
		if (rest.length > 1 && code !== '' && !/^-/.test(code ?? '') && !this.functions.has(code))
			this.finding('runs-text', rest[0], 'The text of a trap is run as code', 'Put the code into a function, and name that.');
	}

	options(word, name, rest) {
		const texts = rest.map(constant);
		const option = (OPTIONS[name] ?? []).find(o => texts.some(t => t === o || t?.startsWith(o + '=')));
		if (name === 'sed' && !texts.includes('--sandbox'))
			this.finding('unsafe-option', word, 'sed can run commands and write files', 'Add --sandbox.');
		else if (option !== undefined)
			this.finding('unsafe-option', word, `Option '${option}' of ${name} is not allowed`, 'Do without it, or use a loop.');
		else if (/^(mapfile|readarray)$/.test(name) && texts.some(t => t === undefined || /^-[a-zA-Z]*C/.test(t)))
			this.finding('runs-text', word, `Option -C of ${name} runs a text`, 'Write literal options, and use a loop.');
		else if (/^(read|printf|mapfile|readarray|unset|let|test|\[)$/.test(name) && texts.some(t => /\[.*[$`]/s.test(t ?? '')))
			this.finding('runs-text', word, `${name} evaluates the text within [ ]`, 'Write the index outside of quotes, or use a literal one.');
		if (/^(read|printf|mapfile|readarray|getopts|unset|let)$/.test(name))
			rest.forEach((w, i) => this.variable(w, texts[i]?.replace(/[[=].*/s, '')));
	}

	variable(node, name) {
		if (name !== undefined && VARIABLES.test(name))
			this.finding('forbidden-variable', node, `Variable '${shown(name)}' may not be set`, 'It decides which code runs; use a name of your own.');
	}

	/* ---- redirections and expansions ---- */

	redirect(node) {
		const target = constant(node.Word);
		this.variable(node, /^\{(\w+)\}$/.exec(node.N?.Value ?? '')?.[1]);
		if (HEREDOCS.includes(node.Op) || (DUPLICATES.includes(node.Op) && /^(\d+-?|-)$/.test(target ?? '')))
			return;
		if (/^\/dev\/(tcp|udp)\//.test(target ?? '') && !this.policy.lists.includes('network'))
			this.finding('forbidden-redirection', node, 'A connection is not allowed', 'Profile network allows it; add it to the others, separated by a comma.');
		else if (!/^\/dev\/(null|zero|stdin|stdout|stderr|fd\/\d+)$/.test(target ?? '') && !this.policy.has('files'))
			this.finding('forbidden-redirection', node, 'A redirection to or from a file is not allowed',
				'Join the profile filesystem to the others, or keep the data in a variable.');
	}

	expansion(node) {
		const index = node.Index && constant(node.Index);
		if (node.Excl && !node.Names && index !== '@' && index !== '*' && !this.policy.has('reflect'))
			this.finding('indirect-expansion', node, 'An indirect expansion is not allowed', 'Use an associative array.');
		if (node.Exp?.Op === TRANSFORM && !/^[QUuLEAKak]$/.test(constant(node.Exp.Word) ?? ''))
			this.finding('runs-text', node, 'The expansion @P runs commands within the text', 'Use the value itself.');
		if (ASSIGNS.includes(node.Exp?.Op))
			this.variable(node, node.Param?.Value);
	}

	declaration(node) {
		const refers = (node.Args ?? []).some(arg => !arg.Name && /^-[A-Za-z]*n/.test(constant(arg.Value) ?? ''));
		for (const arg of (refers && node.Args) || [])
			if (arg.Name && arg.Value)
				this.reference(arg.Value);
		for (const arg of node.Args ?? []) {
			const option = arg.Name ? '' : constant(arg.Value);
			if (arg.Name)
				this.variable(arg.Name, arg.Name.Value);
			else if ((option === undefined || /^-[A-Za-z]*n/.test(option)) && !this.policy.has('reflect'))
				this.finding('indirect-expansion', arg.Value, 'The name of a variable must be literal', 'Write the name, or use an associative array.');
		}
	}

	/* What a variable stands for that `declare -n` declares. */
	reference(value) {
		const name = constant(value);
		if (name === undefined)
			this.finding('indirect-expansion', value, 'The name of a variable must be literal', 'Write the name, or use an associative array.');
		else
			this.variable(value, name);
	}

	arithmetic(node) {
		for (const one of all(node))
			if (one.Parts)
				this.variable(one, constant(one));
	}

	walk(node) {
		if (/^(ArithmCmd|ArithmExp|LetClause)$/.test(node.Type))
			this.arithmetic(node);
		if (node.Type === 'CallExpr' && node.Args?.length > 0)
			this.command(node.Args);
		if (node.Type === 'ParamExp')
			this.expansion(node);
		if (node.Type === 'DeclClause')
			this.declaration(node);
		for (const assign of (node.Type === 'CallExpr' && node.Assigns) || [])
			this.variable(assign, assign.Name.Value);
		if (node.Type === 'WordIter')
			this.variable(node.Name, node.Name.Value);
		for (const redirect of node.Redirs ?? [])
			this.redirect(redirect);
		for (const child of children(node))
			this.walk(child);
	}
}

const DECIDES = new Set(['IfClause', 'WhileClause', 'ForClause', 'CaseItem']);

function count_branches(node, around, branches) {
	const is_function = node.Type === 'FuncDecl', scope = is_function ? branches.scope(node.Name.Value, around, node.Pos.Line) : around;
	const decides = DECIDES.has(node.Type) || (node.Patterns && node.OpPos) || (node.Type === 'BinaryCmd' && AND_OR.includes(node.Op));
	branches.functions += is_function ? 1 : 0;
	branches.add(scope, decides ? 1 : 0);
	for (const child of children(node))
		count_branches(child, scope, branches);
}

function measure(tree, report) {
	const branches = new Branches();
	count_branches(tree, branches.outside, branches);
	report.branches(branches);
}

/* ---- repairs ---- */

const offset_of = (lines, line, column) => lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0) +
	[...(lines[line - 1] ?? '')].slice(0, column - 1).join('').length;

/* Applies the replacements of ShellCheck, from the end.  Those that overlap an earlier one are left out. */
function apply(code, comments, report) {
	const lines = code.split('\n'), edits = [];
	for (const comment of comments.filter(c => c.fix).slice(0, MAX_FIXES)) {
		const own = comment.fix.replacements.map(r => ({ from: offset_of(lines, r.line, r.column), to: offset_of(lines, r.endLine, r.endColumn), by: r.replacement }));
		if (own.some(a => edits.some(b => a.from < b.to && b.from < a.to) || edits.some(b => a.from === b.from && a.to === b.to && a.by === b.by)))
			continue;
		edits.push(...own);
		report.edit(`SC${comment.code}`, comment.line, comment.message);
	}
	edits.sort((a, b) => b.from - a.from || b.to - a.to);
	return edits.reduce((text, { from, to, by }) => text.slice(0, from) + by + text.slice(to), code);
}

/* ShellCheck reports typographic characters as these. */
const TYPOGRAPHIC = { 1110: '"', 1111: "'", 1112: "'", 1018: ' ', 1100: '-', 1015: '"', 1016: "'" };

function retype(code, comments, report) {
	const lines = code.split('\n').map(line => [...line]);
	for (const { code: number, line, column } of comments) {
		const by = TYPOGRAPHIC[number], at = lines[line - 1];
		if (by === undefined || at?.[column - 1] === undefined || at[column - 1].charCodeAt(0) < 128)
			continue;
		at[column - 1] = /[\u201c\u201d\u201e]/.test(at[column - 1]) ? '"' : /[\u2018\u2019]/.test(at[column - 1]) ? "'" : by;
		report.edit('characters', line, `replaced a typographic character by '${at[column - 1]}'`);
	}
	return lines.map(line => line.join('')).join('\n');
}

async function repair(code, report) {
	let text = unfence(code, report) ?? code;
	if (/\r\n/.test(text)) {
		text = text.replace(/\r\n/g, '\n');
		report.edit('line-ends', 1, 'replaced CR LF by LF');
	}
	text = retype(text, await advice(text), report);
	text = apply(text, await advice(text), report);
	if (report.edits.length > 0 && (await fault_of_bash(text)) === null)
		return text;
	if (report.findings.some(f => f.rule === 'syntax-error'))
		report.advise('auto_fix found nothing that makes the code parse');
	return undefined;
}

/* ---- the check ---- */

function report_fault(code, fault, parsed, report) {
	const hint = HINTS.find(([pattern]) => pattern.test(fault.message))?.[1] ?? 'Correct the code at this place.';
	const same = parsed.line === fault.line, line = code.split('\n')[fault.line - 1] ?? '';
	const expected = parsed.message ? ` (${parsed.message})` : '';
	report.finding('syntax-error', fault.line, same ? column_of_byte(line, parsed.column - 1) : 1, fault.message + expected, hint);
}

/* Bash takes a fence of a chat for a command in backquotes. */
function fence_of(code) {
	const at = code.search(/^\s*```/m);
	return at < 0 || at > 64 ? null : { line: line_at(code, at + code.slice(at).search(/`/)), message: 'syntax error near a code fence' };
}

async function check(code, policy, auto_fix, report) {
	const text = code.replace(/^\ufeff/, '');
	if (text.length > MAX_CODE)
		throw new RangeError('too long for a check');
	const [bash, parsed, comments] = await Promise.all([fault_of_bash(text), parse(text), advice(text)]);
	const fault = fence_of(text) ?? bash;
	report.measure(text);
	for (const c of comments)
		report.advise(`Line ${c.line}: ${c.message} (ShellCheck SC${c.code}, ${c.level})`);
	if (fault !== null) {
		report_fault(text, fault, parsed, report);
	} else if (parsed.tree !== undefined) {
		measure(parsed.tree, report);
		advise_of_dangers(parsed.tree, { children, constant }, report);
		if (!policy.open || policy.only !== null)
			new Walk(text, parsed.tree, policy, report).walk(parsed.tree);
	} else if (!policy.open) {
		report.finding('unsupported-syntax', parsed.line, parsed.column, 'The code uses syntax that this check does not know', 'Use plainer syntax, or the profile open.');
	}
	return auto_fix ? repair(text, report) : undefined;
}

module.exports = { REHEARSED, check, prepare, rehearsals: 1 };
