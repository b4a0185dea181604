# SPDX-License-Identifier: Apache-2.0
"""One HTTP/1.1 request and its response, on a connection of its own.

The peer is not trusted: each part of its response is bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from typing import AsyncIterator, Dict, Optional, Tuple
from urllib.parse import urlsplit

from .errors import ConnectionLost, ProtocolError, StartError
from .transport import MAX_MESSAGE

LINE_BYTES, MAX_HEADERS, PIECE = 65536, 100, 65536


class Url:
    """Where requests go."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        plain = url.isascii() and url.isprintable() and " " not in url
        if not plain or parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise ValueError(f"url: {url!r} is not http://host[:port]/path or https://host[:port]/path")
        self.secure, self.host = parts.scheme == "https", parts.hostname
        try:
            self.port = parts.port or (443 if self.secure else 80)
        except ValueError as error:
            raise ValueError(f"url: {url!r}: {error}") from error
        self.path = (parts.path or "/") + ("?" + parts.query if parts.query else "")
        self.authority = parts.netloc


class Exchange:
    """Usage: async with Exchange(url, tls) as exchange: await exchange.ask(...), then read() or pieces()."""

    def __init__(self, url: Url, tls: Optional[ssl.SSLContext]) -> None:
        self._url, self._tls = url, tls
        self.status, self.headers = 0, {}  # type: Tuple[int, Dict[str, str]]

    async def __aenter__(self) -> "Exchange":
        url = self._url
        tls = (self._tls or ssl.create_default_context()) if url.secure else None
        try:
            self._reader, self._writer = await asyncio.open_connection(url.host, url.port, ssl=tls, limit=LINE_BYTES)
        except (OSError, UnicodeError) as error:
            raise StartError(f"cannot connect to {url.host} port {url.port}: {error}") from error
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            await asyncio.wait_for(self._writer.wait_closed(), 1.0)

    async def ask(self, method: str, headers: Dict[str, str], body: bytes = b"") -> None:
        """Sends the request; returns when the head of the response is here."""
        lines = [f"{method} {self._url.path} HTTP/1.1", f"Host: {self._url.authority}", "Connection: close",
                 f"Content-Length: {len(body)}", *(f"{name}: {value}" for name, value in headers.items())]
        try:
            self._writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
            self._writer.write(body)
            # A server may refuse a request before it has read the whole; then only its response says why.
            with contextlib.suppress(ConnectionError):
                await self._writer.drain()
            await self._head()
        except OSError as error:
            raise ConnectionLost(f"the connection broke: {error}") from error

    async def _line(self) -> str:
        try:
            line = await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            raise ConnectionLost("the server closed the connection before its response was complete") from error
        except asyncio.LimitOverrunError as error:
            raise ProtocolError(f"the server sent a header line of more than {LINE_BYTES} bytes") from error
        return line.decode("latin-1").rstrip("\r\n")

    async def _head(self) -> None:
        while True:
            words = (await self._line()).split(" ", 2)
            if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdigit() or len(words[1]) != 3:
                raise ProtocolError(f"the server does not speak HTTP/1.1: {' '.join(words)[:100]!r}")
            self.status, self.headers = int(words[1]), {}
            while line := await self._line():
                name, _, value = line.partition(":")
                self.headers[name.strip().lower()] = value.strip()
                if len(self.headers) > MAX_HEADERS:
                    raise ProtocolError(f"the server sent more than {MAX_HEADERS} headers")
            if self.status >= 200:
                return

    def kind(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def read(self) -> bytes:
        body = bytearray()
        async for piece in self.pieces():
            body += piece
            if len(body) > MAX_MESSAGE:
                raise ProtocolError(f"the server sent a body of more than {MAX_MESSAGE} bytes")
        return bytes(body)

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it arrives."""
        try:
            if self.headers.get("transfer-encoding", "").lower() == "chunked":
                while size := self._number(await self._line(), 16):
                    async for piece in self._exactly(size):
                        yield piece
                    await self._line()
            elif "content-length" in self.headers:
                async for piece in self._exactly(self._number(self.headers["content-length"], 10)):
                    yield piece
            else:
                while piece := await self._reader.read(PIECE):
                    yield piece
        except OSError as error:
            raise ConnectionLost(f"the connection broke: {error}") from error

    async def _exactly(self, size: int) -> AsyncIterator[bytes]:
        while size > 0:
            piece = await self._reader.read(min(size, PIECE))
            if not piece:
                raise ConnectionLost("the server closed the connection before its response was complete")
            size -= len(piece)
            yield piece

    @staticmethod
    def _number(text: str, base: int) -> int:
        digits = text.partition(";")[0].strip()
        if not digits.isalnum() or len(digits) > 15:
            raise ProtocolError(f"the server sent {text[:40]!r} as a length")
        try:
            return int(digits, base)
        except ValueError as error:
            raise ProtocolError(f"the server sent {text[:40]!r} as a length") from error
