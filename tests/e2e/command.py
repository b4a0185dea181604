#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The `cloister` command as its user sees it: run, serve, up, status and down, with real daemons.

    command.py BIN
"""

import base64
import hashlib
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from commands import Command  # noqa: E402
import daemons  # noqa: E402
import peers  # noqa: E402


def test_run_gives_what_the_program_gave(cloister):
    path = cloister.program_file("import sys\nprint('out', 6 * 7)\nprint('err', file=sys.stderr)\nsys.exit(3)\n")
    run = cloister("run", path)
    assert (run.returncode, run.stdout, run.stderr) == (3, b"out 42\n", b"err\n"), run
    assert cloister("run", cloister.program_file("print('fine')\n")).returncode == 0


def test_a_link_named_after_a_system_serves_its_tools(cloister):
    asked = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{' \
            b'"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}\n'
    for name, arguments, tool in (("sandboxmcp", ["serve"], "bridge_data"), ("mcp-code-sandbox", [], "sandbox_run_python"),
                                  ("python-sandbox", ["--transport", "stdio"], "get_sandbox_info")):
        link = os.path.join(cloister.directory, name)
        os.symlink(cloister.program, link)
        ran = subprocess.run([link, *arguments], env=cloister.env, input=asked, capture_output=True, check=False, timeout=60)
        tools = {one["name"] for one in json.loads(ran.stdout.splitlines()[0])["result"]["tools"]}
        assert tool in tools and "create_state_snapshot" not in tools, (name, tools)


def test_run_keeps_or_names_what_the_program_made(cloister):
    text = "import os\nos.makedirs('d/e')\nopen('d/e/a.txt', 'w').write('hello')\nopen('big', 'wb').write(b'x' * 9000000)\nprint('done')\n"
    named = cloister("run", cloister.program_file(text))
    assert (named.returncode, named.stdout) == (0, b"done\n") and b"made d/e/a.txt; --out=DIR" in named.stderr, named
    out = os.path.join(cloister.directory, "out")
    for flags in ["--out=" + out], ["--out", out]:  # again: replaces
        kept = cloister("run", *flags, cloister.program_file(text))
        assert (kept.returncode, kept.stdout) == (0, b"done\n") and f"{out}/d/e/a.txt".encode() in kept.stderr, kept
        with open(os.path.join(out, "d", "e", "a.txt"), "rb") as small, open(os.path.join(out, "big"), "rb") as big:
            assert small.read() == b"hello" and big.read() == b"x" * 9000000
    assert cloister("session", "list").stdout == b"none\n", "the run's session has ended"
    assert cloister("run", "--out").returncode == 2


def test_run_writes_through_no_link(cloister):
    """The program chose the names, and somebody may have put a link where it is written."""
    out, aim = (os.path.join(cloister.directory, name) for name in ("linked", "aim"))
    os.makedirs(out)
    os.symlink(aim, os.path.join(out, "a"))
    os.symlink(cloister.directory, os.path.join(out, "b"))
    refused = cloister("run", "--out=" + out, cloister.program_file("import os\nopen('a', 'w').write('x')\nos.mkdir('b')\nopen('b/aim', 'w').write('x')\n"))
    assert refused.returncode == 125 and refused.stderr.count(b"is not kept") == 2 and not os.path.exists(aim), refused


def test_figures_are_kept_too(cloister):
    if subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], check=False, stderr=subprocess.DEVNULL).returncode != 0:
        raise cases.Skip("matplotlib is not installed")
    out = os.path.join(cloister.directory, "figures")
    kept = cloister("run", "--out=" + out, cloister.program_file(
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.savefig('p.png')\nplt.figure()\nplt.plot([2, 1])\nplt.show()\n"))
    assert kept.returncode == 0 and sorted(os.listdir(out)) == ["figure-1.png", "p.png"], (kept, os.listdir(out))
    for name in os.listdir(out):
        with open(os.path.join(out, name), "rb") as file:
            assert file.read(8) == b"\x89PNG\r\n\x1a\n", name


def venv_at(parent):
    """A virtual environment with a module of its own."""
    where = os.path.join(parent, "venv")
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", where], check=True)
    site = subprocess.run([where + "/bin/python", "-c", "import site; print(site.getsitepackages()[0])"], capture_output=True, text=True, check=True).stdout.strip()
    with open(os.path.join(site, "of_the_venv.py"), "w", encoding="ascii") as module:
        module.write("x = 42\n")
    return where


def test_a_venv_is_used_wherever_it_is(cloister):
    """Its prefix is visible, read-only, and nothing beside it; where that cannot be, the error says why."""
    code = "import of_the_venv, os, subprocess, sys\nprint(of_the_venv.x, sys.prefix, sorted(os.listdir(os.path.dirname(sys.prefix))))\n" \
           "print(subprocess.run([sys.executable, '-c', 'import of_the_venv; print(1)'], capture_output=True, text=True).stdout)\n" \
           "try: open(sys.prefix + '/x', 'w')\nexcept OSError as error: print(error.errno)\n"

    def run(venv):
        assert cloister("down").returncode == 0
        config = cloister.program_file(f"executor: {{python: {venv}/bin/python}}\n", "venv.yaml")
        return cloister("run", "--config=" + config, cloister.program_file(code))

    home = tempfile.mkdtemp(prefix=".cloister-venv-", dir="/var/tmp")
    try:
        os.chmod(home, 0o755)
        where = venv_at(home)
        open(os.path.join(home, "beside"), "w", encoding="ascii").close()
        done = run(where)
        assert done.stdout.decode().split("\n")[:4] == [f"42 {where} ['venv']", "1", "", "30"], done
        if os.geteuid() == 0:
            os.chmod(where, 0o700)
            closed = run(where)
            assert closed.returncode == 125 and b"programs may not read " + where.encode() in closed.stderr, closed
        os.makedirs(home + "/plain/bin")
        os.symlink("/usr/bin/python3", home + "/plain/bin/python")
        plain = run(home + "/plain")
        assert plain.returncode == 125 and b"is no virtual environment" in plain.stderr, plain
    finally:
        shutil.rmtree(home)
    inside = run(venv_at(cloister.directory))
    assert inside.returncode == 125 and b"a box has a /tmp/ of its own" in inside.stderr, inside
    assert cloister("down").returncode == 0


def test_run_gives_arguments_and_input(cloister):
    path = cloister.program_file("import sys\nprint(sys.argv[1:], repr(sys.stdin.buffer.read()))\n")
    for words, arguments in (([], []), (["one", "--two"], ["one", "--two"]), (["--", "--timeout=x", "--"], ["--timeout=x", "--"]),
                             (["--timeout", "9", "-x", "--json"], ["-x", "--json"]), (["a", "--help"], ["a", "--help"])):
        for given in b"", b"a\n\x00\xff":
            run = cloister("run", path, *words, input=given)
            assert (run.returncode, run.stdout) == (0, f"{arguments} {given!r}\n".encode()), (words, run)
    assert b"usage" in cloister("run", path, "--help").stdout.lower()
    run = cloister("run", "--language=shell", "-", "two words", input=b'echo "$1"; cat')
    assert run.stdout == b"two words\n", run
    run = cloister("run", path, input=bytes((1 << 20) + 1))
    assert run.returncode == 125 and b"stdin: over the limit of 1048576 bytes" in run.stderr, run
    assert cloister("run", path, b"\xff").returncode == 2


def test_run_reads_a_program_from_stdin(cloister):
    run = cloister("run", "-", input="print('grüße')\n".encode())
    assert (run.returncode, run.stdout) == (0, "grüße\n".encode()), run


def test_run_speaks_a_files_language(cloister):
    for name, text in ("a.js", "console.log(42)"), ("a.sh", "echo $((6 * 7))"), ("a.txt", "print(42)"), ("a.b/c", "print(42)"):
        os.makedirs(os.path.join(cloister.directory, os.path.dirname(name)), exist_ok=True)
        run = cloister("run", cloister.program_file(text, name))
        assert (run.returncode, run.stdout) == (0, b"42\n"), (name, run)
    assert cloister("run", "--language=shell", "-", input=b"echo $0 | wc -l").stdout == b"1\n"
    run = cloister("run", "--language=cobol", "-", input=b"x")
    assert run.returncode == 125 and b"cobol" in run.stderr, run


def test_run_tells_all_as_json(cloister):
    run = cloister("run", "--json", cloister.program_file("result = {'a': [1, 2]}\nprint('x')\n"))
    told = json.loads(run.stdout)
    assert run.returncode == 0 and told["success"] and told["result"] == {"a": [1, 2]} and told["stdout"] == "x\n", told
    assert told["isolation"]["layers"], told


def test_run_tells_exceptions_and_signals(cloister):
    run = cloister("run", cloister.program_file("1 / 0\n"))
    assert run.returncode == 1 and b"ZeroDivisionError" in run.stderr, run
    run = cloister("run", cloister.program_file("import os\nos.kill(os.getpid(), 9)\n"))
    assert run.returncode == 128 + 9 and b"killed" in run.stderr, run


def test_run_works_at_the_lowest_priority(cloister):
    """ZeroMQ gives its threads the scheduling policy of their parent, so the jail must allow it."""
    for policy in "--idle", "--batch":
        command = ["chrt", policy, "0", cloister.program, "run", cloister.program_file("print('idle')\n")]
        run = subprocess.run(command, env=cloister.env, capture_output=True, timeout=120, check=False)
        assert (run.returncode, run.stdout) == (0, b"idle\n"), run


def test_run_refuses_what_it_cannot_run(cloister):
    for arguments, why in [(["/no/such/file.py"], b"No such file"),
                           ([cloister.program_file(b"print('\xff')\n", "bytes.py")], b"UTF-8"),
                           ([cloister.program_file("x = 1\n" * 200000, "long.py")], b"1048576"),
                           ([cloister.program_file("", "empty.py")], b"code"),
                           ([], b"usage")]:
        run = cloister("run", *arguments)
        assert run.returncode in (2, 125) and why in run.stderr and not run.stdout, (arguments, run)


def on_terminal(command, env):
    """What a command shows on a terminal, and when each line first appeared."""
    main, side = pty.openpty()
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=side, stderr=side)
    os.close(side)
    shown, times = b"", {}
    while True:
        try:
            shown += os.read(main, 4096)
        except OSError:  # the other side is closed
            break
        for line in shown.splitlines():
            times.setdefault(line, time.monotonic())
    os.close(main)
    return process.wait(30), shown, times


def test_run_shows_output_as_it_comes_on_a_terminal(cloister):
    path = cloister.program_file("import sys, time\nprint('first', flush=True)\ntime.sleep(1)\n"
                                 "print('other', file=sys.stderr, flush=True)\ntime.sleep(1)\nprint('last')\n")
    status, shown, times = on_terminal([cloister.program, "run", path], cloister.env)
    assert status == 0 and shown == b"first\r\nother\r\nlast\r\n", (status, shown)
    assert times[b"other"] - times[b"first"] > 0.5 and times[b"last"] - times[b"other"] > 0.5, times


def test_run_shows_output_as_it_comes_in_a_pipe(cloister):
    path = cloister.program_file("import sys, time\nprint('first', flush=True)\ntime.sleep(1)\n"
                                 "print('other', file=sys.stderr, flush=True)\ntime.sleep(1)\nprint('last')\n")
    run = subprocess.Popen([cloister.program, "run", path], env=cloister.env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first, one = run.stdout.readline(), time.monotonic()
    other, two = run.stderr.readline(), time.monotonic()
    last, three = run.stdout.read(), time.monotonic()
    assert (first, other, last, run.stderr.read(), run.wait(30)) == (b"first\n", b"other\n", b"last\n", b"", 0), (first, last)
    assert two - one > 0.5 and three - two > 0.5, (one, two, three)


# Progress notifications omit much of it; what is printed has all of it, once.
def test_run_prints_much_output_once_in_a_pipe(cloister):
    for code in ("for n in range(100000):\n    print(n)\n",
                 "import time\nfor n in range(100000):\n    print(n, flush=n % 7000 == 0)\n    n % 9000 or time.sleep(.06)\n"):
        run = cloister("run", cloister.program_file(code))
        whole = b"".join(b"%d\n" % n for n in range(100000))
        assert run.returncode == 0 and run.stdout == whole, (len(run.stdout), len(whole), run.stderr)
    # A program that prints the mark of a gap loses nothing.
    code = "import time\nprint('\\n[... 5 bytes came too fast to be shown ...]\\nx', flush=True)\ntime.sleep(.3)\nprint('y')\n"
    run = cloister("run", cloister.program_file(code))
    assert run.stdout == b"\n[... 5 bytes came too fast to be shown ...]\nx\ny\n", run


def test_run_shows_all_of_much_output(cloister):
    path = cloister.program_file("for n in range(40000):\n    print(n)\n")
    status, shown, _ = on_terminal([cloister.program, "run", path], cloister.env)
    whole = b"".join(b"%d\r\n" % n for n in range(40000))
    assert status == 0 and shown == whole, shown[-300:]


def test_daemons_end_when_nobody_needs_them(cloister):
    assert cloister("run", cloister.program_file("pass\n")).returncode == 0
    end = time.monotonic() + 20
    while cloister("status").returncode == 0:
        assert time.monotonic() < end, cloister("status").stdout
        time.sleep(0.3)
    assert cloister("status").returncode == 3
    assert json.loads(cloister("status", "--json").stdout) == {"daemons": []}


def test_up_stays_until_down(cloister):
    up = cloister("up")
    assert up.returncode == 0, up
    for name in daemons.SERVERS:
        line = next(line for line in up.stdout.decode().splitlines() if line.startswith(name))
        assert "ready" in line, line
    time.sleep(2)
    status = json.loads(cloister("status", "--json").stdout)
    assert status["stays"] and status["ready"] and len(status["daemons"]) == len(daemons.SERVERS), status
    assert cloister("run", cloister.program_file("print(1)\n")).stdout == b"1\n"
    assert cloister("down").returncode == 0
    assert cloister("status").returncode == 3


def test_serve_answers_before_any_daemon_is_up(cloister):
    """The daemons are delayed: the program in place of auditd waits; discovery does not."""
    held = os.path.join(cloister.directory, "bin")
    shutil.copytree(os.path.dirname(cloister.program), held)
    for name in daemons.SERVERS:
        with open(os.path.join(held, "cloister-" + name), "wb") as program:
            program.write(b"#!/bin/sh\nexec sleep 60\n")
    began = time.monotonic()
    with daemons.Client([os.path.join(held, "cloister"), "serve"], env=cloister.env, stderr=subprocess.DEVNULL) as client:
        found = client.request("server/discover")
        took = time.monotonic() - began
    assert "2026-07-28" in found["supportedVersions"] and took < 2, (found, took)
    subprocess.run([os.path.join(held, "cloister"), "down"], env=cloister.env, check=True, capture_output=True)


def test_keys_are_made_once(cloister):
    directory = os.path.join(cloister.directory, "keys")
    assert cloister("keys", directory).returncode == 0
    made = {name: open(os.path.join(directory, name), "rb").read() for name in os.listdir(directory)}
    assert {name for name in made if name.endswith(".key")} == {n + ".key" for n in [*daemons.SERVERS, "gateway"]}
    assert all(os.stat(os.path.join(directory, n)).st_mode & 0o777 == 0o600 for n in made if n.endswith(".key"))
    assert cloister("keys", directory).returncode == 0
    assert made == {name: open(os.path.join(directory, name), "rb").read() for name in os.listdir(directory)}


def bring_up(cloister):
    """Under load one daemon has stayed away here for 20 s; what it says is shown, and all are started once more."""
    up = cloister("up")
    if up.returncode != 0:
        print(up, cloister("status").stdout.decode(), sep="\n", flush=True)
        assert cloister("down").returncode == 0
        up = cloister("up")
    assert up.returncode == 0, up


def test_verify_tells_what_a_run_left(cloister):
    bring_up(cloister)
    made = cloister("run", "--json", cloister.program_file("open('a b.txt', 'w').write('hello')\nopen('c', 'w').write('x')\n"))
    told = json.loads(made.stdout)
    artifact = next(a for a in told["artifacts"] if a["filename"] == "a b.txt")

    def verify(content, value, *flags):
        return cloister("verify", *flags, cloister.program_file(content, "copy"),
                        cloister.program_file(json.dumps(value), "artifact.json"))

    for value in artifact, told, {"result": {"structuredContent": told}}:
        good = verify("hello", value)
        assert good.returncode == 0 and b"good: a b.txt of exec_" in good.stdout and good.stderr == b"", good
    status = json.loads(cloister("status", "--json").stdout)
    assert verify("hello", artifact, "--key=" + status["artifact_key"]).returncode == 0
    assert status["artifact_key"].encode() in cloister("status").stdout
    for content, value, flags, why in [
            ("hellO", artifact, [], b"content"), ("hello", {}, [], b"content"), ("x", artifact, [], b"content"),
            ("hello", {**artifact, "filename": "other"}, [], b"signature"),
            ("hello", {**artifact, "mime_type": "image/png"}, [], b"signature"),
            ("hello", {**artifact, "size": 6}, [], b"size"),
            ("hello", {**artifact, "signature": "AAAA"}, [], b"signature"),
            ("hello", artifact, ["--key=" + base64.b64encode(bytes(32)).decode()], b"signature"),
            ("hello", artifact, ["--key=AAAA"], b"key")]:
        bad = verify(content, value, *flags)
        assert bad.returncode == 1 and why in bad.stderr and bad.stderr.count(b"\n") == 1, (value, bad)
    assert cloister("verify", "x").returncode == 2
    secret = os.path.join(cloister.directory, "state", "executor", "artifact.key")
    assert os.stat(secret).st_mode & 0o777 == 0o600


def test_verify_shows_whether_a_log_holds_a_checkpoint(cloister):
    bring_up(cloister)
    told = json.loads(cloister("run", "--json", cloister.program_file("print(1)\n")).stdout)
    log = os.path.join(cloister.directory, "state", "auditd", "audit.log")
    checkpoint = told["audit_checkpoint"]
    number = checkpoint.splitlines()[1]
    note = cloister.program_file(checkpoint, "checkpoint")
    for since in checkpoint, "@" + note:
        good = cloister("verify", log, "--since=" + since)
        assert good.returncode == 0 and f"since {number} holds".encode() in good.stdout, good
    cut = cloister.program_file(open(log, "rb").read()[:4], "cut")
    key = "--key=@" + os.path.join(os.path.dirname(log), "audit.pub")
    bad = cloister("verify", "--since=" + checkpoint, cut, key)
    assert bad.returncode == 3 and b"truncated" in bad.stderr, bad  # VERDICT_TRUNCATED
    other = checkpoint.replace(f"\n{number}\n", f"\n{number}1\n", 1)  # the digits may also occur in the key's name
    assert cloister("verify", "--since=" + other, log).returncode == 6
    assert cloister("verify", "--since=" + checkpoint).returncode == 2


def test_settings_that_are_not_in_force_are_named(cloister):
    """Daemons are shared: a client that finds some with other settings says so, and a stricter one is not ignored."""
    assert cloister("down").returncode == 0 and cloister("up").returncode == 0
    program = cloister.program_file("print(1)\n")
    strict = cloister.program_file("executor: {default_timeout: 1, max_sessions: 100}\nvault:\n  max_secrets: 300\n", "strict.yaml")
    named = [b"executor.default_timeout is 30, not 1", b"executor.max_sessions is 64, not 100", b"vault.max_secrets is 256, not 300", b"cloister down"]
    refused = cloister("run", "--config=" + strict, program)
    assert refused.returncode == 125 and all(text in refused.stderr for text in named) and b"--accept-running" in refused.stderr, refused
    accepted = cloister("run", "--config=" + strict, "--accept-running", program)
    assert accepted.returncode == 0 and accepted.stdout == b"1\n" and all(text in accepted.stderr for text in named), accepted
    shown = cloister("status")
    assert named[0] in shown.stdout and named[0].decode() in json.loads(cloister("status", "--json").stdout)["not_in_force"], shown
    with open(os.path.join(cloister.directory, "state", "supervisor.log"), "rb") as log:
        assert named[0] in log.read()
    cloister.env["SANDBOX_TIMEOUT"] = "60"  # looser: it is served, and told
    try:
        looser = cloister("run", program)
    finally:
        del cloister.env["SANDBOX_TIMEOUT"]
    assert looser.returncode == 0 and b"executor.default_timeout is 30, not 60" in looser.stderr, looser
    assert cloister("run", program).stderr == b""
    # What was asked is in force after the command that the line names.
    assert cloister("down").returncode == 0
    late = cloister("run", "--json", "--config=" + strict, cloister.program_file("import time\ntime.sleep(5)\n"))
    assert json.loads(late.stdout)["timed_out"] and b"not in force" not in late.stderr, late


def test_daemons_of_another_version_are_named(cloister):
    """Until they are started again, a new build's calls go to the old one's daemons."""
    assert cloister("down").returncode == 0 and cloister("up").returncode == 0
    program, path = cloister.program_file("print(1)\n"), os.path.join(cloister.directory, "run", "executor.settings")
    assert cloister("run", program).stderr == b""
    with open(path, "r+", encoding="utf-8") as file:
        first, rest = file.read().split("\n", 1)
        assert first == "version: " + cloister("--version").stdout.decode().split()[1], first
        file.seek(0)
        file.write("version: 0.0.9\n" + rest)
    named = b"executor has version 0.0.9, not " + first.split()[1].encode()
    done = cloister("run", program)
    assert done.stdout == b"1\n" and named in done.stderr and b"cloister down" in done.stderr, done
    assert named in cloister("status").stdout
    assert cloister("down").returncode == 0 and cloister("run", program).stderr == b""


def test_settings_that_tighten_exist(cloister):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "compose", "cloister", "tightens.def"), encoding="utf-8") as table:
        rows = re.findall(r"^TIGHTENS\((\w+), (\w+), \w+\)", table.read(), re.M)
    shown = {name: subprocess.run([f"{cloister.program}-{name}", "--print-settings"], capture_output=True, text=True, check=True).stdout for name, _ in rows}
    assert len(rows) > 40 and all(f"\n  {setting}: " in shown[name] for name, setting in rows), rows


def test_a_wrong_domain_stops_no_run(cloister):
    assert cloister("down").returncode == 0
    wrong = cloister.program_file("executor: {egress_domains: '*.test,good.example'}\n", "wrong.yaml")
    done = cloister("run", "--config=" + wrong, cloister.program_file("print(1)\n"))
    assert done.returncode == 0 and done.stdout == b"1\n", done
    with open(os.path.join(cloister.directory, "state", "supervisor.log"), encoding="utf-8") as log:
        assert '"entry":"*.test"' in log.read()
    assert cloister("down").returncode == 0


def test_directories_that_daemons_cannot_enter_are_named(cloister):
    if os.geteuid() != 0:
        return  # the daemons of an ordinary user are this user's
    closed = os.path.join(cloister.directory, "closed")
    os.mkdir(closed, 0o700)
    for name in "run", "state":
        began = time.monotonic()
        refused = cloister("run", f"--{name}={closed}/{name}", cloister.program_file("print(1)\n"))
        assert refused.returncode == 125 and b"cannot enter " + closed.encode() in refused.stderr and time.monotonic() - began < 3, refused


def test_another_program_verifies_too(cloister):
    """This test builds the statement from the description in seal.h; openssl knows nothing of cloister."""
    if shutil.which("openssl") is None:
        raise cases.Skip("openssl is not installed")
    assert cloister("up").returncode == 0
    made = cloister("run", "--json", cloister.program_file("open('d\\n%', 'w').write('hello')\n"))
    artifact = json.loads(made.stdout)["artifacts"][0]
    statement = ("cloister artifact v1\nexecution {execution_id}\npath {filename}\nsize {size}\nsha256 {sha256}\n"
                 "type {mime_type}\ntime {signed_at}\n").format(**artifact)
    key = base64.b64decode(json.loads(cloister("status", "--json").stdout)["artifact_key"])
    spki = cloister.program_file(bytes.fromhex("302a300506032b6570032100") + key, "key.der")  # RFC 8410
    signature = cloister.program_file(base64.b64decode(artifact["signature"]), "signature")
    for text, status in (statement, 0), (statement + "x", 1):
        openssl = subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", spki, "-rawin", "-in",
                                  cloister.program_file(text, "statement"), "-sigfile", signature], capture_output=True, check=False)
        assert openssl.returncode == status, (text, openssl)


def test_verify_keeps_a_signed_name_from_the_terminal(cloister):
    """An attacker in the executor signs what it likes: terminal escape sequences, and letters in reversed order."""
    if shutil.which("openssl") is None:
        raise cases.Skip("openssl is not installed")
    seed = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")  # RFC 8032, 7.1, test 1
    public = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    secret = cloister.program_file(bytes.fromhex("302e020100300506032b657004220420") + seed, "secret.der")  # RFC 8410
    copy = cloister.program_file("hello", "copy")
    artifact = {"filename": "a\x1b[2K\u009b1G\u202eb", "path": "/workspace/a", "size": 5, "execution_id": "e\x1b]0;x\x07",
                "sha256": hashlib.sha256(b"hello").hexdigest(), "mime_type": "text/plain", "signed_at": "t\x1b[8m"}
    statement = ("cloister artifact v1\nexecution {execution_id}\npath {filename}\nsize {size}\nsha256 {sha256}\n"
                 "type {mime_type}\ntime {signed_at}\n").format(**artifact)
    signed = subprocess.run(["openssl", "pkeyutl", "-sign", "-keyform", "DER", "-inkey", secret, "-rawin", "-in",
                             cloister.program_file(statement.encode(), "statement")], capture_output=True, check=True)
    artifact["signature"] = base64.b64encode(signed.stdout).decode()
    good = cloister("verify", "--key=" + base64.b64encode(public).decode(), copy,
                    cloister.program_file(json.dumps(artifact), "artifact.json"))
    assert good.returncode == 0, good
    assert good.stdout.decode().endswith("good: a?[2K?1G?b of e?]0;x?, signed t?[8m\n"), good


def test_the_operator_may_give_the_key(cloister):
    other = Command(os.path.dirname(cloister.program))
    try:
        seed = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")  # RFC 8032, 7.1, test 1
        public = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
        other.env["CLOISTER_EXECUTOR_ARTIFACT_KEY_FILE"] = other.program_file(base64.b64encode(seed) + b"\n", "seed")
        assert other("up").returncode == 0
        assert json.loads(other("status", "--json").stdout)["artifact_key"] == base64.b64encode(public).decode()
        assert not os.path.exists(os.path.join(other.directory, "state", "executor", "artifact.key"))
        other("down")
        for text in b"short", base64.b64encode(seed)[:-2], b"":
            path = other.program_file(text, "broken")
            refused = subprocess.run([os.path.join(os.path.dirname(other.program), "cloister-executor"), "--run=" + other.directory,
                                      "--state=" + other.directory, "--artifact-key-file=" + path], capture_output=True, check=False)
            assert refused.returncode == 1 and path.encode() in refused.stderr and b"32 bytes" in refused.stderr, refused
    finally:
        other.close()


def test_manual_pages_list_what_help_lists(cloister):
    def flags(text):
        return set(re.findall(r"--[a-z][a-z0-9-]+", text))

    for daemon in (*peers.RESIDENT, "gateway"):
        program = cloister.program + "-" + daemon
        settings, page = (subprocess.run([program, flag], capture_output=True, check=True, text=True).stdout
                          for flag in ("--help", "--man"))
        listed = set(re.findall(r"^  (--[a-z0-9-]+)=", settings, re.M))
        assert listed and listed <= flags(page), listed - flags(page)
        assert page.startswith(".Dd ") and f".Nm cloister-{daemon}\n" in page, page[:200]
        assert not re.search(r"^[.'][^A-Z]", page, re.M), "a sentence begins with what a formatter would obey"
    commands = re.findall(r"^  cloister ([a-z]+)", cloister("help").stdout.decode(), re.M)
    page = cloister("man").stdout.decode()
    assert commands and all(f".It Sy cloister {name}" in page for name in commands), page
    assert "executor:" in cloister("man", "yaml").stdout.decode()


def main():
    cloister = Command(sys.argv[1])
    try:
        cases.run(sys.modules[__name__], cloister)
    finally:
        cloister.close()


main()
