# SPDX-License-Identifier: Apache-2.0
"""A server that this process starts, and that reads and writes JSON lines on its standard streams.

The server gets a process session of its own, so that Ctrl-C in a terminal reaches only this process, which then cancels
what it waits for.  The server ends when its standard input closes, also if this process is killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from typing import Dict, List, Optional, Sequence, cast

from .errors import ConnectionLost, ProtocolError, SandboxError, StartError
from .transport import MAX_MESSAGE, Peer, Transport
from .values import Object

STDERR_KEPT = 4000
EXIT_SECONDS, KILL_SECONDS, END_SECONDS = 5.0, 2.0, 1.0


class Lines:
    """Splits bytes into lines, of at most `most` bytes."""

    def __init__(self, most: int = MAX_MESSAGE) -> None:
        self._most, self._rest = most, bytearray()

    def feed(self, data: bytes) -> List[bytes]:
        searched = len(self._rest)
        self._rest += data
        if self._rest.find(b"\n", searched) < 0:
            if len(self._rest) > self._most:
                raise ProtocolError(f"the server sent a line of more than {self._most} bytes")
            return []
        *lines, rest = bytes(self._rest).split(b"\n")
        self._rest = bytearray(rest)
        return lines


class _Process(asyncio.SubprocessProtocol):
    """The server's process, as callbacks of the event loop."""

    def __init__(self, peer: Peer) -> None:
        self._peer, self._lines, self._stderr = peer, Lines(), b""
        self._writable, self._broken = asyncio.Event(), False
        self._writable.set()
        self.exited = asyncio.Event()
        self.transport: Optional[asyncio.SubprocessTransport] = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._stderr = (self._stderr + data)[-STDERR_KEPT:]
        elif not self._broken:
            self._take(data)

    def _take(self, data: bytes) -> None:
        try:
            for line in self._lines.feed(data):
                self._peer.received(json.loads(line))
        except (ValueError, RecursionError):
            self._fail(ProtocolError(f"the server wrote a line that is not JSON: {line[:200]!r}"))
        except SandboxError as error:
            self._fail(error)

    def _fail(self, error: SandboxError) -> None:
        self._broken = True
        self._writable.set()
        self._peer.failed(error, None)

    def pipe_connection_lost(self, fd: int, exc: Optional[Exception]) -> None:
        if fd == 0:
            self._writable.set()
        # Its end usually follows at once, and is the better report.
        if fd == 1 and not self.exited.is_set():
            asyncio.get_running_loop().call_later(1.0, self._lost, "closed its standard output")

    def process_exited(self) -> None:
        self.exited.set()
        # What it wrote before is still read.
        status = self.transport.get_returncode() if self.transport else None
        asyncio.get_running_loop().call_later(0.05, self._lost, f"ended with status {status}")

    def _lost(self, how: str) -> None:
        if not self._broken:
            text = self._stderr.decode(errors="replace").strip()
            self._fail(ConnectionLost(f"the server {how}{'; its last words: ' + text if text else ''}"))

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    async def writable(self) -> None:
        await self._writable.wait()

    async def report(self) -> None:
        """Leaves time for its end and its last words, which say more than a closed pipe."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.exited.wait(), END_SECONDS)
            await asyncio.sleep(END_SECONDS / 4)

    def silence(self) -> None:
        self._broken = True


class Stdio(Transport):
    def __init__(self, command: Sequence[str], env: Optional[Dict[str, str]] = None) -> None:
        self._command, self._env = list(command), env
        self._process: Optional[_Process] = None

    async def open(self, peer: Peer) -> None:
        process = _Process(peer)
        environment = None if self._env is None else {**os.environ, **self._env}
        try:
            await asyncio.get_running_loop().subprocess_exec(
                lambda: process, *self._command, env=environment, start_new_session=True)
        except (OSError, ValueError) as error:
            raise StartError(f"cannot start {self._command[0]}: {error}") from error
        self._process = process

    async def send(self, message: Object) -> None:
        process = self._process
        pipe = process.transport.get_pipe_transport(0) if process and process.transport else None
        if process is None or pipe is None or pipe.is_closing():
            if process is not None:
                await process.report()
            raise ConnectionLost("the server reads no more requests")
        await process.writable()
        cast(asyncio.WriteTransport, pipe).write(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is None or process.transport is None:
            return
        process.silence()
        pipe = process.transport.get_pipe_transport(0)
        # abort(): the server sees the end of its input at once, and what it has not read of it is of no use any more.
        if pipe is not None and not pipe.is_closing():
            cast(asyncio.WriteTransport, pipe).abort()
        try:
            await self._end(process, process.transport)
        finally:
            # Closes the pipes, which a process that the server left behind may hold open, and kills the server if it
            # still runs: it does after a cancelled close().
            process.transport.close()

    @staticmethod
    async def _end(process: _Process, transport: asyncio.SubprocessTransport) -> None:
        for seconds, stop in ((EXIT_SECONDS, transport.terminate), (KILL_SECONDS, transport.kill), (KILL_SECONDS, None)):
            try:
                await asyncio.wait_for(process.exited.wait(), seconds)
                return
            except asyncio.TimeoutError:
                try:
                    if stop is not None:
                        stop()
                except ProcessLookupError:
                    return
