#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plays transcripts against all daemons of a build; the last line is "N passed, N failed, N skipped".

    run.py BIN [--log DIRECTORY] [--user NAME] [--schemas] [--brief] [--alone] [--newest | --older] [transcript.mcp ...]
                                     without names: all of them, and then a check of their coverage; --user: starts daemons,
                                     sandboxes and gateway as this user, which needs root; --schemas: checks every message
                                     against the official schema of its revision, from npm and pip; --brief: prints only
                                     what did not pass; --newest: uses the modern revision only;
                                     --older: all but it, without the check of coverage

transcript.py describes the form of the lines.  Each transcript runs once per protocol revision.  Transcripts that set no
flags for daemons, and neither kill nor restart one, share a set of daemons; each has its own namespace, so that the next
one sees nothing of it.  --alone gives each transcript its own set with the modern revision.
Besides the transcript's expectations, every reply is checked against the tool's outputSchema, the arguments of every
successful call against its inputSchema, and every error against its form.  Progress must grow.  At the end every daemon
that was not killed must be alive, exit with status 0 and have logged no fault.

Settings: @ revisions REVISION...|all     (default: the modern one and the newest before it)
          @ toolsets NAMES           (default: all)
          @ flags DAEMON FLAG...     of a daemon, or of the gateway
          @ capabilities {...}       what the client declares
          @ alone                    has its own daemons, because it counts what they did
          @ needs root|release       if it is not available, the transcript is skipped
          @ needs MODULE...          Python modules of this host
