# SPDX-License-Identifier: Apache-2.0
"""A server behind a URL, over Streamable HTTP: each message is a POST, and its replies are JSON or a stream of events."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from typing import Dict, Optional, Set

from .errors import ConnectionLost, HttpError, ProtocolError, SandboxError
from .exchange import Exchange, Url
from .sse import Events
from .transport import Peer, Transport
from .values import Object

END_SECONDS = 2.0
ERROR_CHARACTERS = 300


class Http(Transport):
    def __init__(self, url: str, token: Optional[str] = None, tls: Optional[ssl.SSLContext] = None) -> None:
        if token is not None and not (token.isascii() and token.isprintable()):
            raise ValueError("token: only printable ASCII can be sent")
        self._url, self._token, self._tls = Url(url), token, tls
        self._peer: Optional[Peer] = None
        self._session, self._version = "", ""
        self._requests: Dict[int, "asyncio.Task[None]"] = {}
        self._left: Set["asyncio.Task[None]"] = set()

    async def open(self, peer: Peer) -> None:
        self._peer = peer

    def agreed(self, version: str) -> None:
        self._version = version

    def _headers(self) -> Dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        if self._session:
            headers["Mcp-Session-Id"] = self._session
        if self._version:
            headers["MCP-Protocol-Version"] = self._version
        return headers

    async def send(self, message: Object) -> None:
        if self._peer is None:
            raise ConnectionLost("the connection was closed")
        if "method" in message and "id" in message:
            task = asyncio.ensure_future(self._request(self._peer, message))
            self._requests[message["id"]] = task
        else:
            await self._post(self._peer, message)

    async def _request(self, peer: Peer, message: Object) -> None:
        id_ = message["id"]
        try:
            await self._post(peer, message)
            # The peer ignores this if the reply was there.
            peer.failed(ConnectionLost("the server ended its response without a reply"), id_)
        except SandboxError as error:
            # A session that the server does not know any more: there is nothing to go on with.
            if isinstance(error, HttpError) and error.status == 404 and self._session:
                self._forgotten(peer, id_)
            else:
                peer.failed(error, id_)
        except ValueError as error:
            peer.failed(ProtocolError(f"cannot send or read a message: {error}"), id_)

    @staticmethod
    def _forgotten(peer: Peer, request: int) -> None:
        """This request was not carried out; of others that wait it is not known."""
        lost = ConnectionLost("the server has ended this session")
        lost.refused = True
        peer.failed(lost, request)
        peer.failed(ConnectionLost(str(lost)), None)

    async def _post(self, peer: Peer, message: Object) -> None:
        body = json.dumps(message, separators=(",", ":")).encode()
        async with Exchange(self._url, self._tls) as exchange:
            await exchange.ask("POST", self._headers(), body)
            await self._check(exchange)
            self._session = exchange.headers.get("mcp-session-id", self._session)
            if exchange.kind() == "text/event-stream":
                await self._stream(peer, exchange)
            elif exchange.status != 202:
                self._take(peer, await exchange.read(), exchange.kind())

    @staticmethod
    async def _check(exchange: Exchange) -> None:
        if 200 <= exchange.status < 300:
            return
        text = (await exchange.read()).decode(errors="replace").strip()
        with contextlib.suppress(ValueError, TypeError, KeyError):
            text = str(json.loads(text)["error"]["message"])
        raise HttpError(exchange.status, text[:ERROR_CHARACTERS])

    async def _stream(self, peer: Peer, exchange: Exchange) -> None:
        events = Events()
        async for piece in exchange.pieces():
            for event in events.feed(piece):
                self._take(peer, event, "application/json")

    @staticmethod
    def _take(peer: Peer, data: bytes, kind: str) -> None:
        if kind != "application/json":
            raise ProtocolError(f"the server sent {kind or 'a body without a type'} instead of JSON: {data[:100]!r}")
        try:
            message = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ProtocolError(f"the server sent a message that is not JSON: {data[:200]!r}") from error
        peer.received(message)

    def forget(self, request: int) -> None:
        task = self._requests.pop(request, None)
        if task is None or task.done():
            return
        # A stream that has brought its reply ends by itself; otherwise the connection is closed.
        task.cancel()
        self._left.add(task)
        task.add_done_callback(self._left.discard)

    async def close(self) -> None:
        peer, self._peer = self._peer, None
        for request in list(self._requests):
            self.forget(request)
        if self._left:
            await asyncio.wait(self._left, timeout=END_SECONDS)
        if peer is not None and self._session:
            # RuntimeError: at the end of the program the resolver's threads are gone.
            with contextlib.suppress(SandboxError, OSError, asyncio.TimeoutError, RuntimeError):
                await asyncio.wait_for(self._delete(), END_SECONDS)

    async def _delete(self) -> None:
        async with Exchange(self._url, self._tls) as exchange:
            await exchange.ask("DELETE", self._headers())
            await exchange.read()
