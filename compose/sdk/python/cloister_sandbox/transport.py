# SPDX-License-Identifier: Apache-2.0
"""What carries the messages of one connection.  stdio.py and http.py are transports, and mcp.py is their peer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Optional, Protocol

from .errors import SandboxError
from .values import Object

# A longer message is refused.  50 MB of a file are 67 MB of base64, and the server may repeat a result as text.
MAX_MESSAGE = 256 * 1024 * 1024


class Peer(Protocol):
    def received(self, message: Any) -> None:
        """A message from the server: any JSON value."""

    def failed(self, error: SandboxError, request: Optional[int]) -> None:
        """No reply will come for this request; None: for any, and the connection has ended."""


class Transport(ABC):
    @abstractmethod
    async def open(self, peer: Peer) -> None:
        """Connects.  Raises StartError and then leaves nothing open."""

    @abstractmethod
    async def send(self, message: Object) -> None:
        """Returns when the message is on its way."""

    def agreed(self, version: str) -> None:
        """The revision of MCP that the server chose."""

    def forget(self, request: int) -> None:
        """Nobody waits for the reply to this request any more."""

    @abstractmethod
    async def close(self) -> None:
        """Ends the connection and all that belongs to it.  Never raises, and takes a few seconds at most."""
