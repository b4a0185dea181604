# SPDX-License-Identifier: Apache-2.0
"""All daemons of a build on private directories, and a small MCP client, for tests that need real daemons.

    with Cluster("build/bin") as cluster:              # or .start() ... .stop()
        result = cluster.call("execute_code", {"code": "print(1)"})      # a tools/call result
        client = cluster.client(revision="2025-11-25")      # another gateway, another revision; default 2026-07-28
        waiting = client.begin("tools/call", {"name": "execute_code", "arguments": {"code": "..."}})
        client.notify("notifications/cancelled", {"requestId": waiting.id})
        cluster.kill("executor"); cluster.restart("executor"); print(cluster.log("executor"))

Cluster(bin, env=..., flags={"executor": ["--max-concurrent=4"]}, user=..., servers=("validator",), watch=...): env applies to
every program; user (a uid) starts everything as that user, which needs root; servers lists the daemons to start, by default
all; watch(revision) makes a schemas.Watch for each client.  If root starts it without user, the daemons switch to their own uids.
Every process is ended by its pid; no file is left behind unless keep=True.
A test that cannot run here calls skip("why"), which exits with status 77.
"""

import json
import os
import pwd
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers  # noqa: E402

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
# Each server with an edge that it binds once it is ready; in the order of starting.
SERVERS = {name: peers.first_edge(name) for name in peers.RESIDENT}
# Texts that no daemon's log may contain.
FAULTS = re.compile(r"ERROR: AddressSanitizer|ERROR: LeakSanitizer|runtime error:|Assertion failed|not in syscalls\.def")
LISTENS = re.compile(r"https?://[\w.]+:[0-9]+")


def skip(why):
    print("skipped:", why)
    sys.exit(77)


class RpcError(Exception):
    """A JSON-RPC error, as opposed to a tool's result with isError."""

    def __init__(self, error):
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code, self.message, self.data = error.get("code"), error.get("message"), error.get("data")


class Waiting:
    """A request under way; result() waits for it, shows() for a text in its progress, the notifications before the result."""

    def __init__(self, id_):
        self.id, self.reply, self.progress = id_, queue.Queue(), []

    def message(self, timeout=60):
        try:
            return self.reply.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError(f"request {self.id!r} was not answered within {timeout} s") from None

    def shows(self, text, timeout=30):
        """Until the progress has the text; raises at once if the request ends without it."""
        end = time.monotonic() + timeout
        while not any(text in str(part) for part in self.progress):
            assert self.reply.empty(), f"it ended without {text!r}: {self.reply.get()}"
            assert time.monotonic() < end, f"no {text!r} within {timeout} s: {self.progress}"
            time.sleep(0.01)

    def result(self, timeout=60):
        message = self.message(timeout)
        if "error" in message:
            raise RpcError(message["error"])
        return message["result"]


