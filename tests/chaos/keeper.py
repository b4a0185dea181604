# SPDX-License-Identifier: Apache-2.0
"""snapshotd alone, and a client that uses the executor's name; shared by the tests of snapshotd."""

import base64
import hashlib
import json
import os
import queue
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import daemons  # noqa: E402


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Refused(Exception):
    """The reply was an error."""

    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['text']}")
        self.code, self.text = error["code"], error["text"]


class Asker:
    """The program asker; any number of concurrent requests."""

    def __init__(self, command, env, log, **popen):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=env,
                                        **popen)
        self._lock, self._next, self._open = threading.Lock(), 0, {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def begin(self, message, request, principal="alice", namespace=""):
        """Returns a queue that receives the reply."""
        answer = queue.Queue()
        with self._lock:
            self._next += 1
            self._open[self._next] = answer
            line = {"id": self._next, "message": message, "request": request}
            if principal:
                line["principal"] = principal
            if namespace:
                line["namespace"] = namespace
            self.process.stdin.write(json.dumps(line).encode() + b"\n")
            self.process.stdin.flush()
        return answer

    @staticmethod
    def wait(answer, timeout=60):
        line = answer.get(timeout=timeout)
        if "error" in line:
            raise Refused(line["error"])
        return line["reply"]

    def ask(self, message, request, principal="alice", namespace=""):
        return self.wait(self.begin(message, request, principal, namespace))

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)
        self._reader.join(30)
        self.process.stdout.close()

    def _read(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            self._open.pop(answer["id"]).put(answer)


class Keeper(daemons.Cluster):
    def __init__(self, bin, asker, **options):
        super().__init__(bin, **{"servers": ("snapshotd",), **options})
        self._program, self.asker = asker, None

    def start(self, timeout=30):
        super().start(timeout)
        self.asker = self.another("1")
        return self

    # A second client beside the first.
    def another(self, instance):
        with open(os.path.join(self.logs, "asker"), "ab") as log:
            return Asker([self._program, "--run=" + self.run, "--state=" + self.state, "--instance=" + instance,
                          "--connect-wait-ms=20000"], self.env, log, **self._identity())

    def stop(self, timeout=20):
        if self.asker is not None:
            self.asker.close()
            self.asker = None
        return super().stop(timeout)

    # It listens before it has read its store; a reply proves that it has read it.
    def restart(self, name, timeout=30):
        super().restart(name, timeout)
        end = time.monotonic() + timeout
        while True:
            try:
                return self.list()
            except Refused as refused:  # from the process that has ended
                if refused.code != "unavailable" or time.monotonic() > end:
                    raise

    def ask(self, message, request, **who):
        return self.asker.ask(message, request, **who)

    # Offers, puts and commits a tree: path to content, to None for a directory, or to ("link", target).
    def save(self, tree, session="s1", description="", parent=None, **who):
        entries, contents = [], {}
        for path in sorted(tree, key=str.encode):
            content = tree[path]
            entry = {"path": path, "mode": 0o644, "mtime_ns": 1700000000123456789, "size": 0, "type": "file"}
            if content is None:
                entry.update(type="directory", mode=0o755)
            elif isinstance(content, tuple):
                entry.update(type="symlink", mode=0o777, target=content[1])
            else:
                entry.update(size=len(content), sha256=sha256(content))
                contents[entry["sha256"]] = content
            entries.append(entry)
        missing = self.ask("snapshot_offer", {"sha256": list(contents)}, **who)["sha256"]
        puts = [self.asker.begin("snapshot_put", {"sha256": digest,
                                                  "content": base64.b64encode(contents[digest]).decode()}, **who)
                for digest in missing]
        for put in puts:
            self.asker.wait(put)
        request = {"session_id": session, "description": description, "entries": entries,
                   "new_bytes": sum(len(contents[digest]) for digest in missing)}
        if parent is not None:
            request["parent"] = parent
        return self.ask("snapshot_commit", request, **who)

    # The tree of a snapshot; fetches and hashes every content.
    def restore(self, snapshot_id, **who):
        manifest, tree = self.ask("snapshot_open", {"snapshot_id": snapshot_id}, **who), {}
        for entry in manifest["entries"]:
            if entry["type"] == "directory":
                tree[entry["path"]] = None
            elif entry["type"] == "symlink":
                tree[entry["path"]] = ("link", entry["target"])
            else:
                reply = self.ask("snapshot_get", {"snapshot_id": snapshot_id, "sha256": entry["sha256"]}, **who)
                content = base64.b64decode(reply["content"])
                assert sha256(content) == entry["sha256"] and len(content) == entry["size"], entry
                tree[entry["path"]] = content
        return tree

    def list(self, session=None, **who):
        return self.ask("snapshot_query", {} if session is None else {"session_id": session}, **who)["snapshots"]

    def drop(self, snapshot_id, **who):
        return self.ask("snapshot_drop", {"snapshot_id": snapshot_id}, **who)

    def refusal(self, message, request, **who):
        try:
            reply = self.ask(message, request, **who)
        except Refused as refused:
            return refused
        raise AssertionError(f"{message} was answered: {reply}")

    # ---- on the disk ----

    def owner(self, principal="alice"):
        return os.path.join(self.state, "snapshotd", "store", sha256(principal.encode()))

    def content_file(self, digest, principal="alice"):
        return os.path.join(self.owner(principal), "contents", digest[0], digest)

    def manifest_file(self, snapshot_id, principal="alice", folder="snapshots"):
        return os.path.join(self.owner(principal), folder, snapshot_id)

    def contents(self, principal="alice"):
        return {name for _, _, names in os.walk(os.path.join(self.owner(principal), "contents")) for name in names}


def shorten(path, size):
    """Truncates the file. Its mode may forbid writing to other users than root."""
    os.chmod(path, 0o600)
    os.truncate(path, size)


def flip(path, at):
    """Flips one bit of a file."""
    os.chmod(path, 0o600)
    with open(path, "r+b") as file:
        file.seek(at, os.SEEK_END if at < 0 else os.SEEK_SET)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 4]))
