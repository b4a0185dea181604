#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs each program of plain/ with the plain interpreter and with execute_code, and compares stdout, stderr and exit code.

    plain.py BIN [-k REGEX] [-v]

A difference fails unless the program states it, and a stated difference that is not there fails too.  The form of the
programs is in plain/README.md.  The plain interpreter runs in an empty directory, as an ordinary user, with the box's own
environment.  The last line but one is "N programs, M as in the plain interpreter, K differ as stated".
"""

import argparse
import base64
import concurrent.futures
import difflib
import functools
import glob
import os
import pwd
import re
import secrets
import shutil
import signal
import subprocess
import sys
import typing

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))

from daemons import Cluster  # noqa: E402

ONLY_BOXED = {"NODE_EXTRA_CA_CERTS", "NODE_OPTIONS", "SHLVL", "_"}  # files that a plain system lacks, and what a shell sets itself
SECONDS = 30  # of one program
AT_ONCE = 2
SHOWN, WIDTH = 40, 300  # lines of a difference, and their length
REMOVED = "rm code.sh;"  # begins a shell's program
NOWHERE = "/nowhere"  # a path that no system has


class Language(typing.NamedTuple):
    """How the programs of a directory of plain/ are kept and run."""

    ending: str  # of its files
    mark: str  # start of a directive
    file: str  # name of a program's file for the plain interpreter
    command: list
    boxed: tuple = ()  # what a box calls by another name
    unlike: tuple = ()  # what both say in their own ways


LANGUAGES = {
    # A file code.py would hide the module of that name, which pdb and doctest import.
    "python": Language(".py", "#:", "code0.py", ["/usr/bin/python3", "-B"], ((r"<code>", "/workspace/code.py"),),
                       ((r"\bcode0\b", "code"), (r"repeated \d+ more times", "repeated N more times"))),
    # Of an error that nobody catches: the place where it was thrown, node's own calls, and its version.
    "node": Language(".js", "//:", "code.js", ["/usr/bin/node"], ((r"<code>", "/workspace/code.js"),), (
        (r"file://", ""), (r"\bcode\.mjs\b", "code.js"), (r"\(node:\d+\)", "(node:PID)"), (r"\bpid: \d+", "pid: PID"),
        (r"(?m)^ +at .*\bnode:[^{\n]*\)?", ""), (r"(?m)^(node:\S+|/workspace/\S+|<anonymous_script>):\d+\n.*\n( *\^+\n)?", ""),
        (r"(?m)^Node\.js v.*", ""), (r"(?m)^Emitted .* event at:\n.*", ""), (r"(?m)^ +(\[?\.\.\.) (\d+ )?lines matching.*?( \{)?$", r"\3"),
        (r"\n\s*\{", " {"), (r"\n\s*\n", "\n"), (r"\A\s+", ""))),
    # A program's file is no file of the workspace.
    "shell": Language(".sh", "#:", "code.sh", ["/usr/bin/bash"], (), ((REMOVED, ""), (r"/workspace/code\.sh", "code.sh"))),
}
DIRECTIVES = {"program", "needs", "modules", "module", "ignore", "boxed", "because", "uncounted"}
# What differs from run to run.
UNSTABLE = (
    (r"0x[0-9a-f]{6,}", "0xADDRESS"),
    (r"(line \d+:) *\d+ (Aborted|Alarm clock|Broken pipe|Hangup|File size limit exceeded|Killed|Segmentation|Terminated|User defined)", r"\1 PID \2"),
    (r"(?m)^\[(\d)\] \d+$", r"[\1] PID"),
    (r"(duration_ms:?|ran in|in) \d+(\.\d+)?(e-\d+)?(s|ms)?\b", r"\1 TIME"),
    (r"timed out after \d+\.\d+ seconds", "timed out after TIME"),
    (r"127\.0\.0\.1', \d+", "127.0.0.1', PORT"),
)

@functools.cache
def importable(module):
    return subprocess.run(["/usr/bin/python3", "-c", "import " + module], stderr=subprocess.DEVNULL, check=False).returncode == 0

class Program:
    """One program of a file of plain/, with its directives."""

    def __init__(self, language, place, directives, text):
        self.language, self.place, self.text = language, place, text
        self.name = directives.get("program", "")
        self.needs = directives.get("needs", "").split()
        self.modules = directives.get("modules", "").split()
        self.module = "module" in directives
        self.ignored = directives.get("ignore", "").split()
        self.boxed, self.because = directives.get("boxed"), directives.get("because")
        self.uncounted = "uncounted" in directives
        if unknown := directives.keys() - DIRECTIVES:
            raise ValueError(f"{place}: unknown directives: {sorted(unknown)}")
        if not self.name or (self.boxed is None) != (self.because is None):
            raise ValueError(f"{place}: a program has a name, and `boxed` has `because`")

    def __str__(self):
        return f"{self.language}/{self.place}: {self.name}"

    def lacks(self):
        tools = [LANGUAGES[self.language].command[0], *self.needs]
        return next((tool for tool in tools if not shutil.which(tool, path="/usr/bin:/bin")), None) or \
            next((module for module in self.modules if not importable(module)), None)

def read(path, language):
    """The programs of a file: each begins with the directive `program NAME`; other directives may follow it."""
    mark = LANGUAGES[language].mark
    with open(path, encoding="utf-8") as file:
        _, *parts = re.split(rf"(?m)^{mark} program ", file.read())
    for part in parts:
        lines = f"{mark} program {part}".splitlines(keepends=True)
        count = next((n for n, line in enumerate(lines) if not line.startswith(mark)), len(lines))
        words = [line[len(mark):].strip().partition(" ") for line in lines[:count]]
        yield Program(language, os.path.basename(path), {key: value for key, _, value in words}, "".join(lines[count:]))

def programs():
    for language, row in LANGUAGES.items():
        for path in sorted(glob.glob(os.path.join(HERE, "plain", language, "*" + row.ending))):
            yield from read(path, language)

def normal(text, *tables):
    for pattern, name in (row for table in (*tables, UNSTABLE) for row in table):
        text = re.sub(pattern, name, text)
    return text

class Plain:
    """Runs programs with the plain interpreters of this host."""

    def __init__(self, environment):
        self.environment, self.directories, self.identity = environment, [], {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self.identity = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}

    def close(self):
        for path in self.directories:
            shutil.rmtree(path)

    # A path as long as /workspace, because node breaks lines by their length.
    def directory(self):
        path = NOWHERE
        while not path.startswith("/tmp"):
            path = "/tmp/" + secrets.token_hex(3)[:5]
            try:
                os.mkdir(path, 0o700)
            except FileExistsError:
                path = NOWHERE
        self.directories.append(path)
        if self.identity:
            os.chown(path, self.identity["user"], self.identity["group"])
        return path

    def command(self, program, work):
        language = LANGUAGES[program.language]
        path = os.path.join(work, language.file.replace(".js", ".mjs") if program.module else language.file)
        with open(path, "w", encoding="utf-8") as file:
            file.write((REMOVED if program.language == "shell" else "") + program.text)
        return [*language.command, os.path.basename(path) if program.language == "shell" else path]

    def started(self, command, work, temporary):
        environment = {key: temporary if value == "/tmp" else value.replace("/workspace", work) for key, value in self.environment.items()}
        pipes = [os.pipe(), os.pipe()]
        for _, end in pipes:
            os.fchown(end, self.identity.get("user", -1), self.identity.get("group", -1))  # /dev/stdout is opened as a file
        process = subprocess.Popen(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=pipes[0][1], stderr=pipes[1][1],
                                   umask=0o022, start_new_session=True, **self.identity)
        process.stdout, process.stderr = (open(end, "rb", buffering=0) for end, _ in pipes)
        for _, end in pipes:
            os.close(end)
        return process

    def run(self, program):
        work, temporary = self.directory(), self.directory()
        with self.started(self.command(program, work), work, temporary) as process:
            try:
                out, err = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        status = process.returncode if process.returncode >= 0 else signal.Signals(-process.returncode).name
        tables = ((work, "/workspace"), (temporary, "/tmp")), LANGUAGES[program.language].unlike
        return {"stdout": normal(out.decode(errors="replace"), *tables), "stderr": normal(err.decode(errors="replace"), *tables),
                "exit code": f"{status}\n"}

def boxed(client, program):
    reply = client.call("execute_code", {"code": program.text, "language": program.language, "timeout": SECONDS,
                                         "resource_limits": {"max_ram_mb": 1024}}, timeout=2 * SECONDS)
    told = reply.get("structuredContent")
    if told is None or told["timed_out"]:
        return {"stdout": "", "stderr": "", "exit code": f"{reply['content'][0]['text']}\n"}
    tables = LANGUAGES[program.language].boxed, LANGUAGES[program.language].unlike
    return {"stdout": normal(told["stdout"], *tables), "stderr": normal(told["stderr"], *tables),
            "exit code": f"{told.get('signal', told['exit_code'])}\n"}

def difference(program, plain, box):
    """Lines, none if they are equal."""
    for field, text in plain.items():
        if field not in program.ignored:
            yield from difflib.unified_diff(text.splitlines(), box[field].splitlines(), f"plain {field}", f"boxed {field}", n=1, lineterm="")

def judge(program, plain, box):
    """The outcome, and why if it is a failure."""
    lines = list(difference(program, plain, box))
    if program.boxed is None:
        return ("differs", lines) if lines else ("same", [])
    if not lines:
        return "stale", [f"it does not differ, though it says: {program.because}"]
    if not re.search(program.boxed, "".join(box.values())):
        return "differs", [f"the box does not show {program.boxed!r}:", *lines]
    return "stated", []

def compare(program, plain, client):
    if tool := program.lacks():
        return "skipped", [f"{tool} is not installed"]
    try:
        return judge(program, plain.run(program), boxed(client, program))
    except subprocess.TimeoutExpired:
        return "differs", [f"the plain interpreter did not end within {SECONDS} s"]

def look_at_a_box(client):
    """Its environment, and whether a control group limits it."""
    told = client.call("execute_code", {"language": "shell", "code": "env -0 | base64 -w0"})["structuredContent"]
    text = base64.b64decode(told["stdout"]).decode()
    environment = dict(row.split("=", 1) for row in text.split("\0") if row)
    return {**{key: value for key, value in environment.items() if key not in ONLY_BOXED}, "PATH": "/usr/bin:/bin"}, \
        "cgroup" in told["isolation"]["limits_by"]

def play(bin_, chosen, verbose):
    """The number of programs by outcome."""
    counts = dict.fromkeys(("same", "stated", "skipped", "differs", "stale"), 0)
    with Cluster(bin_, flags={"executor": [f"--max-concurrent={AT_ONCE}"]}) as cluster, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
        client = cluster.client(flags=["--result-bytes=0", "--error-bytes=0"])
        environment, counted = look_at_a_box(client)
        for program in chosen:
            if program.uncounted and counted:
                program.boxed = program.because = None
        plain = Plain(environment)
        try:
            outcomes = threads.map(lambda program: compare(program, plain, client), chosen)
            for program, (outcome, lines) in zip(chosen, outcomes):
                counts[outcome] += 1
                if outcome in ("differs", "stale") or verbose:
                    print(f"{outcome} {program}", *(line[:WIDTH] for line in lines[:SHOWN]), sep="\n    ", flush=True)
        finally:
            plain.close()
    return counts

def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("bin")
    options.add_argument("-k", default="", metavar="REGEX", help="only the programs that have this in their language, file or name")
    options.add_argument("-v", action="store_true", help="name every program")
    options = options.parse_args()
    chosen = [program for program in programs() if re.search(options.k, str(program))]
    counts = play(options.bin, chosen, options.v)
    failed, compared = counts["differs"] + counts["stale"], len(chosen) - counts["skipped"]
    print(f"{compared} programs, {counts['same']} as in the plain interpreter, {counts['stated']} differ as stated")
    print(f"{counts['same'] + counts['stated']} passed, {failed} failed, {counts['skipped']} skipped")
    sys.exit(failed > 0 or compared == 0)

main()