Actions:  ! kill DAEMON    ! restart DAEMON|gateway    ! crash gateway    ! wait MILLISECONDS    ! spoil GLOB  (flips a bit of each such file of state)
"""

import argparse
import functools
import glob
import importlib.util
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import jsonschema

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))

import schemas  # noqa: E402
from daemons import FAULTS, LEGACY, MODERN, SERVERS, Cluster, skip  # noqa: E402
from transcript import Mismatch, fill, match, parse  # noqa: E402

SECONDS = 60
# Toolsets whose results have forms of their own (common/table/compat.def).
SYSTEMS = ("mcp-code-sandbox", "mcp-secure-sandbox", "python-sandbox", "sandboxmcp")


def is_part(said, value):
    """Whether a text says nothing else than the whole value; it may leave out members."""
    if isinstance(said, dict) and isinstance(value, dict):
        return all(key in value and is_part(one, value[key]) for key, one in said.items())
    if isinstance(said, list) and isinstance(value, list):
        return len(said) == len(value) and all(map(is_part, said, value))
    return said == value


class LeftOut(Exception):
    """Left out of this run: another run of this build, or of the release build, includes it."""


class Skipped(Exception):
    pass


# Every transcript gets the same schemas, so each is checked once.
@functools.cache
def validator(text):
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


class Coverage:
    """What all transcripts covered together."""

    def __init__(self):
        self.offered, self.succeeded, self.codes, self.messages = set(), set(), set(), 0

    def missing(self):
        """Sentences on missing and unexpected coverage."""
        with open(os.path.join(HERE, "..", "..", "common", "table", "err.def"), encoding="utf-8") as table:
            known = set(re.findall(r"^ERR\((\w+),", table.read(), re.M))
        with open(os.path.join(HERE, "unreached.txt"), encoding="utf-8") as table:
            rows = [line.split(":", 1) for line in table if line.strip() and not line.startswith("#")]
        excused = {name.strip() for name, reason in rows if reason.strip()}
        yield from (f"tool {name} never succeeded" for name in sorted(self.offered - self.succeeded - excused))
        yield from (f"tool {name} succeeded, though unreached.txt has it" for name in sorted(self.succeeded & excused))
        excused -= self.offered
        yield from (f"error {code} was never reached" for code in sorted(known - self.codes - excused))
        yield from (f"error {code} was reached, though unreached.txt has it" for code in sorted(self.codes & excused))
        yield from (f"error {code} is not in err.def" for code in sorted((self.codes | excused) - known))


class Shared:
    """A set of daemons for several transcripts, started when one needs it and again after a failure."""

    def __init__(self, options):
        self.options, self.cluster, self.plays = options, None, 0

    def take(self, watch):
        if self.cluster is None:
            self.cluster = Cluster(self.options.bin, user=self.options.user)
            self.cluster.start()
        self.cluster.watch = watch
        self.plays += 1
        return self.cluster, f"play-{self.plays}"

    def close(self):
        """Stops the daemons; returns their exit statuses."""
        cluster, self.cluster = self.cluster, None
        return set(cluster.stop().values()) if cluster else set()


class Run:
    """One transcript in one protocol revision."""

    def __init__(self, transcript, revision, options, coverage, log, shared):
        self.shared = None if options.alone and revision == MODERN or needs_own_daemons(transcript) else shared
        self.transcript, self.revision, self.bin, self.user = transcript, revision, options.bin, options.user
        self.coverage, self.log, self.schemas_of_mcp = coverage, log, options.schemas
        self.names, self.waiting, self.last = dict(transcript.texts), {}, None
        self.schemas, self.killed, self.flags, self.toolsets = {}, set(), {}, "all"
        self.capabilities, self.heard, self.asked = {}, 0, None

    def play(self):
        for key, *words in self.transcript.settings:
            if key == "flags":
                self.flags.setdefault(words[0], []).extend(words[1:])
            elif key == "toolsets":
                self.toolsets = words[0]
            elif key == "capabilities":
                self.capabilities = words[0]
            elif key == "needs":
                for word in words:
                    self._need(word)
            elif key not in ("revisions", "alone"):
                raise ValueError(f"there is no setting {key}")
        watch = self.schemas_of_mcp and functools.partial(schemas.Watch, self.schemas_of_mcp)
        self.own = []
        if self.shared:
            self.cluster, namespace = self.shared.take(watch)
            self.own = ["--namespace=" + namespace]
        else:
            self.cluster = Cluster(self.bin, flags=self.flags, user=self.user, watch=watch)
        try:
            if not self.shared:
                self.cluster.start()
            self._open()
            for step in self.transcript.steps:
                self._step(step)
        except BaseException:
            self._tell_logs()
            self._stop()
            raise
        self._finish()

    # Of the daemons; those that are shared are not used again after a failure.
    def _stop(self):
        return self.shared.close() if self.shared else set(self.cluster.stop().values())

    def _need(self, what):
        sanitized = b"__asan_init" in open(os.path.join(self.bin, "cloister-validator"), "rb").read()
        if what == "root" and self.user is not None:
            raise LeftOut("needs root")
        if what == "root" and os.getuid() != 0:
            raise Skipped("needs root")
        if what == "release" and sanitized:
            raise LeftOut("not in a build with sanitizers")
        if what not in ("root", "release") and importlib.util.find_spec(what) is None:
            raise Skipped(f"{what} is not installed; compose/install-deps --data-science installs it")

    def _open(self):
        self._connect()
        self.auditor = self.cluster.client(MODERN, ["--toolsets=all", *self.own])
        for tool in self.client.request("tools/list", {})["tools"]:
            self.coverage.offered.add(tool["name"])
            for kind in ("inputSchema", "outputSchema"):
                if kind in tool:
                    self.schemas[tool["name"], kind] = validator(json.dumps(tool[kind]))
        page = self.auditor.call("audit_execution", {"limit": 1})["structuredContent"]["entries"]
        self.before = page[0]["sequence"] if page else 0

    def _connect(self):
        self.client = self.cluster.client(self.revision, ["--toolsets=" + self.toolsets, *self.own], self.capabilities)
        self.heard = 0

    def _step(self, step):
        try:
            {">": self._send, "raw": self._send_raw, "<": self._expect, "%": self._progress, "*": self._hear, "~": self._audited,
             "!": self._act}[step.kind](step)
        except Mismatch as error:
            raise Mismatch(f"line {step.line}: {error}") from None
        except Exception as error:
            raise RuntimeError(f"line {step.line}: {type(error).__name__}: {error}") from error

    # ---- sending ----

    def _send(self, step):
        method, value = step.words[0], fill(step.value, self.names)
        self._write(">", step.words + [step.label or ""], value)
        if method == "answer":
            self.client.send({"jsonrpc": "2.0", "id": self.asked, "result": value}, held=not step.wrong)
            return
        if method.startswith("notifications/"):
            self.client.notify(method, value, held=not step.wrong)
            return
        tool = step.words[1] if len(step.words) > 1 else None
        params = {"name": tool, "arguments": value} if tool else value
        if method == "tools/call" and isinstance(params.get("name"), str):  # all parameters may be given, too
            tool, value = params["name"], params.get("arguments", {})
        waiting = self.client.begin(method, params, progress=step.label is not None)
        if step.label:
            self.waiting[step.label] = waiting, tool, value
            self.names[step.label] = waiting.id
        else:
            self.last = self._take(waiting.message(SECONDS), tool, value)

    def _send_raw(self, step):
        self._write(">", ["raw"], repr(step.value[:200]))
        count = len(self.client.strays)
        self.client.send_raw(step.value + b"\n")
        end = time.monotonic() + SECONDS
        while len(self.client.strays) == count:
            if time.monotonic() > end:
                raise TimeoutError("no answer without an id came")
            time.sleep(0.005)
        self.last = self._take(self.client.strays[count], None, None)

    # Logs a reply and makes the checks that hold for every reply.
    def _take(self, message, tool, arguments):
        self._write("<", [tool or ""], message)
        result = message.get("result")
        if result is None:
            return {"error": message["error"]}
        if tool and result.get("resultType", "complete") == "complete":
            self._check(result, tool, arguments)
        return result

    def _check(self, result, tool, arguments):
        failed, value = result.get("isError"), result.get("structuredContent")
        texts = [part["text"] for part in result.get("content", []) if part["type"] == "text"]
        if not isinstance(failed, bool) or not texts:
            raise Mismatch(f"{tool}: the result lacks isError or a text")
        if self.toolsets in SYSTEMS:  # their results have forms of their own
            if not failed:
                self.coverage.succeeded.add(tool)
            return
        said = json.loads(texts[0])
        if not failed:
            self.coverage.succeeded.add(tool)
            self._check_schema(tool, "inputSchema", arguments)
        if value is not None:
            self._check_schema(tool, "outputSchema", value)
            if not is_part(said, value) and "note" not in said:
                raise Mismatch(f"{tool}: the text says other than structuredContent")
        if failed:
            self._check_error(said.get("error"), tool)

    def _check_schema(self, tool, kind, value):
        if (tool, kind) in self.schemas:
            wrong = jsonschema.exceptions.best_match(self.schemas[tool, kind].iter_errors(value))
            if wrong is not None:
                raise Mismatch(f"{tool} breaks its {kind} at {wrong.json_path}: {wrong.message[:300]}")

    def _check_error(self, error, tool):
        if not isinstance(error, dict) or not all(error.get(key) for key in ("code", "message", "hint")):
            raise Mismatch(f"{tool}: an error needs a code, a message and a hint: {error}")
        self.coverage.codes.add(error["code"])

    # ---- expectations ----

    def _expect(self, step):
        got = self.last
        if step.label:
            waiting, tool, arguments = self.waiting[step.label]
            got = self._take(waiting.message(SECONDS), tool, arguments)
            steps = [part["progress"] for part in waiting.progress]
            if any(later <= earlier for earlier, later in zip(steps, steps[1:])):
                raise Mismatch(f"progress does not grow: {steps}")
        match(step.value, got, self.names)

    # The next message of that method; skips earlier messages of other methods.
    def _hear(self, step):
        end = time.monotonic() + SECONDS
        while True:
            while self.heard < len(self.client.notifications):
                message = self.client.notifications[self.heard]
                self.heard += 1
                if message["method"] == step.words[0]:
                    self._write("*", [], message)
                    self.asked = message.get("id")
                    match(step.value, message.get("params", {}), self.names)
                    return
            if time.monotonic() > end:
                raise TimeoutError(f"no {step.words[0]} came")
            time.sleep(0.005)

    def _progress(self, step):
        waiting, end = self.waiting[step.label][0], time.monotonic() + SECONDS
        while True:
            for got in list(waiting.progress):
                try:
                    match(step.value, got, self.names)
                    self._write("%", [step.label], got)
                    return
                except Mismatch:
                    continue
            if time.monotonic() > end:
                raise Mismatch(f"no progress like {step.value} among {waiting.progress}")
            time.sleep(0.005)

    def _audited(self, step):
        wanted, end = {"event": {"event": step.words[0], **step.value}}, time.monotonic() + 10
        while True:
            reply = self.auditor.call("audit_execution", {"event": step.words[0], "limit": 1000})
            entries = [e for e in reply["structuredContent"]["entries"] if e["sequence"] > self.before]
            for entry in entries:
                try:
                    match(wanted, entry, self.names)
                    self._write("~", step.words, entry)
                    return
                except Mismatch:
                    continue
            if time.monotonic() > end:
                raise Mismatch(f"no such event; there are {json.dumps(entries)[:1500]}")
            time.sleep(0.02)

    # ---- actions ----

    def _act(self, step):
        action, *words = step.words
        self._write("!", step.words, None)
        if action == "kill":
            self.killed.add(words[0])
            self.cluster.kill(words[0])
        elif action == "restart":
            self._restart(words[0])
        elif action == "crash":
            self.client.process.kill()
            self.client.close()
            self._connect()
        elif action == "wait":
            time.sleep(int(words[0]) / 1000)
        elif action == "spoil":
            self._spoil(words[0])
        else:
            raise ValueError(f"there is no action {action}")

    # Each client has its own gateway: this restarts the client with a new gateway.
    def _restart(self, name):
        if name == "gateway":
            self._held(self.client)
            if self.client.close() != 0:
                raise Mismatch("the gateway did not end well")
            self._connect()
            return
        self.killed.add(name)
        self.cluster.restart(name)

    def _spoil(self, pattern):
        paths = [path for path in glob.glob(os.path.join(self.cluster.state, pattern), recursive=True)
                 if os.path.isfile(path) and os.path.getsize(path) > 0]
        if not paths:
            raise FileNotFoundError(pattern)
        for path in paths:
            os.chmod(path, 0o600)
            with open(path, "r+b") as file:
                data = bytearray(file.read())
                data[len(data) // 2] ^= 1
                file.seek(0)
                file.write(data)

    def _finish(self):
        for client in (self.client, self.auditor):
            self._held(client)
        for label, (waiting, *_) in self.waiting.items():
            if not waiting.reply.empty():
                raise Mismatch(f"the reply to [{label}] was not looked at: {waiting.reply.get()}")
        dead = [name for name in SERVERS if name in self.cluster.processes and
                self.cluster.processes[name].poll() is not None]
        logs = "".join(text for _, text in self._logs())
        if dead or FAULTS.search(logs):
            self._tell_logs()
            self._stop()
            raise Mismatch(f"dead at the end: {dead}; faults: {FAULTS.findall(logs)}")
        if self.shared:
            self._reset()
        self.coverage.messages += sum(client.watch.count for client in (self.client, self.auditor) if client.watch)
        statuses = {self.client.close(), self.auditor.close()}
        if not self.shared:
            statuses |= self._stop()
        if statuses != {0}:
            raise Mismatch(f"daemons ended with status {statuses}")

    # The limit of sessions is the principal's, over all namespaces.
    def _reset(self):
        for session in self.auditor.call("sandbox_stats", {})["structuredContent"]["sessions"]:
            self.auditor.call("terminate_session", {"session_id": session["session_id"]})

    # ---- the log ----

    # Every message to and from the client matched the schema of its revision.
    def _held(self, client):
        if client.breaches:
            raise Mismatch(f"{len(client.breaches)} messages break the schema of MCP {client.revision}: " + "\n    ".join(client.breaches[:5]))

    def _write(self, kind, words, value):
        text = json.dumps(value, ensure_ascii=False) if value is not None else ""
        if len(text) > 8000:
            text = f"{text[:6000]} ... {text[-1000:]}"
        self.log.write(f"{kind} {' '.join(word for word in words if word)} {text}\n")
        self.log.flush()

    def _tell_logs(self):
        for name, text in self._logs():
            self.log.write(f"---- log of {name}\n{text[-20000:]}\n")

    def _logs(self):
        names = sorted(os.listdir(self.cluster.logs)) if os.path.isdir(self.cluster.logs) else []
        return [(name, self.cluster.log(name)) for name in names]


def needs_own_daemons(transcript):
    acts = {step.words[0] for step in transcript.steps if step.kind == "!"}
    return bool(acts - {"wait"}) or any(key in ("alone", "flags") for key, *_ in transcript.settings)


def revisions_of(transcript, options):
    return [revision for revision in all_revisions_of(transcript)
            if not (options.newest and revision != MODERN or options.older and revision == MODERN)]


def all_revisions_of(transcript):
    for key, *words in transcript.settings:
        if key == "revisions":
            return [MODERN, *LEGACY] if words == ["all"] else words
    return [MODERN, LEGACY[0]]


def play_file(path, options, coverage, tally, shared):
    with open(path, encoding="utf-8") as file:
        transcript = parse(file.read())
    for revision in revisions_of(transcript, options):
        name = f"{os.path.basename(path)[:-4]} {revision}"
        log_path = os.path.join(options.log, name.replace(" ", ".") + ".log")
        begun = time.monotonic()
        with open(log_path, "w", encoding="utf-8") as log:
            try:
                Run(transcript, revision, options, coverage, log, shared).play()
                verdict, why = "passed", ""
            except LeftOut as error:
                print(f"left out {name}: {error}")
                return
            except Skipped as error:
                verdict, why = "skipped", str(error)
            except Exception as error:  # pylint: disable=broad-except
                log.write(traceback.format_exc())
                verdict, why = "failed", f"{error}\n    see {log_path}"
        tally[verdict] += 1
        if verdict != "passed" or not options.brief:
            print(f"{verdict:7} {name} ({time.monotonic() - begun:.1f} s){': ' + why if why else ''}", flush=True)


# Can that user start the programs?
def _reaches(user, bin_):
    try:
        subprocess.run([os.path.join(bin_, "cloister-gateway"), "--version"], user=user, stdout=subprocess.DEVNULL, check=True)
        return True
    except PermissionError:
        return False


# The programs, in a place that every user can enter.
def _bring(bin_, directory):
    os.chmod(directory, 0o755)
    return shutil.copytree(bin_, os.path.join(directory, "bin"))


def main():
    parser = argparse.ArgumentParser(description="Plays transcripts.")
    parser.add_argument("bin")
    parser.add_argument("--log", default=os.path.join(HERE, "log"))
    parser.add_argument("--user", type=lambda name: pwd.getpwnam(name).pw_uid)
    parser.add_argument("--schemas", action="store_true", default=None)
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--alone", action="store_true", default="E2E_ALONE" in os.environ)
    parser.add_argument("--newest", action="store_true", default="E2E_NEWEST" in os.environ)
    parser.add_argument("--older", action="store_true", default="E2E_OLDER" in os.environ)
    parser.add_argument("transcripts", nargs="*")
    options = parser.parse_intermixed_args()
    if not os.path.exists(os.path.join(options.bin, "cloister-gateway")):
        skip(f"there are no programs in {options.bin}")
    if options.user is not None and os.getuid() != 0:
        skip("only root starts daemons as another user")
    if options.schemas:
        options.schemas = schemas.load_if_npm()
    with tempfile.TemporaryDirectory(prefix="cloister-e2e-") as directory:
        if options.user is not None and not _reaches(options.user, options.bin):
            options.bin = _bring(options.bin, directory)
        play_all(options)


def play_all(options):
    os.makedirs(options.log, exist_ok=True)
    coverage, tally, shared = Coverage(), {"passed": 0, "failed": 0, "skipped": 0}, Shared(options)
    for path in options.transcripts or sorted(glob.glob(os.path.join(HERE, "*.mcp"))):
        play_file(path, options, coverage, tally, shared)
    if shared.close() - {0}:
        tally["failed"] += 1
        print("daemons that were shared did not end with status 0")
    # Without root, the coverage that needs root is missing.
    if not options.transcripts and not options.older and options.user is None and not tally["skipped"]:
        missing = list(coverage.missing())
        tally["failed" if missing else "passed"] += 1
        if options.schemas:
            print(f"{coverage.messages} messages were held to the schemas of MCP")
        print("\n".join(["what should have been reached:", *missing]) if missing else "all that there is was reached")
    print(f"{tally['passed']} passed, {tally['failed']} failed, {tally['skipped']} skipped")
    sys.exit(tally["failed"] > 0)


main()
