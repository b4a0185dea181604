#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""install_package for Node, from a registry of this test: what a session gets, what it never gets, and which requests are refused.

    packages_node.py BIN
"""

import json
import os
import re
import sys
import tarfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import shop  # noqa: E402
from registry import integrity, Registry  # noqa: E402
from shop import INDEX, run, SESSIONS, session_of  # noqa: E402

REGISTRY = Registry(INDEX)
# As much of amaro as the test of TypeScript needs; e2e.packages_real has the real one.
STRIPPER = r"""
exports.transformSync = (text, { mode }) => {
	if (mode === 'strip-only' && /\benum\b/.test(text))
		throw { code: 'UnsupportedSyntax', message: 'TypeScript enum is not supported in strip-only mode', startLine: 1 };
	if (/= ;/.test(text))
		throw '  x Expression expected\n   ,-[2:1]\n 1 | let y=1\n';
	return { code: text.replace(/: (number|string)/g, all => ' '.repeat(all.length)).replace(/enum (\w+) {(\w+)}/, 'var $1 = { $2: 7 }') };
};
"""


def publish():
    for version in "1.0.0", "2.0.0":
        REGISTRY.add("base", version, {"lib/main.js": f"exports.version = '{version}';\n"}, {"main": "lib/main.js"})
    REGISTRY.add("greeter", "1.5.0", {
        "lib/main.js": "exports.version = '1.5.0';\nexports.greet = () => 'hello of ' + require('base').version;\n",
        "lib/main.mjs": "import base from 'base';\nexport const greet = () => 'hello of ' + base.version + ' as a module';\n",
        "cli.js": "#!/usr/bin/env node\nconsole.log(require('./lib/main.js').greet());\n"}, {
            "main": "lib/main.js", "exports": {".": {"import": "./lib/main.mjs", "require": "./lib/main.js"}},
            "dependencies": {"base": "^1"}, "bin": {"greeter-cli": "cli.js"}})
    REGISTRY.add("@scope/part", "0.1.0", {"index.js": "module.exports = 'part';\n"})
    REGISTRY.add("amaro", "0.1.9", {"index.js": STRIPPER})


def install(client, *packages, session, **more):
    return shop.install(client, *packages, session=session, language="node", **more)


def installed(client, *packages, session):
    return shop.installed(client, *packages, session=session, language="node")


def refused(client, *packages, session):
    return shop.refused(client, *packages, session=session, language="node")


def out(client, code, session, language="node"):
    return shop.out(client, code, session, language=language)


# ---- what a session gets ----

def test_a_running_session_gets_a_package_and_what_it_needs(cluster):
    session = session_of(cluster)
    for code in "const x = 41; require('greeter')", "require('base')", "import { greet } from 'greeter'", "await import('base')":
        assert not run(cluster, code, session, language="node")["success"]
    got = installed(cluster, "greeter", session=session)
    assert {name: (one["version"], one["asked"], one["cached"]) for name, one in got.items()} == {
        "greeter": ("1.5.0", True, False), "base": ("1.0.0", False, False)}, got
    assert got["base"]["integrity"] == integrity(INDEX.files["base-1.0.0.tgz"]), got
    assert out(cluster, "console.log(require('greeter').greet(), x + 1)", session) == "hello of 1.0.0 42\n"
    assert out(cluster, "import { greet } from 'greeter'; console.log(greet())", session) == "hello of 1.0.0 as a module\n"
    assert out(cluster, "console.log((await import('base')).default.version)", session) == "1.0.0\n"


def test_typescript(cluster):
    def call(code, **more):
        end = cluster.call("execute_code", {"code": code, **more})
        return end.get("structuredContent", end)

    for language in "typescript", "ts":
        end = call("const x: number = 41;\nconsole.log(x + 1, __filename)", language=language)
        assert end["stdout"] == "42 /workspace/code.js\n" and end["language"] == "typescript" and "notes" not in end, end
    assert call("enum Color {Red}\nColor.Red", language="typescript")["result"] == 7
    end = call("let y: number = 1;\nlet x: number = ;", language="typescript")
    assert (end["error"]["code"], end["error"]["line"], end["error"]["message"]) == ("syntax_error", 2, "Expression expected"), end
    end = call("let y: number = 1;\nthrow new Error('no')", language="typescript")
    assert end["error"]["line"] == 2 and "<code>:2\nthrow new Error('no')\n" in end["stderr"], end
    assert "set language to typescript" in call("let y: number = 1", language="node")["error"]["hint"]


def test_typescript_is_checked(cluster):
    def check(code, **more):
        return cluster.call("validate_code", {"code": code, "language": "typescript", **more})["structuredContent"]

    got = check("const x: number = 1;\nfunction f(a: number) { return a ? x : 2; }\nrequire('fs')")
    assert [(f["line"], f["column"], f["rule"]) for f in got["findings"]] == [(3, 9, "forbidden-import")], got
    assert got["analysis"]["most_complex"] == [{"name": "f", "line": 2, "cyclomatic": 2}], got
    got = check("let y: number = 1;\nlet x: number = ;", profile="open")
    assert [(f["line"], f["rule"], f["message"]) for f in got["findings"]] == [(2, "syntax-error", "Expression expected")], got
    got = check("```ts\nconst s: string = “a”;\n```", auto_fix=True)
    assert got["fixed_code"] == 'const s: string = "a";\n', got
    assert "say language=typescript" in json.dumps(cluster.call("validate_code", {"code": "let y: number = 1", "language": "node"}))


def test_profiles_hold_for_typescript(cluster):
    def call(code):
        return cluster.call("execute_code", {"code": code, "language": "typescript", "profile": "strict"})["structuredContent"]

    assert call("const x: number = 41;\nx + 1")["result"] == 42
    end = call("const x: number = 41;\nrequire('fs')")
    assert (end["error"]["code"], end["error"]["line"]) == ("policy_violation", 2), end
    assert call("let k: string = 'constructor'; (() => 1)[k]('return 1')()")["success"] is False


def test_a_session_in_typescript(cluster):
    made = cluster.call("create_session", {"language": "typescript"})["structuredContent"]
    session = made["session_id"]
    SESSIONS.append(session)
    assert made["language"] == "typescript", made
    assert run(cluster, "let x: number = 1; const part: string = 'a'", session)["success"]
    assert run(cluster, "x + 1", session, language="node")["result"] == 2
    assert not run(cluster, "let z: number = 1", session, language="node")["success"]
    installed(cluster, "greeter", session=session)
    end = run(cluster, "import { greet } from 'greeter';\nconst text: string = greet() + part;\ntext", session)
    assert end["result"] == "hello of 1.0.0 as a modulea" and end["language"] == "typescript", end
    assert run(cluster, "echo $0", session, language="shell")["success"]


def test_a_new_session_gets_it_cached(cluster):
    first, second = session_of(cluster), session_of(cluster)
    installed(cluster, "greeter", session=first)
    before = len(INDEX.asked)
    assert all(one["cached"] for one in installed(cluster, "greeter", session=second).values())
    assert len(INDEX.asked) == before, INDEX.asked[before:]
    assert out(cluster, "console.log(require('greeter').greet())", second) == "hello of 1.0.0\n"


def test_its_commands_are_found(cluster):
    session = session_of(cluster)
    installed(cluster, "greeter", session=session)
    assert out(cluster, "greeter-cli", session, "shell") == "hello of 1.0.0\n"
    assert out(cluster, "console.log(require('child_process').execSync('greeter-cli').toString())", session) == "hello of 1.0.0\n\n"
    assert out(cluster, "print(6 * 7)", session, "python") == "42\n"


def test_a_second_installation_keeps_the_first(cluster):
    session = session_of(cluster)
    installed(cluster, "greeter", session=session)
    assert set(installed(cluster, "@scope/part@^0.1", session=session)) == {"greeter", "base", "@scope/part"}
    assert out(cluster, "console.log(require('greeter').greet(), require('@scope/part'))", session) == "hello of 1.0.0 part\n"
    refused(cluster, "missing-package", session=session)
    assert out(cluster, "console.log(require('greeter').greet(), require('@scope/part'))", session) == "hello of 1.0.0 part\n"
    installed(cluster, "greeter", session=session)
    assert out(cluster, "node -p \"require('@scope/part')\"", session, "shell") == "part\n"


def test_versions(cluster):
    """A later request for a package replaces the earlier; another version of it may lie below one that needs it."""
    session = session_of(cluster)
    assert installed(cluster, "base", session=session)["base"]["version"] == "2.0.0"
    assert out(cluster, "console.log(require('base').version)", session) == "2.0.0\n"
    got = installed(cluster, "greeter", session=session)
    assert got["base"]["version"] == "2.0.0" and got["greeter>base"]["version"] == "1.0.0", got
    assert out(cluster, "console.log(require('base').version, require('greeter').greet())", session) == "2.0.0 hello of 1.0.0\n"
    assert set(got := installed(cluster, "base@1", session=session)) == {"base", "greeter"} and got["base"]["version"] == "1.0.0", got
    assert out(cluster, "node -p \"require('base').version\"", session, "shell") == "1.0.0\n"


def test_beside_packages_of_python(cluster):
    session = session_of(cluster)
    shop.installed(cluster, "free", session=session)
    installed(cluster, "base", session=session)
    shop.installed(cluster, "base==1.0", session=session)
    assert out(cluster, "import base, free; print(base.version, free.x)", session, "python") == "1.0 1\n"
    assert out(cluster, "console.log(require('base').version)", session) == "2.0.0\n"


def test_a_run_and_a_new_session_name_their_packages(cluster):
    alone = {"code": "console.log(require('base').version)", "language": "node"}
    assert cluster.call("execute_code", {**alone, "packages": ["base@1"]})["structuredContent"]["stdout"] == "1.0.0\n"
    assert "Cannot find module" in cluster.call("execute_code", alone)["structuredContent"]["stderr"]
    session = session_of(cluster)
    end = run(cluster, alone["code"], session, language="node", packages=["base"])
    assert end["stdout"] == "2.0.0\n" and "Installed: base 2.0.0" in str(end["notes"]), end
    assert out(cluster, alone["code"], session) == "2.0.0\n"
    end = cluster.call("create_session", {"language": "node", "packages": ["greeter"]})
    SESSIONS.append(end["structuredContent"]["session_id"])
    assert out(cluster, "console.log(require('greeter').greet())", SESSIONS[-1]) == "hello of 1.0.0\n"
    end = cluster.call("create_session", {"language": "node", "packages": ["missing-package"]})
    assert end["isError"] and "install_failed" in end["content"][0]["text"], end


# ---- what it does not get ----

def test_programs_cannot_change_them(cluster):
    session = session_of(cluster)
    installed(cluster, "greeter", session=session)
    seen = json.loads(out(cluster, """
