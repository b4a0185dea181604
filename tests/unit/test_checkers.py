#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The checkers of JavaScript and shell without a box: what each profile refuses, and what it does not.

    test_checkers.py DIRECTORY        of the guests

A case of REFUSED is a program that reaches what the profile forbids, so a check that passes it has a hole.  ALLOWED are ordinary
programs, so a finding in one is a false alarm.
"""

import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402

# Runs all cases in one process; prints the rules that each breaks.
HARNESS = r"""
const { Report } = require(process.argv[1] + '/check/report.js');
class Policy {
	constructor(profile) {
		this.open = profile === 'open';
		this.lists = profile === 'filesystem' ? ['basic', 'filesystem'] : ['basic'];
		this.powers = new Set(profile === 'strict' ? ['files'] : profile === 'basic' ? ['reflect'] : ['reflect', 'files']);
		this.only = null;
	}
	has(power) { return this.open || this.powers.has(power); }
	lists_name(table, name) { return this.open || this.lists.some(list => table[list]?.includes(name)); }
}
(async () => {
	const all = JSON.parse(require('fs').readFileSync(0)), out = [];
	for (const [language, profile, code] of all) {
		const report = new Report();
		let fixed;
		try {
			fixed = await require(`${process.argv[1]}/check/${language}.js`).check(code, new Policy(profile), profile === 'open', report);
			out.push([report.findings.map(f => f.rule), fixed ?? null, report.advice, report.analysis.most_complex ?? []]);
		} catch (error) {
			out.push([[error.constructor.name], null, [], []]);
		}
	}
	console.log(JSON.stringify(out));
})();
"""


def run(directory, programs):
    if shutil.which("node") is None:
        raise cases.Skip("node is not installed")
    done = subprocess.run(["node", "--expose-internals", "-e", HARNESS, directory], input=json.dumps(programs), text=True,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


REFUSED = [
    "require('fs')", "require(`child_${'process'}`)", "require('node:' + 'vm')", "import('fs')", "import x from 'module'",
    "export * from 'fs'", "export { readFileSync as x } from 'fs'", "const r = require; r('fs')", "(require)['main']", "require.main",
    "[require][0]('fs')", "({ require }).require('fs')", "import_module('fs')", "module.require('fs')", "import(name)", "require('./x')",
    "arguments[1]('fs')", "this[x]", "class A { [this.process] }", "const f = () => arguments", "process.exit()", "const { exit } = process", "let p = [process]", "typeof process.binding", "globalThis.process",
    "global['pro' + 'cess']", "this.process", "const { process: p } = this", "(function () { return this })().process",
    "(() => this)()", "({ f() { return this } }).f", "'use strict'; this.process",
    "eval('1')", "(0, eval)('1')", "const e = eval", "new Function('return 1')", "Function.call(null, '1')", "new WebAssembly.Module(b)",
    "(() => {}).constructor('return 1')()", "(() => {})['constructor']", "(() => {})['con' + 'structor']", "(() => {})[`constructor`]",
    "(() => {})[`con${'struct'}or`]", "const { constructor: F } = () => {}", "const { ['constructor']: F } = () => {}",
    "(({ constructor: c }) => c)(() => {})", "[].map.constructor", "''['\\x63onstructor']",
    "(async () => {}).\\u0063onstructor", 
    "Reflect.get(f, 'constructor')", "Object.getPrototypeOf(f)", "Object.getOwnPropertyDescriptors(p)", "const { getPrototypeOf } = Object",
    "f.__proto__", "f['__pro' + 'to__']", "f.__lookupGetter__('x')", "arguments.callee.caller", "Error.prepareStackTrace = f",
    "with (f) constructor", "var process; process.exit()", "console._stdout", "fetch('http://a')", "require('crypto').setEngine('/x')",
    "class A extends eval {}", "x = { get: eval }", "`${process}`", "label: process", "f(...process)",
    "function f(a = process) { var process }", "constructor.constructor('1')", "toString.constructor",
]

# Programs that pass and are stopped when they run.
COMPUTED = [
    "let k = 'construc'; k += 'tor'; [][k][k]('return process')()", "for (const k of ['constructor']) (() => {})[k]('1')",
    "const s = 'structor', { ['con' + s]: F } = () => {}; F('1')", "const g = k => f => f[k]; new (g(String('constructor'))(async () => {}))('1')",
    "const k = 'constructor'; (function* () {})[k]('1')", "const k = 'constructor'; (async function* () {})[k]('1')",
    "const k = 'constructor'; class A {}; A[k]('1')", "const k = 'constructor'; [][k][k][k]('1')", "const k = 'prepareStackTrace'; Error[k] = (e, s) => s",
    "const k = 'setEngine'; require('crypto')[k]('/x')",
]

GUARDED = r"""
const guard = require(process.argv[1] + '/node/guard.js'), vm = require('vm');
const out = JSON.parse(require('fs').readFileSync(0)).map(code => {
	guard.hold('profile strict');
	try {
		vm.compileFunction(code, ['require'])(require);
		return 'no error';
	} catch (error) {
		return error.message;
	} finally {
		guard.release();
	}
});
const free = [() => {}, async () => {}].map(f => new f.constructor('return 1')) && require('crypto').setEngine.name + (Error.prepareStackTrace?.name ?? '');
console.log(JSON.stringify([...out, free]));
"""

ALLOWED = [
    "const w = {}; for (const x of 'a b a'.split(' ')) w[x] = (w[x] || 0) + 1", "const m = {}; const f = n => m[n] ?? (m[n] = n < 2 ? n : f(n - 1) + f(n - 2))",
    "const a = [[1], [2]]; a.map((r, j) => r.map((_, i) => a[j][i]))", "function f() { return arguments.length + arguments[0] }",
    "const { inspect } = require('util'); console.log(inspect({ a: 1 }))", "import { join } from 'node:path'; join('a', 'b')",
    "for (let i = 0; i < 3; i++) console.log([1, 2, 3][i])", "const a = [3, 1]; for (let i = a.length - 1; i >= 0; i--) a[i] *= 2",
    "let a = [1, 2]; let i = 0, j = 1; [a[i], a[j]] = [a[j], a[i]]", "class P { constructor(x) { this.x = x } get() { return this.x } }\nnew P(1).get()",
    "class Q extends Array { constructor() { super(); this.n = 0 } }", "const m = new Map([['a', 1]]); [...m].map(([k, v]) => `${k}${v}`)",
    "async function f() { await new Promise(r => setTimeout(r, 1)); return 1 }\nawait f()", "JSON.parse('{\"a\": 1}').a",
    "const g = { a: 1, 'b-c': 2, process: 3 }; g.process + g['b-c']", "function process(x) { return x }\nprocess(1)",
    "const s = 'abc'; s[s.length - 1] + s[0]", "a: for (const x of [1]) { break a }", "const { a, ...rest } = { a: 1, b: 2 }; rest",
    "o = { [Symbol.iterator]: function* () { yield 1 } }; o[Symbol.iterator]()", "let n = 5, f = 1; while (n > 1) f *= n--; f",
    "const grid = [[1]]; for (let y = 0; y < 1; y++) for (let x = 0; x < 1; x++) grid[y][x] += 1",
    "require('crypto').createHash('sha256').update('a').digest('hex')", "switch (1) { case 1: break; default: }", "Buffer.from('a').toString('hex')",
]

SHELL_REFUSED = [
    "eval \"$x\"", "$x", "\"$(echo ls)\"", "\\eval x", "'eval' x", "e''val x", "command eval x", "builtin source f", ". ./f", "bash -c ls", "env ls",
    "exec ls", "xargs ls", "/bin/ls", "curl a", "trap 'ls' EXIT", "find . -exec ls {} +", "PATH=/tmp:$PATH", "LD_PRELOAD=x sort", "export PATH=/x",
    "read PATH", "printf -v PATH x", "declare -n p=x", "echo ${!x}", "echo ${x@P}", "echo > /dev/tcp/a/1", "cat < /dev/udp/a/1", "sed s/a/b/e",
    "sort -o x y", "$(curl a)", "echo `curl a`", "cat <(curl a)", "f() { curl a; }", "if curl a; then :; fi", "a=$(curl a)", "echo \"${x:-$(curl a)}\"",
    "cat <<E\n$(curl a)\nE", "coproc curl a", "time curl a", "! curl a", "[[ $(curl a) ]]", "echo $((1 + $(curl a)))", "for x in $(curl a); do :; done",
    "alias ls=curl", "enable -f x y", "python3 -c 1", "awk 'BEGIN{system(\"ls\")}'", ": ${PATH:=/x}", "for PATH in /x; do :; done",
    "mapfile -C 'python3 -c 1;:' -c 1 a <<< x", "readarray -tC f a", "mapfile $o a", "declare -n r=PATH", "f() { local -n r=$1; }", "exec {PATH}>&1", "((PATH=1))",
    "echo $((PATH+=1))", "let PATH=1", "[ -v 'a[$(curl a)]' ]", "printf -v 'a[$(curl a)]' x", "read 'a[`curl a`]'", "unset 'a[$(curl a)]'",
]

SHELL_ALLOWED = [
    "for i in 1 2 3; do echo \"$i\"; done | sort -n", "f() { local a=$1; echo \"$a\"; }\nf x", "x=$((1 + 2)); echo $x", "echo hi > out; cat < out",
    "while IFS= read -r line; do printf '%s\\n' \"$line\"; done <<< 'a'", "sed --sandbox 's/a/b/' <<< a", "cat <<'E'\n$(curl a)\nE", "exec 3>&1; echo x >&3",
    "declare -A m=([a]=1); for k in \"${!m[@]}\"; do echo \"${m[$k]}\"; done", "command -v ls", "trap - EXIT", "case x in a) :;; *) echo;; esac",
    "a=(1 2); echo \"${#a[@]}\" \"${a[0]}\" \"${x@Q}\"", "[[ a == a* ]] && echo yes || echo no", "grep -q a 2>/dev/null <<< a",
]


def test_javascript_that_reaches_out_is_refused(directory):
    for program, (rules, *_) in zip(REFUSED, run(directory, [["javascript", "strict", p] for p in REFUSED])):
        assert rules and "syntax-error" not in rules, f"{program}: {rules}"


def test_computed_names_run_no_text(directory):
    passed = [rules for rules, *_ in run(directory, [["javascript", "strict", p] for p in COMPUTED])]
    assert not any(passed), passed
    done = subprocess.run(["node", "-e", GUARDED, directory], input=json.dumps(COMPUTED), text=True, capture_output=True, timeout=60, check=True)
    *ends, free = json.loads(done.stdout)
    assert all("not allowed by profile strict" in end for end in ends) and free == "setEngineErrorPrepareStackTrace", (ends, free)


def test_ordinary_javascript_passes(directory):
    for program, (rules, fixed, _, _) in zip(ALLOWED, run(directory, [["javascript", "strict", p] for p in ALLOWED])):
        assert not rules and fixed in (None, program), f"{program}: {rules}, {fixed}"


def test_shell_that_reaches_out_is_refused(directory):
    for program, (rules, *_) in zip(SHELL_REFUSED, run(directory, [["shell", "strict", p] for p in SHELL_REFUSED])):
        assert rules and "syntax-error" not in rules and "unsupported-syntax" not in rules, f"{program}: {rules}"


def test_ordinary_shell_passes(directory):
    for program, (rules, *_) in zip(SHELL_ALLOWED, run(directory, [["shell", "strict", p] for p in SHELL_ALLOWED])):
        assert not rules, f"{program}: {rules}"


def test_profiles_differ(directory):
    programs = [["javascript", "basic", "f[k]"], ["javascript", "filesystem", "require('fs/promises')"], ["javascript", "basic", "require('fs')"],
                ["shell", "filesystem", "ls > a"], ["shell", "basic", "echo > a"], ["javascript", "open", "eval(process)"], ["shell", "open", "eval $x"]]
    got = [rules for rules, *_ in run(directory, programs)]
    assert got == [[], [], ["forbidden-import"], [], ["forbidden-redirection"], [], []], got


def test_repairs_parse_or_are_not_made(directory):
    programs = [["javascript", "open", "console.log(“a”)"], ["javascript", "open", "f((1"], ["shell", "open", "echo $1"], ["shell", "open", "if x"],
                ["javascript", "open", "x = '“'"], ["shell", "open", "echo a\r\necho b\r\n"]]
    fixed = [text for _, text, *_ in run(directory, programs)]
    assert fixed == ['console.log("a")', None, 'echo "$1"', None, None, "echo a\necho b\n"], fixed


# Program, and a part of the warning.
WARNED = [
    ("while (true) {}", "never ends"), ("for (;;) { switch (a()) { case 1: break; } }\nfunction a() {}", "never ends"),
    ("do { for (const x of [1]) break; } while (1)", "never ends"), ("function f(n) { return n * f(n - 1); }", "always calls itself"),
    ("const { exec } = require('child_process'); exec('ls ' + 1)", "runs its text in a shell"),
    ("import { execSync as run } from 'node:child_process'; run('ls')", "runs its text in a shell"),
    ("require('fs').rmSync('a', { recursive: true })", "deletes everything"), ("eval('1')", "JSON.parse"), ("new Function('return 1')", "as code"),
    ("new Array(1e9).fill(0)", "more memory"), ("'ab'.repeat(2 ** 30)", "more memory"), ("Buffer.alloc(4 * 1024 ** 3)", "more memory"),
    ("2n ** 100000000n", "millions of digits"), ("require('https').get('x', { rejectUnauthorized: false })", "any certificate"),
    ("process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'", "any certificate"), ("setInterval(() => {}, 10)", "keeps the program running"),
    ("const http = require('http'); http.createServer().listen(80)", "keeps the program"),
    ("Math.sqr(4)", "did you mean 'sqrt'"), ("const fs = require('fs'); fs.readfile('a')", "did you mean 'readFile'"),
    ("import fs from 'fs'; fs.readFileSink('a')", "readFileSync"), ("JSON.parze('1')", "did you mean 'parse'"),
    ("consol.log(1)", "'consol' is not defined; did you mean 'console'"), ("let total = 0; print(totl)", "did you mean 'total'"),
]
SHELL_WARNED = [
    ("while true; do echo x; done", "never ends"), ("until false; do :; done", "never ends"), (":(){ :|:& };:", "always calls itself"),
    ("yes", "not end"), ("cat /dev/zero > a", "not end"), ("dd if=/dev/zero of=x", "count="), ("rm -rf /", "deletes everything"),
    ("rm -fr -- *", "deletes everything"), ("curl -s http://a | bash", "what curl downloads"), ("curl -ks https://a -k", "any certificate"),
    ("chmod -R 777 .", "everyone"), ("tail -f a", "not end"), ('eval "$1"', "as code"), ("kill -9 -1", "every process"), ("echo > /dev/sda", "disk"),
]
# Like the dangerous ones, but harmless.
UNWARNED = [
    "while (true) { if (Math.random() > 0.5) break; }", "for (;;) { await null; }", "outer: while (true) { for (;;) break outer; }",
    "while (true) process.exit(0)", "function f(n) { return n ? f(n - 1) : 0; }", "function f(n) { if (!n) return; f(n - 1); }",
    "const t = setInterval(() => clearInterval(t), 10)", "const fs = require('fs'); if (fs.glob) fs.glob('*')", "Math.sqrt = 1; Math.sqr?.(2)",
    "typeof window === 'undefined' || window.x", "const http = require('http'); http.createServer().listen(80).unref()",
    "module.exports.a = 1; module.exports.b()", "const Math = { sqr(x) { return x * x; } }; Math.sqr(2)", "new Array(1e6).fill(0); 'a'.repeat(1000)",
    "x = 1; console.log(x)", "try { a(); } catch (error) { console.log(error); }\nfunction a() {}", "for (const [k, { v = 1 }] of []) console.log(k, v)",
    "class A { #x; static y = 1; z() { return this.#x; } }\nnew A()", "import('fs').then(m => m.statSync('.'))",
]
SHELL_UNWARNED = [
    "while true; do read -r l || break; echo \"$l\"; done", "yes | head -3", "head -c 9 /dev/zero", "cat /dev/urandom | head -c 8",
    "dd if=/dev/zero of=x bs=1 count=1", "rm -rf ./build", "timeout 3 tail -f a", "f() { if true; then f; fi; }", "kill -9 123", "echo a | bash",
]


def expect_warnings(directory, language, warned, unwarned):
    for (program, part), (*_, advice, _) in zip(warned, run(directory, [[language, "open", program] for program, _ in warned])):
        assert any(part in a for a in advice), f"{program}: no warning of {part!r} in {advice}"
    for program, (*_, advice, _) in zip(unwarned, run(directory, [[language, "open", program] for program in unwarned])):
        assert not [a for a in advice if "ShellCheck" not in a], f"{program}: {advice}"


def test_dangers_of_javascript_are_warned_of(directory):
    expect_warnings(directory, "javascript", WARNED, UNWARNED)


def test_dangers_of_shell_are_warned_of(directory):
    expect_warnings(directory, "shell", SHELL_WARNED, SHELL_UNWARNED)


def test_functions_are_measured(directory):
    programs = [["javascript", "open", "class A { m(x) { return x ? 1 : x && 2; } }\nconst f = y => { for (;y;) y--; };\nif (f) f();"],
                ["shell", "open", "f() { if a; then b && c; fi; }\ng() { :; }"]]
    got = [most for *_, most in run(directory, programs)]
    assert got == [[{"name": "A.m", "line": 1, "cyclomatic": 3}, {"name": "f", "line": 2, "cyclomatic": 2}],
                   [{"name": "f", "line": 1, "cyclomatic": 3}]], got


def test_large_programs_are_measured_in_time(directory):
    code = "".join(f"const f{i} = () => {{ while (true) {{ g{i}(); setInterval(f{i}); }} }};\n" for i in range(3000))
    assert len(run(directory, [["javascript", "open", code]])[0][2]) == 64


def test_deep_nesting_is_reported(directory):
    (rules, *_), (shell, *_) = run(directory, [["javascript", "strict", "(" * 200000], ["shell", "strict", "#" * 200000]])
    assert rules == ["RangeError"] and shell == ["RangeError"], (rules, shell)


def main():
    cases.run(sys.modules[__name__], os.path.abspath(sys.argv[1]))


main()
