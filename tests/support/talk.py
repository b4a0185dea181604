# SPDX-License-Identifier: Apache-2.0
"""Talks to a language's driver (executor/guest/protocol.h) without a sandbox."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

SECONDS = 30


class Reply:
    """The reply to one piece of code: frames by kind, and the exit status of the statement or the process."""

    def __init__(self, frames, status):
        self.frames, self.status = frames, status

    def payload(self, kind):
        return next((payload for k, payload in self.frames if k == kind), None)

    @property
    def result(self):
        return json.loads(self.payload(b"R")) if self.payload(b"R") is not None else None

    @property
    def names(self):
        return (self.payload(b"V") or b"").decode().split()

    @property
    def error(self):
        return tuple((self.payload(b"E") or self.payload(b"U") or b"").decode().split("\n", 2))


class Talk:
    """A running driver. Its stdout and stderr are files; out() and err() return what is new since the last call."""

    def __init__(self, argv=None, zygote=None, files=None, wanted=False):
        self.folder = tempfile.TemporaryDirectory()
        self.workspace = os.path.join(self.folder.name, "w")
        os.mkdir(self.workspace)
        for name, text in (files or {}).items():
            with open(os.path.join(self.workspace, name), "w", encoding="utf-8") as file:
                file.write(text)
        self.texts = [open(os.path.join(self.folder.name, name), "w+b", buffering=0) for name in ("out", "err")]
        self.reads = [os.dup(os.open(text.name, os.O_RDONLY)) for text in self.texts]
        self.channel, far = socket.socketpair()
        self.channel.settimeout(SECONDS)
        if wanted:
            self.send(b"W", b"")
        self.zygote, self.process = zygote, None
        if zygote is not None:
            self.pid = zygote.fork(self.workspace, self.texts, far)
        else:
            self.process = self.start(argv, far)
            self.pid = self.process.pid
        far.close()
        if (idle := self.frame()) != (b"I", b""):
            raise AssertionError(f"instead of saying that it waits: {idle}, {self.err()}")

    # bash gives the channel the number 3. After exec it is the driver's process, in its own process group.
    def start(self, argv, far):
        os.set_inheritable(far.fileno(), True)
        return subprocess.Popen(
            ["/bin/bash", "-c", f'exec 3<&{far.fileno()} {far.fileno()}<&-; exec "$@"', "-", *argv], cwd=self.workspace,
            stdin=subprocess.DEVNULL, stdout=self.texts[0], stderr=self.texts[1], pass_fds=[far.fileno()],
            start_new_session=True, env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TMPDIR": self.folder.name,
                                         "HOME": self.folder.name, "MPLBACKEND": "Agg"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()
        if self.process is not None:
            os.killpg(self.pid, signal.SIGKILL) if self.process.poll() is None else None
            self.process.wait(SECONDS)
        for text in self.texts:
            text.close()
        for fd in self.reads:
            os.close(fd)
        self.folder.cleanup()

    def bytes(self, size):
        data = b""
        while len(data) < size:
            part = self.channel.recv(size - len(data))
            if not part:
                return None
            data += part
        return data

    def frame(self):
        head = self.bytes(5)
        return head and (head[:1], self.bytes(int.from_bytes(head[1:], "little")))

    def send(self, kind, text):
        data = text if isinstance(text, bytes) else text.encode()
        self.channel.sendall(kind + len(data).to_bytes(4, "little") + data)

    def ended(self):
        return self.process.wait(SECONDS) if self.process is not None else self.zygote.ended(self.pid)

    def finish(self):
        """Reads everything until its end. A driver that reports DONE of a program has nothing left to do."""
        frames = []
        try:
            while (frame := self.frame()) is not None:
                frames.append(frame)
                if frame[0] == b"D":  # it waits for that, or for a kill
                    self.channel.shutdown(socket.SHUT_WR)
        except ConnectionResetError:
            pass  # it ended without reading everything
        return Reply(frames, self.ended())

    def hand_over(self, kind, code):
        if self.zygote is not None and os.listdir(self.workspace):
            self.send(b"F", b"")
        self.send(kind, code)

    def program(self, code):
        self.hand_over(b"C", code)
        return self.finish()

    def answer(self):
        frames = []
        while (frame := self.frame()) is not None:
            frames.append(frame)
            if frame[0] == b"D":
                return Reply(frames, int(frame[1]))
        raise AssertionError(f"the driver ended ({self.ended()}): {frames} {self.err()}")

    def statement(self, code):
        self.hand_over(b"S", code)
        return self.answer()

    def interrupt(self):
        os.killpg(self.pid, signal.SIGINT)

    def _read(self, which):
        text = b""
        while part := os.read(self.reads[which], 1 << 16):
            text += part
        return text.decode(errors="replace")

    def out(self):
        return self._read(0)

    def err(self):
        return self._read(1)


class Zygote:
    """zygote.py, with a stand-in for the part that forks (tests/unit/zygote_stand_in.py)."""

    def __init__(self, folder, modules):
        self.socket, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(SECONDS)
        os.set_inheritable(far.fileno(), True)
        here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit", "zygote_stand_in.py")
        self.process = subprocess.Popen(
            ["/usr/bin/python3", "-I", "-B", here, folder, str(far.fileno()), modules], pass_fds=[far.fileno()],
            stderr=subprocess.PIPE, env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "MPLBACKEND": "Agg", "MARK": "kept"})
        far.close()

    def fork(self, workspace, texts, control):
        null = os.open("/dev/null", os.O_RDONLY)
        fds = [null, *(text.fileno() for text in texts), control.fileno()]
        socket.send_fds(self.socket, [workspace.encode()], fds)
        os.close(null)
        return int(self.socket.recv(64))

    # One at a time: the end of another process meanwhile is not reported again.
    def ended(self, pid):
        self.socket.send(b"?")
        while True:
            which, status = map(int, self.socket.recv(64).split())
            if which == pid:
                return status

    def close(self):
        self.socket.close()
        _, errors = self.process.communicate(timeout=SECONDS)
        return errors.decode()


def python(folder, **more):
    return Talk(["/usr/bin/python3", "-I", "-B", os.path.join(folder, "python", "driver.py")], **more)


def python_both(folder):
    yield lambda **more: python(folder, **more)
    zygote = Zygote(os.path.join(folder, "python"), "json,random,token,multiprocessing")
    yield lambda **more: Talk(zygote=zygote, **more)
    errors = zygote.close()
    assert errors == "", errors


# ---- helpers for tests ----

def check(talk, rows):
    """Each row: a statement, its status, its stdout, its result."""
    for code, status, out, result in rows:
        reply = talk.statement(code)
        wrote, said = talk.out(), talk.err()
        assert (reply.status, wrote, reply.result) == (status, out, result), (code, reply.status, wrote, reply.frames, said)


def interrupted(talk, code, later=0.05):
    """The status of a statement that is interrupted `later` seconds after it reports its start."""
    talk.send(b"S", code)
    end = time.monotonic() + 20
    while "on" not in talk.out():
        assert time.monotonic() < end, talk.err()
        time.sleep(0.001)
    time.sleep(later)
    talk.interrupt()
    return talk.answer()


if __name__ == "__main__":
    sys.exit("this is a module")
