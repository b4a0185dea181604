# SPDX-License-Identifier: Apache-2.0
"""Makes the same attempts from every runtime (attempts.txt, with the actors): files, devices, processes, network, variables.

A row is one attempt; a runtime is one column.  In a sandbox each attempt has the result of its row; outside it has another.
"""

import contextlib
import errno
import glob
import os
import re
import secrets
import shutil
import socket
import subprocess
import tempfile

import box as boxes
import kernel

HERE = os.path.dirname(os.path.abspath(__file__))
# How code is started: language, start, and whether it is one statement of a session.
RUNTIMES = {
    "python cold": ("python", "cold", False), "python warm": ("python", "warm", False), "python session": ("python", "warm", True),
    "node": ("node", None, False), "node session": ("node", None, True),
    "shell": ("shell", None, False), "shell session": ("shell", None, True), "static C": ("shell", None, False),
}
ACTORS = {"python": "actor.py", "node": "actor.js", "shell": "actor.sh"}
# Actions that the shell's tools and builtins cannot do or report.
UNABLE = {"node": {"node"}, "shell": {"unix"}, "c": set()}
# A program in the workspace may write to its own file once it does not run.
OWN = {("static C", "F-05.itself"): {"ETXTBSY"}}
NUMBERS = {os.strerror(number).lower(): name for number, name in errno.errorcode.items()}


def table():
    """Rows: name, action, words, and the expected result."""
    with open(os.path.join(HERE, "attempts.txt"), encoding="ascii") as file:
        rows = [re.split(r"\s{2,}", line.strip()) for line in file if line.strip() and line[0] != "#"]
    return [(name, action, words.split(), set(expected.split(","))) for name, action, words, expected in rows]


def able(runtime, action):
    language = "c" if runtime == "static C" else RUNTIMES[runtime][0]
    return action not in UNABLE.get(language, ())


@contextlib.contextmanager
def host(scratch):
    """The targets of the rows on the host: a canary, a process of another user, a listener."""
    directory = tempfile.mkdtemp(prefix="cloister-canary-", dir="/var/tmp")
    name = "escape-" + secrets.token_hex(8)
    canary = os.path.join(directory, "canary")
    with open(canary, "w", encoding="ascii") as file:
        file.write("canary")
    with open(f"/etc/{name}", "w", encoding="ascii"), contextlib.ExitStack() as stack:
        group = next(p for depth in ("", "memory/", "*/") for p in glob.glob(f"/sys/fs/cgroup/{depth}cgroup.procs"))
        sleeper = stack.enter_context(subprocess.Popen(["sleep", "600"]))
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        for address in "\0" + name, canary + ".s":
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
        try:
            yield {"canary": canary, "name": name, "sleeper": sleeper.pid, "port": tcp.getsockname()[1], "group": group, "scratch": scratch or directory}
        finally:
            sleeper.kill()
            shutil.rmtree(directory)
            for made in f"/{name}", f"/usr/{name}", f"/dev/{name}", f"/etc/{name}", f"/etc/{name}.b", "/etc/" + name:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(made)
            with contextlib.suppress(FileNotFoundError):
                os.rmdir(f"/usr/lib/{name}")


def rows_for(things):
    return "".join("\t".join([name, action, *(word.format(**things) for word in words)]) + "\n" for name, action, words, _ in table())


def answers(text):
    """By row: the name of an errno; for a tool's message, the errno of its last words."""
    found = {}
    for line in text.splitlines():
        name, _, said = line.partition(" ")
        words = re.sub(r"[’']", "", re.split(r": | - ", said)[-1]).strip().rstrip(".").lower()
        found[name] = NUMBERS.get(words, said.strip())
    return found


def source(language):
    with open(os.path.join(HERE, "actors", ACTORS[language]), encoding="utf-8") as file:
        return file.read()


