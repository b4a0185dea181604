#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Commands of `cloister` that call a tool, their exit codes, and the completion of all commands.

    words.py BIN
"""

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from commands import Command  # noqa: E402


def value(cloister, *arguments):
    """The result of a command with --json."""
    done = cloister(*arguments, "--json")
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def text(done, status=0):
    assert done.returncode == status, done
    return done.stdout.decode()


def soon(look, wanted):
    """What look() gives once wanted() holds for it: records are written after the reply."""
    until = time.monotonic() + 10
    while not wanted(seen := look()):
        assert time.monotonic() < until, seen
        time.sleep(0.02)
    return seen


def test_a_stopped_server_is_reported(cloister):
    first = cloister("session", "list")
    assert text(first) == "none\n" and b"daemons were not running" in first.stderr, first
    assert cloister("up").returncode == 0
    second = cloister("session", "list")
    assert text(second) == "none\n" and second.stderr == b"", second


def test_run_takes_flags_of_the_replaced_system(cloister):
    path = cloister.program_file("import time\ntime.sleep(30)\n")
    began = time.monotonic()
    late = cloister("run", path, "--timeout", "1")
    assert late.returncode == 124 and time.monotonic() - began < 20, late
    shell = cloister.program_file("echo $((6 * 7))\n", "words.txt")
    for flags in ["--language", "shell"], ["--language=shell"], ["-l", "shell"]:
        assert text(cloister("run", shell, *flags, "--timeout=20", "--backend", "process")) == "42\n", flags
    for flags, why in (["--backend=podman"], b"docker"), (["--timeout", "soon"], b"number"), (["--timeout"], b"value"):
        wrong = cloister("run", shell, *flags)
        assert wrong.returncode == 2 and why in wrong.stderr and b"usage" in wrong.stderr, wrong


def test_run_chooses_the_backend(cloister):
    program = cloister.program_file("print(1)\n")
    box = json.loads(cloister("run", "--json", "--backend=process", program).stdout)
    assert box["isolation"]["backend"] == "box", box
    container = json.loads(cloister("run", "--json", "--backend=docker", program).stdout)
    missing = container.get("error", {}).get("code") == "isolation_unavailable"
    assert missing or container["isolation"]["backend"] == "oci", container


def test_sessions_are_those_of_the_running_server(cloister):
    made = value(cloister, "call", "create_session", "language=node", "ttl=600")
    listed = text(cloister("session", "list")).splitlines()
    assert listed[0].split() == ["session_id", "language", "busy", "expires_at"], listed
    assert [line.split()[:3] for line in listed[1:]] == [[made["session_id"], "node", "false"]], listed
    assert "none" in text(cloister("session", "list", "--namespace=other")), "a setting chooses the namespace"
    killed = value(cloister, "session", "kill", "--id", made["session_id"])
    assert killed == {"status": "terminated", "session_id": made["session_id"]}, killed
    assert text(cloister("session", "list")) == "none\n"
    wrong = cloister("session", "kill", "--id=mine")
    assert wrong.returncode == 1 and b"invalid_argument" in wrong.stderr and wrong.stdout == b"", wrong


def test_queue_and_stats(cloister):
    queue = text(cloister("queue", "status"))
    assert re.search(r"^running: 0$", queue, re.M) and "workspaces" not in queue, queue
    stats = value(cloister, "stats")
    assert {"queue", "sessions", "resources"} <= stats.keys(), stats
    assert re.search(r"^  max_concurrent: \d+$", text(cloister("stats")), re.M)


def test_limits_stay_until_the_daemons_stop(cloister):
    shown = value(cloister, "limits", "--ram", "200", "--cpu=0.5", "--timeout", "7", "--processes", "33")
    limits = {"max_ram_mb": 200, "max_cpu_cores": 0.5, "timeout_seconds": 7, "max_processes": 33}
    assert {name: shown[name] for name in limits} == limits, shown
    shown = value(cloister, "limits")
    assert {name: shown[name] for name in limits} == limits, shown
    assert "max_ram_mb: 200\n" in text(cloister("limits"))
    value(cloister, "limits", "--ram", "512", "--cpu=1", "--timeout", "30", "--processes", "512")


def test_validate(cloister):
    good, broken, fenced = (cloister.program_file(code, name) for name, code in
                           [("good.py", "import os\nprint(os)\n"), ("broken.py", "print(\n"), ("fenced.py", "```python\nprint(1)\n```\n")])
    assert "valid: true" in text(cloister("validate", good))
    assert "valid: false" in text(cloister("validate", broken), 1)
    assert "valid: false" in text(cloister("validate", "--profile=strict", good), 1)
    corrected = json.loads(cloister("validate", "--json", fenced).stdout)
    assert corrected["fixed_code"] == "print(1)\n", corrected
    assert "fixed_code" not in json.loads(cloister("validate", "--json", fenced, "--no-auto-fix").stdout)
    assert "valid: true" in text(cloister("validate", cloister.program_file("x", "a.js")))
    assert "valid: false" in text(cloister("validate", cloister.program_file("x = {", "b.js")), 1)


def test_artifacts_and_audit(cloister):
    made = json.loads(cloister("run", "--json", cloister.program_file("open('a', 'w').write('b')\n")).stdout)
    rows = text(cloister("artifacts", made["execution_id"])).splitlines()
    assert rows[0].split() == ["filename", "size", "mime_type", "sha256"], rows
    assert rows[1].split()[0] == "a" and rows[1].split()[-1] == hashlib.sha256(b"b").hexdigest(), rows
    audit = soon(lambda: text(cloister("audit", "--namespace", "default", "--limit", "2")).splitlines(),
                 lambda lines: len(lines) == 3 and made["execution_id"] in lines[1])
    assert re.search(r"\b2\d\d\d-\d\d-\d\dT", audit[1]), audit
    assert text(cloister("audit", "--namespace=prod")) == "none\n"
    value(cloister, "call", "execute_code", "code=1", "namespace=prod")
    soon(lambda: text(cloister("audit", "--namespace=prod")).splitlines(), lambda lines: len(lines) > 1)
    wrong = cloister("artifacts", "exec_none")
    assert wrong.returncode == 1 and b"not_found" in wrong.stderr, wrong


def test_bridge_and_inspect(cloister):
    session = value(cloister, "call", "create_session")["session_id"]
    for given, read in ('{"value": 42}', "42"), ("plain text", "in te"), ("-5", "-5"):
        assert value(cloister, "bridge", session, "key", given)["key"] == "key"
        code = "b = bridge['key']\nprint(b['value'] if isinstance(b, dict) else b if isinstance(b, int) else b[3:8])"
        run = value(cloister, "call", "execute_code", "session_id=" + session, "code=" + code)
        assert run["stdout"].strip() == read, (given, run)
    shown = text(cloister("inspect", session))
    assert re.search(r"^variables: .*\bb\b", shown, re.M) and session in shown, shown
    assert "variables: none" in text(cloister("inspect", "default"))
    cloister("session", "kill", "--id", session)


def test_call_takes_any_tool(cloister):
    for arguments in (["code=print('x' * 3)", "timeout=5", "capture_output=true", 'resource_limits={"max_ram_mb": 100}'],
                      ['{"code": "print(\'xxx\')", "timeout": 5}'], ["resource_limits.max_ram_mb=100", "code=print('xxx')"]):
        assert value(cloister, "call", "execute_code", *arguments)["stdout"] == "xxx\n", arguments
    piped = cloister("call", "execute_code", "-", "--json", input=b'{"code": "print(6 * 7)"}')
    assert json.loads(piped.stdout)["stdout"] == "42\n", piped
    refused = cloister("call", "execute_code", "code=import os", "allowed_imports=math,json", "--json")
    assert refused.returncode == 1 and "policy_violation" in refused.stdout.decode(), refused
    plain = text(cloister("call", "list_runtimes"))
    assert re.search(r"^ +language +version", plain, re.M), plain
    failed = cloister("call", "execute_code", "code=1/0")
    assert failed.returncode == 1 and b"ZeroDivisionError" in failed.stdout, failed


def test_a_person_answers_at_a_terminal(cloister):
    """Only the command answers a request; the call that asks cannot (seed 002: cloister egress DOMAIN --namespace default)."""
    def ask(domain, *more):
        return json.loads(cloister("call", "request_egress", "domain=" + domain, *more, "--json").stdout)

    def listed():
        return {one["request_id"]: one for one in value(cloister, "egress", "list")["approvals"]}

    asked = [re.search(r"approve ([0-9a-f]{16})`", ask(name)["error"]["message"])[1] for name in ("a.example", "b.example")]
    assert [listed()[one]["state"] for one in asked] == ["pending"] * 2, listed()
    refused = cloister("egress", "approve", asked[0], "--session")
    assert refused.returncode == 1 and b"names no session" in refused.stderr, refused
    assert "a.example" in text(cloister("egress", "approve", asked[0]))
    assert ask("a.example")["approved"] and ask("a.example")["duration"] == "once"
    cloister("egress", "deny", asked[1])
    assert ask("b.example")["error"]["code"] == "approval_denied"
    for verb, why in ("approve", b"denied already"), ("revoke", b"denied already"):
        again = cloister("egress", verb, asked[1])
        assert again.returncode == 1 and why in again.stderr, again
    cloister("egress", "revoke", asked[0])
    assert ask("a.example")["error"]["code"] == "approval_required" and listed()[asked[0]]["state"] == "revoked"
    places = ["--run=" + cloister.env["CLOISTER_RUN"], "--state=" + cloister.env["CLOISTER_STATE"]]
    elsewhere = {**cloister.env, "CLOISTER_RUN": "/nonexistent"}
    there = subprocess.run([cloister.program, "egress", "list", *places], env=elsewhere, capture_output=True, check=False)
    assert "b.example" in text(there), "flags choose the daemons, as for every command"
    made = value(cloister, "egress", "api.example.com", "--namespace", "default")
    assert made["state"] == "approved" and made["duration"] == "namespace" and made["subject"] == "api.example.com", made
    assert ask("API.example.com")["approved"]
    for flag, why in ("--until=2027-02-30", b"not a day"), ("--until=1999-01-01", b"is over"), ("--bogus=1", b"--bogus"):
        assert why in cloister("egress", "c.example", flag).stderr, flag


def test_wrong_lines_are_refused(cloister):
    for arguments, status, why in [
            (["call"], 2, "TOOL required"), (["call", "execute_code", "kode=1"], 2, "did you mean 'code'"),
            (["call", "execute_code", "code"], 2, "NAME=VALUE"), (["call", "execute_code", "timeout=x"], 2, "number"),
            (["call", "execute_code", "{]"], 2, "JSON"), (["call", "execute_cod", "code=1"], 1, "did you mean 'execute_code'"),
            (["call", "execute_code"], 1, "code"), (["session", "kill"], 2, "--id required"),
            (["session"], 2, "session kill"), (["sesion", "list"], 2, "`cloister session`"), (["stat"], 2, "cloister stats"),
            (["xyzzy"], 2, "cloister help"), (["vault", "list", "A"], 2, "unexpected argument 'A'"), (["host", "exec", "ls"], 2, "host"),
            (["web", "fetch", "x"], 2, "web"), (["egress", "localhost"], 1, "one label"), (["egress", "approve"], 2, "ID required"),
            (["stats", "x"], 2, "unexpected"),
            (["stats", "--bogus=1"], 2, "--bogus"), (["validate", "/no/such"], 125, "No such file")]:
        done = cloister(*arguments)
        assert done.returncode == status and why in done.stderr.decode(), (arguments, done)


def test_a_dead_server_is_125(cloister):
    copy = os.path.join(cloister.directory, "bin")
    shutil.copytree(os.path.dirname(cloister.program), copy)
    os.remove(os.path.join(copy, "cloister-gateway"))
    done = subprocess.run([os.path.join(copy, "cloister"), "stats"], env=cloister.env, capture_output=True, check=False)
    assert done.returncode == 125 and b"cloister-gateway" in done.stderr, done


def test_hostile_text_is_not_obeyed(cloister):
    code = "import sys\nopen('a\\x1b[2Kb', 'w').write('x')\nprint('\\x1b]0;x\\x07y')\n"
    shown = cloister("call", "execute_code", "code=" + code)
    assert shown.returncode == 0 and b"\x1b" not in shown.stdout and b"\x07" not in shown.stdout, shown


def test_verify_takes_a_digest(cloister):
    path, digest = cloister.program_file("hello", "copy"), hashlib.sha256(b"hello").hexdigest()
    for given in digest, digest.upper():
        assert "good" in text(cloister("verify", path, given))
    wrong = cloister("verify", path, digest.replace(digest[0], "0" if digest[0] != "0" else "1"))
    assert wrong.returncode == 1 and b"sha256" in wrong.stderr, wrong


def test_config_shows_the_settings(cloister):
    shown = text(cloister("config"))
    for line in "executor:", "gateway:", "auditd:", "  memory_mb: 512", "  transport: 'stdio'":
        assert line in shown.splitlines(), (line, shown)


def test_serve_takes_transport_host_and_port(cloister):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    served = subprocess.Popen([cloister.program, "serve", "--transport", "sse", "--host=127.0.0.1", "--port", str(port), "--anonymous"],
                              env=cloister.env, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end, kind = time.monotonic() + 30, None
        while kind is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/sse", timeout=10) as reply:
                    kind = reply.headers["Content-Type"]
            except OSError:
                assert time.monotonic() < end
                time.sleep(0.1)
        assert kind.startswith("text/event-stream"), kind
    finally:
        served.terminate()
        served.wait(30)


def completed(shell, script, line):
    """What bash offers at the end of a line."""
    words = line.split(" ")
    program = f"{script}\nCOMP_WORDS=({' '.join(words[:-1])} \"{words[-1]}\") COMP_CWORD={len(words) - 1}\n_cloister\n" \
              "printf '%s\\n' \"${COMPREPLY[@]}\""
    return subprocess.run([shell, "-c", program], capture_output=True, check=True, text=True).stdout.split()


def test_completion(cloister):
    scripts = {shell: text(cloister("completion", shell)) for shell in ("bash", "zsh", "fish")}
    bash = scripts["bash"]
    commands = set(re.findall(r"^  cloister ([a-z]+)", text(cloister("help")), re.M))
    assert set(completed("bash", bash, "cloister ")) == commands
    assert set(completed("bash", bash, "cloister st")) == {"status", "stats"}
    assert set(completed("bash", bash, "cloister session ")) == {"list", "kill"}
    assert set(completed("bash", bash, "cloister session kill --")) == {"--id", "--json"}
    assert "--timeout" in completed("bash", bash, "cloister run x.py --t")
    assert "execute_code" in completed("bash", bash, "cloister call exec")
    for shell, script in scripts.items():
        if shutil.which(shell):
            subprocess.run([shell, "-n", cloister.program_file(script, shell)], check=True)
        for word in *commands, "kill", "timeout", "no-auto-fix":
            assert word in script, (shell, word)
    wrong = cloister("completion", "tcsh")
    assert wrong.returncode == 2 and b"fish" in wrong.stderr, wrong


def test_help_and_manual_have_every_flag(cloister):
    for line in "run", "validate", "call", "limits", "audit":
        usage = text(cloister(line, "--help"))
        flags = set(re.findall(r"(?<![\w-])-{1,2}[a-z][a-z-]*", usage.splitlines()[0]))
        assert flags and all(f"\n  {flag}" in usage for flag in flags), usage
        assert all(f".Sy {flag}" in text(cloister("man")) for flag in flags - {"--json"}), line


def test_a_value_follows_a_blank_or_an_equals_sign(cloister):
    """Of each command that does not go on for long: both forms are read, and without a value a flag is refused."""
    long = {"serve", "shell", "run", "environment add", "environment remove", "events", "top", "logs", "doctor", "uninstall", "config"}
    flags = [(words.strip() + (" --all" if "--all" in rest else ""), flag) for words, rest in re.findall(r"^  cloister ((?:[a-z]+ ?)+)(.*)$", text(cloister("help")), re.M)
             if words.strip() not in long for flag in re.findall(r"(--[a-z-]+)=[A-Z]", rest)]
    assert len(flags) > 20, flags
    for words, flag in flags:
        for given in [flag, "1"], [flag + "=1"]:
            done = cloister(*words.split(), *given, "x", "y")
            assert not re.search(rb"unknown flag|value required", done.stderr), (words, given, done)
        bare = cloister(*words.split(), flag)
        assert bare.returncode in (1, 2) and b"value required" in bare.stderr, (words, flag, bare)


def main():
    cloister = Command(sys.argv[1])
    try:
        cases.run(sys.modules[__name__], cloister)
    finally:
        cloister.close()


main()
