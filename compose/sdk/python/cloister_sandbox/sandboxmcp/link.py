# SPDX-License-Identifier: Apache-2.0
"""A connection whose event loop has a thread of its own: sandboxmcp has plain functions, no close(), and users who call one
object from several event loops."""

from __future__ import annotations

import asyncio
import threading
import weakref
from typing import Any, Coroutine, Dict, Optional, Tuple, TypeVar

from ..aio import AsyncSandbox
from ..portal import Portal
from ..sandbox import _end
from ..server import Server

T = TypeVar("T")


class Link:
    def __init__(self, server: Optional[Server] = None) -> None:
        self.server = server or Server()
        self.sandbox, self._portal = AsyncSandbox(self.server), Portal()
        self._end = weakref.finalize(self, _end, self._portal, self.sandbox)

    async def ask(self, coroutine: "Coroutine[Any, Any, T]") -> T:
        return await asyncio.wrap_future(self._portal.submit(coroutine))

    def wait(self, coroutine: "Coroutine[Any, Any, T]") -> T:
        """For a plain function: blocks its thread, also if an event loop runs there."""
        return self._portal.run(coroutine)

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self._end)


_shared: Dict[Tuple[Any, ...], Link] = {}
_lock = threading.Lock()


def shared(server: Optional[Server] = None) -> Link:
    """The connection of this process to a server, for objects that have no pipeline.  It ends with the process."""
    server = server or Server()
    key = (server.url, server.token, tuple(sorted((server.env or {}).items())), () if server.url else tuple(server.words()))
    with _lock:
        if key not in _shared:
            _shared[key] = Link(server)
        return _shared[key]