const fs = require('fs'), seen = {};
for (const [name, go] of Object.entries({
    write: () => fs.openSync('/node_modules/greeter/lib/main.js', 'r+'), unlink: () => fs.unlinkSync('/node_modules/greeter/cli.js'),
    chmod: () => fs.chmodSync('/node_modules/greeter', 0o777), create: () => fs.writeFileSync('/node_modules/x', ''),
    rename: () => fs.renameSync('/node_modules/greeter', '/node_modules/other'), mkdir: () => fs.mkdirSync('/node_modules/y'),
    rmdir: () => fs.rmSync('/node_modules', { recursive: true }), move: () => fs.renameSync('/node_modules', '/moved') })) {
    try { go(); seen[name] = 'done'; } catch (error) { seen[name] = error.code; }
}
console.log(JSON.stringify(seen));
""", session))
    assert len(seen) == 8 and set(seen.values()) <= {"EROFS", "EPERM", "EACCES", "EBUSY", "EXDEV"}, seen
    assert out(cluster, "console.log(require('greeter').greet())", session) == "hello of 1.0.0\n"


def test_another_session_sees_nothing(cluster):
    with_it, without = session_of(cluster), session_of(cluster)
    installed(cluster, "greeter", session=with_it)
    assert out(cluster, "const fs = require('fs'); console.log(fs.readdirSync('/node_modules').length); try { require('greeter') } catch (error) { console.log(error.code) }", without) == \
        "0\nMODULE_NOT_FOUND\n"
    assert out(cluster, "console.log(require('fs').readdirSync('/workspace').length)", with_it) == "0\n"


def test_the_audit_log_has_what_was_installed(cluster):
    session = session_of(cluster)
    got, until = installed(cluster, "greeter", session=session), time.monotonic() + 10
    wanted = sorted(f"{name} {one['version']} sha256:{one['sha256']}" for name, one in got.items())
    while (seen := sorted(events(cluster, session))) != wanted:  # the log is written later
        assert time.monotonic() < until, seen
        time.sleep(0.05)


def events(cluster, session):
    entries = cluster.call("audit_execution", {"limit": 1000, "event": "package.installed"})["structuredContent"]["entries"]
    return [entry["event"]["detail"] for entry in entries if entry["event"].get("session_id") == session]


# ---- requests ----

def test_what_is_no_name(cluster):
    session, before = session_of(cluster), len(INDEX.asked)
    for wrong in ("http://elsewhere.test/x.tgz", "x@http://elsewhere.test/x.tgz", "git+https://elsewhere.test/x", "github:a/b", "a/b", "x@a/b", "git@elsewhere.test:a/b",
                  "./x", "../x", "/etc", "~/x", "file:x", "x@file:/etc", "x.tgz", ".", "x@npm:base", "x@npm:base@1", "--registry=http://elsewhere.test", "-g",
                  "x --global", "base\\n--global", "", " ", "@scope", "base@>=1 || http://elsewhere.test/x", "__proto__@x:y", "a" * 256):
        code, text = refused(cluster, wrong, session=session)
        assert code == "invalid_argument", (wrong, text)
    assert len(INDEX.asked) == before, INDEX.asked[before:]
    assert out(cluster, "console.log(require('fs').readdirSync('/node_modules').length)", session) == "0\n"


def test_a_name_that_looks_like_a_misspelling(cluster):
    for name in "lodahs", "expres", "@scope/part":
        REGISTRY.add(name, "1.0.0", {"index.js": ""})
    session, before = session_of(cluster), len(INDEX.asked)
    for wrong, right in ("lodahs", "lodash"), ("expres@^1", "express"):
        code, text = refused(cluster, wrong, session=session)
        assert code == "invalid_argument" and f"did you mean {right}" in text and len(INDEX.asked) == before, text
    end = install(cluster, "lodahs", "@scope/part", session=session, unusual_names=True)
    assert not end.get("isError"), end


def test_package_json_of_the_workspace(cluster):
    session = session_of(cluster)

    def put(text):
        assert out(cluster, f"open('package.json', 'w').write({text!r})", session, language="python") == ""

    def ask(**more):
        return cluster.call("install_package", {"session_id": session, "language": "node", "from_workspace": True, **more})

    assert "package.json" in ask()["content"][0]["text"]
    for text, says in (("{", "package.json, line 1"), ('{"dependencies": []}', "is no object"), ('{"dependencies": {"base": 1}}', "base: no range"),
                       ('{"dependencies": {"base": "%s"}}' % ("1" * 300), "base: no range"), ("{}", "names no package"),
                       (json.dumps({"dependencies": {f"p{n}": "1" for n in range(65)}}), "more than 64 packages"),
                       ('{"dependencies": {"base": "file:/etc"}}', "is not a name"), ('{"dependencies": {"base": "git+ssh://x/y"}}', "is not a name")):
        put(text)
        end = ask()
        assert end.get("isError") and says in end["content"][0]["text"], (text, end)
    put('{"dependencies": {"base": "^1"}, "devDependencies": {"nowhere": "1"}, "scripts": {"install": "exit 1"}}')
    got = {one["name"]: one["version"] for one in ask(packages=["@scope/part"])["structuredContent"]["packages"]}
    assert got == {"base": "1.0.0", "@scope/part": got["@scope/part"]}, got
    assert out(cluster, "console.log(require('base').version)", session) == "1.0.0\n"


def test_names_and_versions_that_the_registry_does_not_have(cluster):
    session = session_of(cluster)
    installed(cluster, "base@1", session=session)
    REGISTRY.add("peer", "1.0.0", {"index.js": ""}, {"peerDependencies": {"base": "^2"}})
    for wrong, *words in ("peer", "unable to resolve", "peer base@"), ("missing-package", "404", "missing-package"), ("base@7", "base@7"), ("base@nightly", "base@nightly"):
        code, text = refused(cluster, wrong, session=session)
        assert code == "install_failed" and all(word in text for word in words), text
    assert out(cluster, "console.log(require('base').version)", session) == "1.0.0\n"


def test_a_call_that_is_cancelled(cluster):
    REGISTRY.add("slow", "1.0.0", {"index.js": ""})
    session, client = session_of(cluster), cluster.client()
    installed(cluster, "base@1", session=session)
    for path in "/npm/slow", "/files/slow-1.0.0.tgz":
        with INDEX.holds(path) as held:
            waiting = client.begin("tools/call", {"name": "install_package", "arguments": {"packages": ["slow"], "session_id": session, "language": "node"}})
            assert held.wait(20), path
            client.notify("notifications/cancelled", {"requestId": waiting.id})
            until = time.monotonic() + 10
            while (end := install(cluster, "base@2", session=session)).get("isError"):
                assert "session_busy" in end["content"][0]["text"] and time.monotonic() < until, end
                time.sleep(0.05)
        assert out(cluster, "node -p \"require('base').version\"; ls /node_modules", session, "shell") == "2.0.0\nbase\n"


# ---- hostile registries and archives ----

def fails(cluster, package, *words, code="install_failed"):
    """It fails with these words, and the session keeps what it had."""
    session = session_of(cluster)
    installed(cluster, "base@1", session=session)
    got, text = refused(cluster, package, session=session)
    assert got == code and all(word in text for word in words), text
    assert out(cluster, "node -p \"require('base').version\"; ls -A /node_modules", session, "shell") == "1.0.0\n.package-lock.json\nbase\n"


def test_a_digest_that_does_not_match(cluster):
    REGISTRY.add("forged", "1.0.0", {"index.js": ""}, digest=integrity(b"other"))
    fails(cluster, "forged", "integrity")


def test_other_hosts(cluster):
    """The network of the box that fetches has the registry only."""
    INDEX.redirects["/npm/moved"] = f"http://elsewhere.test:{INDEX.port}/npm/base"
    REGISTRY.add("linked", "1.0.0", {"index.js": ""}, host="elsewhere.test")
    REGISTRY.add("needs-url", "1.0.0", {"index.js": ""}, {"dependencies": {"x": f"http://elsewhere.test:{INDEX.port}/x.tgz"}})
    for package in "moved", "linked", "needs-url":
        began = time.monotonic()
        fails(cluster, package, "the network refused elsewhere.test", code="unavailable")
        assert time.monotonic() - began < 10
    assert "elsewhere.test" not in str(INDEX.hosts) and "elsewhere.test" not in str(INDEX.questions), (INDEX.hosts, INDEX.questions)


def test_pages_that_are_no_pages(cluster):
    INDEX.pages["/npm/noise"] = os.urandom(100000)
    INDEX.pages["/npm/odd"] = json.dumps({"name": "odd", "dist-tags": {"latest": "../../x"}, "versions": {"../../x": {"name": "../../etc", "version": "1"}}}).encode()
    INDEX.pages["/npm/empty"] = b"[]"
    for package in "noise", "odd", "empty":
        fails(cluster, package)


def test_no_script_of_a_package_runs(cluster):
    """Neither at its installation nor later; a program may read the scripts."""
    touch = "node -e \"require('fs').writeFileSync(process.env.INIT_CWD + '/node_modules/ran', ''); require('http').get('http://index.test:%d/ran')\"" % INDEX.port
    REGISTRY.add("scripted", "1.0.0", {"index.js": "", "binding.gyp": "{}"}, {
        "hasInstallScript": True, "scripts": {name: touch for name in ("preinstall", "install", "postinstall", "prepare", "preprepare")}})
    session = session_of(cluster)
    installed(cluster, "scripted", session=session)
    assert out(cluster, "ls /node_modules", session, "shell") == "scripted\n"
    assert "/ran" not in INDEX.asked


def test_names_that_lead_out(cluster):
    outside = {name: "x" for name in ("package/../../../up1", "../../up2", "/workspace/up3", "package/../up4", "//up5", "package/./../../report", "other/up6")}
    links = [("package/link", (tarfile.SYMTYPE, "/etc")), ("package/link/up7", (tarfile.SYMTYPE, "/etc/passwd")),
             ("package/hard", (tarfile.LNKTYPE, "/etc/passwd")), ("package/hard2", (tarfile.LNKTYPE, "../../package.json")),
             ("package/up8", (tarfile.CHRTYPE, "")), ("package/up9", (tarfile.FIFOTYPE, ""))]
    REGISTRY.add("outward", "1.0.0", {"index.js": "module.exports = 1;\n", "suid": "x"}, {"bin": {"../../up10": "index.js", "up11": "../../../etc/passwd"}},
                 outside=outside, links=links, modes={"package/suid": 0o6777})
    session = session_of(cluster)
    got = installed(cluster, "outward", "base@1", session=session)
    assert {name: one["version"] for name, one in got.items()} == {"outward": "1.0.0", "base": "1.0.0"}, got
    seen = out(cluster, "cd /node_modules; find . -type l -printf '%p -> %l\\n' -o -printf '%p %y\\n' | sort; find . -perm /7022 ! -type l", session, "shell")
    assert re.sub(r"^\./(base|outward/(workspace/)?up[3-6] f).*\n", "", seen, flags=re.M) == (
        ". d\n./.bin d\n./.bin/up10 -> ../outward/index.js\n./.package-lock.json f\n./outward d\n./outward/index.js f\n./outward/package.json f\n"
        "./outward/suid f\n./outward/workspace d\n"), seen
    assert out(cluster, "ls -A / /tmp /workspace /usr/local /packages/* | grep up || echo none", session, "shell") == "none\n"


def test_a_file_that_cannot_be_written(cluster):
    """npm itself leaves it out, and says that all is well."""
    REGISTRY.add("long", "1.0.0", {"index.js": "", "a" * 300: ""})
    fails(cluster, "long", "ENAMETOOLONG")


def test_too_many_bytes(cluster):
    """--package-mb=16 is given here: for an archive, and for what is in it."""
    REGISTRY.add("bomb", "1.0.0", {"zeros": bytes(64 << 20)})
    REGISTRY.add("fat", "1.0.0", {"noise": os.urandom(20 << 20)})
    for package in "bomb", "fat":
        fails(cluster, package, "no space left")


def test_an_installation_after_all_that(cluster):
    session = session_of(cluster)
    installed(cluster, "greeter", session=session)
    assert out(cluster, "console.log(require('greeter').greet())", session) == "hello of 1.0.0\n"


if __name__ == "__main__":
    publish()
    shop.play(sys.modules[__name__], sys.argv[1])