def run(box, runtime, things):
    """The results in a new sandbox with the actor's files in the workspace."""
    language, start, session = RUNTIMES[runtime]
    code = "exec ./actor" if runtime == "static C" else source(language)
    workspace = "attempts " + runtime
    if runtime == "static C":
        box.put(os.path.join(os.path.dirname(box.probe), "actor"), workspace)
    end = box.run(f"open('rows', 'w').write({rows_for(things)!r})", workspace=workspace)
    assert end.exit_code == 0, end.err
    more = {"session": True} if session else {}
    end = box.begin(code, language=language, start=start, workspace=workspace, wall_ms=60000, **more).end()
    box.drop(workspace)
    boxes.until(lambda: not box.alive())
    assert end.how == "exited" and end.exit_code == 0, (end.how, end.exit_code, end.signal, end.out[-500:], end.err[-500:])
    return answers(end.out)


def check(box, runtime):
    with host("/workspace") as things:
        got = run(box, runtime, things)
        assert os.path.exists(f"/proc/{things['sleeper']}")
        with open(f"/proc/{things['sleeper']}/status", encoding="ascii") as file:
            assert "State:\tS" in file.read(), "the stranger was killed"
    wrong = {name: (got.get(name), expected) for name, action, _, expected in table()
             if able(runtime, action) and got.get(name) not in OWN.get((runtime, name), expected)}
    assert not wrong, f"(got, expected): {wrong}"


def test_from_python_cold(box):
    """Every row, from Python started from its file."""
    check(box, "python cold")


def test_from_python_warm(box):
    """Every row, from a fork of a zygote."""
    check(box, "python warm")


def test_from_python_session(box):
    """Every row, from a statement of a session."""
    check(box, "python session")


def test_from_node(box):
    """Every row, from Node."""
    check(box, "node")


def test_from_node_session(box):
    """Every row, from a statement of a session of Node."""
    check(box, "node session")


def test_from_shell(box):
    """Every row, from bash and what it starts."""
    check(box, "shell")


def test_from_shell_session(box):
    """Every row, from a statement of a session of bash."""
    check(box, "shell session")


def test_from_static_c(box):
    """Every row, from a static program without interpreter and library."""
    check(box, "static C")


# How a program is started in place of its caller, by language; kernel.py has Python's way.
EXEC = {"node": "require('child_process').spawnSync('./probe', { stdio: 'inherit' })", "shell": "exec ./probe"}


def check_calls(box, language):
    box.put(box.probe, "calls")
    end = box.run(EXEC[language], language=language, workspace="calls")
    box.drop("calls")
    inside = kernel.verdicts(end.out)
    assert not kernel.wrong(inside) and len(inside) > 330, f"{len(inside)} calls; (got, expected): {kernel.wrong(inside)}"


def test_calls_from_node(box):
    """K-01..K-18: each call of probe.c, in a program that Node starts."""
    check_calls(box, "node")


def test_calls_from_shell(box):
    """K-01..K-18: each call of probe.c, in a program that replaces bash."""
    check_calls(box, "shell")


def control(language):
    """The results outside, as root."""
    with host(None) as things, tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "rows"), "w", encoding="ascii") as file:
            file.write(rows_for(things))
        commands = {"python": [boxes.PYTHON, "-c"], "node": ["node", "-e"], "shell": ["bash", "-c"]}
        done = subprocess.run([*commands[language], source(language)], cwd=directory, capture_output=True, text=True, check=True,
                              env={"PATH": "/usr/bin:/bin", "CANARY": "canary"}, timeout=60)
    return answers(done.stdout)


def test_control(box):
    """I26: outside, as root, each row has another result with every actor; with the shell's if it reports an errno."""
    void = {}
    # libuv pads an abstract name, so it is another one.
    padded = {("node", "N-05.abstract")}
    for language in ACTORS:
        got = control(language)
        void.update({(language, name): got.get(name) for name, action, _, expected in table()
                     if action not in UNABLE.get(language, ()) and (language, name) not in padded and (got.get(name) in expected or got.get(name) is None)})
    assert not void, f"they fail outside, too: {void}"
