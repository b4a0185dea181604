# SPDX-License-Identifier: Apache-2.0
"""One connection to an MCP server: requests with deadlines, cancellation and progress.

The server is not trusted.  What it sends ends at most this connection, and every request ends within its deadline.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Callable, Coroutine, Dict, Optional, Set

from .errors import Closed, ProtocolError, RequestTimeout, RpcError, SandboxError
from .questions import OnQuestion, Questions
from .transport import Transport
from .values import Object, optional, required
from .version import VERSION

REVISION = "2025-11-25"
REVISIONS = (REVISION, "2025-06-18", "2025-03-26", "2024-11-05")
CLIENT = {"name": "cloister-sandbox", "version": VERSION}
METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL = -32601, -32602, -32603
# Questions that wait for a person.
MAX_QUESTIONS = 16
# How long a message without a reply, such as a cancellation, may take to be sent.
NOTICE_SECONDS = 2.0

Progress = Callable[[Object], None]


class Client:
    """Usage: await open(); await request(...), any number at once; await close()."""

    def __init__(self, transport: Transport, on_question: Optional[OnQuestion] = None) -> None:
        self._transport, self._next = transport, 0
        self._questions = None if on_question is None else Questions(on_question)
        self._asking: Set["asyncio.Task[None]"] = set()
        self._waiting: Dict[int, "asyncio.Future[Any]"] = {}
        self._progress: Dict[int, Progress] = {}
        self._tasks: Set["asyncio.Task[None]"] = set()
        self.end: Optional[SandboxError] = None
        self.server: Object = {}

    async def open(self, seconds: float) -> None:
        try:
            await self._transport.open(self)
            self.server = await self.request("initialize", {
                "protocolVersion": REVISION, "capabilities": {} if self._questions is None else {"elicitation": {}},
                "clientInfo": CLIENT}, seconds)
            version = required(self.server, "protocolVersion", str)
            if version not in REVISIONS:
                raise ProtocolError(f"the server speaks revision {version[:40]!r} of MCP, which this client does not")
            self._transport.agreed(version)
            await asyncio.wait_for(self._transport.send({"jsonrpc": "2.0", "method": "notifications/initialized"}), seconds)
        except BaseException as error:
            await self.close()
            if isinstance(error, asyncio.TimeoutError) and not isinstance(error, RequestTimeout):
                raise RequestTimeout(f"the server did not take a message within {seconds:g} s") from error
            raise

    async def request(self, method: str, params: Object, seconds: float, progress: Optional[Progress] = None) -> Object:
        """The result.  Raises RpcError, RequestTimeout, ConnectionLost, ProtocolError, HttpError or Closed."""
        if self.end is not None:
            raise self.end
        self._next += 1
        id_, reply = self._next, asyncio.get_running_loop().create_future()
        self._waiting[id_] = reply
        if progress is not None:
            self._progress[id_] = progress
            params = {**params, "_meta": {"progressToken": id_}}
        sending = asyncio.ensure_future(self._transport.send({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}))
        try:
            return await self._reply(id_, method, reply, sending, seconds)
        finally:
            sending.cancel()
            reply.cancel()
            self._waiting.pop(id_, None)
            self._progress.pop(id_, None)
            self._transport.forget(id_)

    async def _reply(self, id_: int, method: str, reply: "asyncio.Future[Any]", sending: "asyncio.Future[None]",
                     seconds: float) -> Object:
        try:
            # A reply counts even if the server has not read the whole request.
            await asyncio.wait({reply, sending}, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
        except asyncio.CancelledError:
            self._abandon(id_, method, "the caller cancelled it")
            raise
        if reply.done():
            return self._result(reply.result())
        if sending.done() and not sending.cancelled() and sending.exception() is not None:
            raise sending.exception()  # type: ignore[misc]
        self._abandon(id_, method, "its deadline passed")
        raise RequestTimeout(f"no reply to {method} within {seconds:g} s")

    @staticmethod
    def _result(message: Object) -> Object:
        error = optional(message, "error", dict)
        if error is not None:
            raise RpcError(required(error, "code", int), optional(error, "message", str) or "", error.get("data"))
        return required(message, "result", dict)

    def _abandon(self, id_: int, method: str, reason: str) -> None:
        # MCP does not allow to cancel this one; the connection is closed instead.
        if method != "initialize" and self.end is None:
            self._notify({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id_, "reason": reason}})

    def _notify(self, message: Object) -> None:
        self._begin(self._tasks, self._send_quietly(message))

    @staticmethod
    def _begin(tasks: "Set[asyncio.Task[None]]", work: "Coroutine[Any, Any, None]") -> None:
        task = asyncio.ensure_future(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def _send_quietly(self, message: Object) -> None:
        with contextlib.suppress(SandboxError, asyncio.TimeoutError, OSError):
            await asyncio.wait_for(self._transport.send(message), NOTICE_SECONDS)

    def received(self, message: Any) -> None:
        for one in message if isinstance(message, list) else [message]:
            if not isinstance(one, dict):
                self.failed(ProtocolError(f"the server sent {str(one)[:100]!r} as a message"), None)
            elif "method" in one:
                self._called(one)
            else:
                self._answered(one)

    def _called(self, message: Object) -> None:
        if "id" not in message:
            self._noticed(message)
        elif message["method"] == "ping":
            self._notify({"jsonrpc": "2.0", "id": message["id"], "result": {}})
        elif message["method"] != "elicitation/create" or self._questions is None:
            self._refuse(message["id"], METHOD_NOT_FOUND, "this client has no such method")
        elif len(self._asking) >= MAX_QUESTIONS:
            self._refuse(message["id"], INTERNAL, f"{MAX_QUESTIONS} questions wait for a person")
        else:
            self._begin(self._asking, self._asked(self._questions, message))

    def _refuse(self, id_: Any, code: int, text: str) -> None:
        self._notify({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": text}})

    async def _asked(self, questions: Questions, message: Object) -> None:
        try:
            result = await questions.reply(required(message, "params", dict))
        except ProtocolError as error:
            self._refuse(message["id"], INVALID_PARAMS, str(error))
        else:
            self._notify({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _noticed(self, message: Object) -> None:
        params = message.get("params")
        if message["method"] != "notifications/progress" or not isinstance(params, dict):
            return
        token = params.get("progressToken")
        callback = self._progress.get(token) if isinstance(token, int) else None
        if callback is not None:
            # Its own step of the loop, so that its exceptions are not the server's.
            asyncio.get_running_loop().call_soon(callback, params)

    # A reply to a request that nobody waits for is normal after a cancellation.
    def _answered(self, message: Object) -> None:
        id_ = message.get("id")
        reply = self._waiting.get(id_) if isinstance(id_, int) else None
        if reply is not None and not reply.done():
            reply.set_result(message)
        elif id_ is None and "error" in message:
            self.failed(ProtocolError(f"the server could not read a message: {str(message['error'])[:200]}"), None)

    def failed(self, error: SandboxError, request: Optional[int]) -> None:
        if request is None and self.end is None:
            self.end = error
        for id_, reply in list(self._waiting.items()):
            if request in (None, id_) and not reply.done():
                reply.set_exception(error)
                reply.exception()  # Read here, because the waiter may have left.

    async def close(self) -> None:
        self.failed(Closed("the connection was closed"), None)
        for question in self._asking:
            question.cancel()
        for task in list(self._tasks):
            # A cancellation that was just written should still go out.
            await asyncio.wait({task}, timeout=NOTICE_SECONDS)
            task.cancel()
        await self._transport.close()