class Client:
    """One MCP client over a gateway's stdin and stdout: line based, any number of concurrent requests."""

    def __init__(self, command, revision=MODERN, env=None, stderr=None, capabilities=None, watch=None, **popen):
        self.revision, self.command, self.watch, self.breaches = revision, command, watch, []
        self.capabilities = capabilities or {}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                                        env=env, **popen)
        self.notifications, self.strays = [], []
        self._lock, self._next, self._open, self._tokens = threading.Lock(), 0, {}, {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if revision in LEGACY:
            self.initialized = self.request("initialize", {
                "protocolVersion": revision, "capabilities": self.capabilities, "clientInfo": {"name": "tests", "version": "1"}})
            self.notify("notifications/initialized")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # Sends a request and returns its result; raises RpcError.
    def request(self, method, params=None, timeout=60):
        return self.begin(method, params).result(timeout)

    # Sends a request without waiting. progress=True asks for notifications, which are collected in .progress of the
    # result.
    def begin(self, method, params=None, progress=False, id_=None):
        params = dict(params or {})
        with self._lock:
            self._next += 1
            waiting = Waiting(self._next if id_ is None else id_)
            self._open[json.dumps(waiting.id)] = waiting
        meta = dict(params.get("_meta", {}))
        if progress:
            meta["progressToken"] = f"token-{waiting.id}"
            self._tokens[meta["progressToken"]] = waiting
        if self.revision == MODERN:
            meta.setdefault("io.modelcontextprotocol/protocolVersion", MODERN)
            meta.setdefault("io.modelcontextprotocol/clientCapabilities", self.capabilities)
        if meta:
            params["_meta"] = meta
        self.send({"jsonrpc": "2.0", "id": waiting.id, "method": method, "params": params})
        return waiting

    # tools/call: returns the result as a dict, with isError or without.
    def call(self, tool, arguments=None, timeout=60):
        return self.request("tools/call", {"name": tool, "arguments": arguments or {}}, timeout)

    def notify(self, method, params=None, held=True):
        self.send({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}, held)

    def send(self, message, held=True):
        if held:
            self._look("sent", message)
        self.send_raw(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def send_raw(self, data):
        with self._lock:
            self.process.stdin.write(data)
            self.process.stdin.flush()

    # Closes stdin, like a client that exits; returns the gateway's exit status.
    def close(self, timeout=15):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        self._reader.join(timeout)
        self.process.stdout.close()
        return status

    def _read(self):
        for line in self.process.stdout:
            self._take(json.loads(line))
        for waiting in list(self._open.values()):
            waiting.reply.put({"error": {"code": 0, "message": "the gateway closed its output"}})

    # Checks a message against the schema of its revision (schemas.py); the test raises the breaches.
    def _look(self, direction, message):
        if self.watch is None:
            return
        try:
            getattr(self.watch, direction)(message)
        except Exception as breach:  # pylint: disable=broad-except
            self.breaches.append(f"{direction}: {type(breach).__name__}: {breach}")

    def _take(self, message):
        for one in message if isinstance(message, list) else [message]:
            self._look("received", one)
        if "method" in message:
            self.notifications.append(message)
            token = message.get("params", {}).get("progressToken")
            if token in self._tokens:
                self._tokens[token].progress.append(message["params"])
            return
        waiting = self._open.pop(json.dumps(message.get("id")), None)
        if waiting is None:
            self.strays.append(message)
        else:
            waiting.reply.put(message)


class Cluster:
    def __init__(self, bin, env=None, flags=None, user=None, keep=False, servers=tuple(SERVERS), watch=None):
        self.bin, self.watch = os.path.abspath(bin), watch
        self.flags, self.user, self.keep, self.servers = flags or {}, user, keep, servers
        self.directory = tempfile.mkdtemp(prefix="cloister-test-")
        self.run, self.state, self.logs = (os.path.join(self.directory, n) for n in ("run", "state", "logs"))
        # The uids of the daemons pass through; the directories below are protected by their own modes.
        os.chmod(self.directory, 0o755)
        for path in (self.run, self.state, self.logs):
            os.mkdir(path, 0o755)
            if user is not None:
                os.chown(path, user, pwd.getpwuid(user).pw_gid)
        self.env = {**{k: v for k, v in os.environ.items() if not k.startswith("CLOISTER_")}, **(env or {})}
        self.processes, self._clients, self._first = {}, [], None

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_):
        self.stop()

    # Starts all servers; returns when each is ready.
    def start(self, timeout=30):
        for name in self.servers:
            self._spawn(name)
        for name in self.servers:
            self._wait_ready(name, timeout)
        return self

    # A separate gateway of that revision; stop() closes it at the latest.
    def client(self, revision=MODERN, flags=(), capabilities=None):
        with open(os.path.join(self.logs, "gateway"), "ab") as log:
            client = Client(self.command("gateway") + list(flags), revision, self.env, log, capabilities, self.watch and self.watch(revision),
                            **self._identity())
        self._clients.append(client)
        return client

    # tools/call through one shared modern client.
    def call(self, tool, arguments=None, timeout=60):
        if self._first is None or self._first.process.poll() is not None:
            self._first = self.client(flags=["--toolsets=all", "--result-bytes=0"])  # the whole result, however long
        return self._first.call(tool, arguments, timeout)

    # SIGKILL, or another signal; returns when the process has ended.
    def kill(self, name, signal_=signal.SIGKILL):
        process = self.processes.pop(name)
        process.send_signal(signal_)
        return process.wait(30)

    # Restarts a daemon on its old state; kills it first if it still runs.
    def restart(self, name, timeout=30):
        if name in self.processes:
            self.kill(name)
        self._spawn(name)
        self._wait_ready(name, timeout)

    # Stops all processes by pid; returns the exit status of each daemon.
    def stop(self, timeout=20):
        for client in self._clients:
            if client.process.poll() is None:
                client.close()
        self._clients, self._first = [], None
        # Clients before their servers, so that none waits for a server that has ended.
        names = [n for n in reversed(SERVERS) if n in self.processes]
        statuses = {name: self.end(self.processes.pop(name), timeout) for name in names}
        if not self.keep:
            shutil.rmtree(self.directory, ignore_errors=True)
        return statuses

    # A gateway over HTTP in front of these daemons.
    def served(self, flags=()):
        return Served(self.command("gateway"), self.env, self.directory, flags)

    # The daemon's stderr so far: JSON lines.
    def log(self, name):
        with open(os.path.join(self.logs, name), encoding="utf-8", errors="replace") as log:
            return log.read()

    def pid(self, name):
        return self.processes[name].pid

    def command(self, name):
        return [os.path.join(self.bin, "cloister-" + name), "--run=" + self.run, "--state=" + self.state,
                *self.flags.get(name, [])]

    def _identity(self):
        if self.user is None:
            return {}
        return {"user": self.user, "group": pwd.getpwuid(self.user).pw_gid, "extra_groups": []}

    def _spawn(self, name):
        with open(os.path.join(self.logs, name), "ab") as log:
            self.processes[name] = subprocess.Popen(self.command(name), stdin=subprocess.DEVNULL, stdout=log,
                                                    stderr=log, env=self.env, start_new_session=True,
                                                    **self._identity())

    def _wait_ready(self, name, timeout):
        end, path = time.monotonic() + timeout, os.path.join(self.run, SERVERS[name], "1")
        while not _listens(path):
            status = self.processes[name].poll()
            if status is not None:
                raise RuntimeError(f"{name} ended with status {status}:\n{self.log(name)[-2000:]}")
            if time.monotonic() > end:
                raise TimeoutError(f"{name} does not listen at {path}:\n{self.log(name)[-2000:]}")
            time.sleep(0.01)

    @staticmethod
    def end(process, timeout):
        if process.poll() is None:
            process.terminate()
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


class Served:
    """A gateway over HTTP on a free loopback port, without authentication; url is its endpoint."""

    def __init__(self, command, env=None, directory=None, flags=()):
        self.directory, self.own = directory or tempfile.mkdtemp(prefix="cloister-test-"), directory is None
        os.chmod(self.directory, 0o755)
        self.log_path = os.path.join(self.directory, "served.log")
        places = [f"--run={self.directory}/run", f"--state={self.directory}/state"] if self.own else []
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([*command, *places, "--transport=http", "--listen=127.0.0.1:0", "--anonymous", *flags], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, env=env, start_new_session=True)
        try:
            self.url = self._address(15) + "/mcp"
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def _address(self, timeout):
        end = time.monotonic() + timeout
        while True:
            found = LISTENS.search(self.log())
            if found:
                return found[0]
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the gateway does not listen; its status is {self.process.poll()}:\n{self.log()[-2000:]}")
            time.sleep(0.005)

    # Stops it with SIGTERM; returns its exit status and its log.
    def stop(self, timeout=20):
        status = Cluster.end(self.process, timeout)
        log = self.log()
        if self.own:
            shutil.rmtree(self.directory, ignore_errors=True)
        return status, log


# Does a living process listen there? The socket of a killed process does not count. The check opens no connection.
def _listens(path):
    with open("/proc/net/unix", encoding="utf-8", errors="replace") as table:
        return any(line.split(maxsplit=7)[7:] == [path] and int(line.split()[3], 16) & 0x10000
                   for line in map(str.rstrip, table) if line.startswith(tuple("0123456789abcdef")))
