# SPDX-License-Identifier: Apache-2.0
"""Every way in which a call can fail.

A program that fails is not an exception: its Result has success=False.  These are the cases without a result.
"""

from __future__ import annotations

from typing import Any, Optional


FORBIDDEN = 403
MAX_RETRY_MS = 3_600_000


class SandboxError(Exception):
    """The base of all exceptions of this package."""


class StartError(SandboxError):
    """The server's command could not be started, or its URL not be reached."""


class ConnectionLost(SandboxError):
    """The server ended, or closed the connection, before it replied.  Whether it ran the request is not known."""

    # It is known: the server did not run it, because it knows the connection's session no more.
    refused = False


class ProtocolError(SandboxError):
    """The server sent what MCP, JSON or HTTP does not allow."""


class HttpError(SandboxError):
    """The server refused a request with an HTTP status."""

    def __init__(self, status: int, text: str) -> None:
        hint = {401: "; pass a token", 403: "; the token lacks a scope", 404: "; check the path of the URL"}.get(status, "")
        super().__init__(f"the server replied with HTTP status {status}{': ' if text else ''}{text}{hint}")
        self.status = status


class RequestTimeout(SandboxError, TimeoutError):
    """No reply within the deadline.  The request has been cancelled at the server."""


class Closed(SandboxError):
    """The sandbox or session was used after it was closed."""


class RpcError(SandboxError):
    """The server replied with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code, self.message, self.data = code, message, data


class ToolError(SandboxError):
    """The server refused a call.  code is a word of cloister's table of errors, such as "limit_exceeded".  With retry_ms it
    refused the call only for now, as when its queue is full: the milliseconds to wait."""

    def __init__(self, code: str, message: str, hint: Optional[str] = None, retry_ms: Optional[int] = None) -> None:
        super().__init__(f"{code}: {message}{'. ' + hint if hint else ''}")
        self.code, self.message, self.hint, self.retry_ms = code, message, hint, retry_ms

    @classmethod
    def of(cls, said: Any, message: Any = None) -> Optional["ToolError"]:
        """The refusal that a server's object {code, message, hint, retry_ms} describes; None for another object."""
        if not isinstance(said, dict) or not isinstance(said.get("code"), str):
            return None
        hint, wait = said.get("hint"), said.get("retry_ms")
        text = str(said.get("message", "") if message is None else message)
        usable = isinstance(wait, int) and not isinstance(wait, bool) and 0 < wait <= MAX_RETRY_MS
        return cls(said["code"], text, hint if isinstance(hint, str) else None, wait if usable else None)


class ExecutionError(SandboxError):
    """Raised by Result.check() for a program that failed."""


class NotSupported(SandboxError, NotImplementedError):
    """The server lacks this.  The text says what to do instead."""


def is_denied(error: SandboxError) -> bool:
    """The caller's credentials do not suffice."""
    return isinstance(error, ToolError) and error.code == "denied" or isinstance(error, HttpError) and error.status == FORBIDDEN
