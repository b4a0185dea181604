# SPDX-License-Identifier: Apache-2.0
"""The asynchronous API.  An AsyncSandbox belongs to the event loop that first uses it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from types import TracebackType
from typing import Any, Callable, List, Mapping, Optional, Sequence, Type, Union

from .errors import Closed, ConnectionLost, ProtocolError, RpcError, ToolError
from .lacking import lacking
from .mcp import INVALID_PARAMS, Client, Progress
from .questions import OnQuestion
from .result import Artifact, Result, Runtime, Snapshot, Validation, decode
from .retry import patiently
from .server import Server
from .session import AsyncSession
from .values import Object, objects, optional, required, texts, without_none

Content = Union[bytes, str]
# Called with each piece of output as it arrives: "stdout" or "stderr", and its text.
OnOutput = Callable[[str, str], None]
# Files travel in pieces: the server takes 50 MB at once.
PIECE = 32 * 1024 * 1024
MAX_PAGES = 100


def _bytes(content: Content) -> bytes:
    return content.encode() if isinstance(content, str) else bytes(content)


def _encode(content: bytes) -> str:
    return base64.b64encode(content).decode()


class AsyncSandbox:
    """A connection to a server.  It is made at the first call, and again after it was lost.

    Every call ends: with a result, or with an exception of errors.py within `deadline` seconds, plus the timeout that a
    run asks for.  A call that the server refuses for now (ToolError.retry_ms) is made again for at most `retry` seconds.
    on_question answers the server's questions to a person; without it, the server is told that nobody can be asked.
    """

    def __init__(self, server: Optional[Server] = None, *, deadline: float = 120.0, retry: float = 0.0,
                 on_question: Optional[OnQuestion] = None) -> None:
        self._server, self._deadline = server or Server(), deadline
        self._retry, self._on_question = retry, on_question
        self._client: Optional[Client] = None
        self._closed, self._opening = False, None  # type: bool, Optional[asyncio.Lock]

    async def __aenter__(self) -> "AsyncSandbox":
        await self._connected()
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        traceback: Optional[TracebackType]) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the connection, and the server if this object started it.  Sessions stay until they expire."""
        self._closed = True
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _connected(self) -> Client:
        self._opening = self._opening or asyncio.Lock()
        async with self._opening:
            if self._closed:
                raise Closed("the sandbox is closed")
            if self._client is not None and self._client.end is not None:
                lost, self._client = self._client, None
                await lost.close()
            if self._client is None:
                client = Client(self._server.transport(), self._on_question)
                await client.open(self._deadline)
                self._client = client
            return self._client

    # ---- any tool ----

    async def call(self, tool: str, **arguments: Any) -> Object:
        """The structured result of a tool; {"text": ...} if it has none.  Raises ToolError where it is refused."""
        return self._structured(await self._call(tool, arguments))

    async def _call(self, tool: str, arguments: Object, seconds: float = 0.0, progress: Optional[Progress] = None,
                    retry: Optional[float] = None) -> Object:
        """The reply of a tool, which did not refuse the call."""
        async def once() -> Object:
            try:
                reply = await self._send("tools/call", {"name": tool, "arguments": arguments}, self._deadline + seconds, progress)
            except RpcError as error:
                if error.code == INVALID_PARAMS and tool in error.message and tool not in await self.tools():
                    raise lacking(tool) from error
                raise
            self._structured(reply)
            return reply
        return await patiently(self._retry if retry is None else retry, once)

    async def _send(self, method: str, params: Object, seconds: float, progress: Optional[Progress] = None) -> Object:
        try:
            try:
                return await (await self._connected()).request(method, params, seconds, progress)
            except ConnectionLost as lost:
                if not lost.refused:
                    raise
                return await (await self._connected()).request(method, params, seconds, progress)
        except RpcError as error:
            refusal = ToolError.of(error.data, error.message)
            if refusal is not None:
                raise refusal from error
            raise

    @staticmethod
    def _structured(reply: Object) -> Object:
        content = optional(reply, "structuredContent", dict)
        if content is not None and (not reply.get("isError") or "success" in content):
            return content
        text = "".join(str(one.get("text", "")) for one in objects(reply, "content") if one.get("type") == "text")
        if reply.get("isError"):
            raise _refusal(content, text)
        return {"text": text}

    async def method(self, name: str, params: Optional[Object] = None) -> Object:
        """A method of the server that is no tool.  Raises ToolError where it is refused."""
        return await patiently(self._retry, lambda: self._send(name, params or {}, self._deadline))

    async def tools(self) -> List[str]:
        """The names of the server's tools."""
        names, cursor = [], None  # type: List[str], Optional[str]
        for _ in range(MAX_PAGES):
            page = await self.method("tools/list", without_none(cursor=cursor))
            names += [required(tool, "name", str) for tool in objects(page, "tools")]
            cursor = optional(page, "nextCursor", str)
            if cursor is None:
                return names
        raise ProtocolError(f"the server's list of tools has more than {MAX_PAGES} pages")

    # ---- programs ----

    async def run(self, code: str, *, language: Optional[str] = None, timeout: Optional[float] = None,
                  session: Optional[str] = None, files: Optional[Mapping[str, Content]] = None, profile: Optional[str] = None,
                  limits: Optional[Mapping[str, float]] = None, namespace: Optional[str] = None,
                  arguments: Optional[Sequence[str]] = None, stdin: Optional[Content] = None,
                  allowed_domains: Optional[Sequence[str]] = None, allowed_imports: Optional[Sequence[str]] = None,
                  packages: Optional[Sequence[str]] = None, environment: Optional[str] = None,
                  env_secrets: Optional[Sequence[str]] = None, on_output: Optional[OnOutput] = None,
                  retry: Optional[float] = None) -> Result:
        """Runs a program.  Without a session it runs in a fresh box, and its files are gone afterwards.

        files: contents by name, put into the workspace first.  limits: as in set_limits().  retry: in place of that of the
        sandbox.  The others are those of the tool execute_code; arguments and stdin only without a session.
        """
        asked = without_none(
            code=code, language=language, timeout=timeout, session_id=session, profile=profile, namespace=namespace,
            files=[{"filename": name, "content_base64": _encode(_bytes(content))} for name, content in (files or {}).items()] or None,
            resource_limits=dict(limits) if limits else None, arguments=texts("arguments", arguments),
            allowed_domains=texts("allowed_domains", allowed_domains), allowed_imports=texts("allowed_imports", allowed_imports),
            packages=texts("packages", packages), environment=environment, env_secrets=texts("env_secrets", env_secrets),
            **({} if stdin is None else {"stdin": stdin} if isinstance(stdin, str) else {"stdin_base64": _encode(bytes(stdin))}))
        # The server knows how long a program without a timeout may run; a caller who wants more says so.
        reply = await self._call("execute_code", asked, timeout or (limits or {}).get("timeout_seconds", 0.0),
                                 None if on_output is None else _output_to(on_output), retry)
        return Result.of(self._structured(reply), objects(reply, "content"))

    async def validate(self, code: str, *, language: str = "python", profile: Optional[str] = None,
                       auto_fix: bool = False) -> Validation:
        """Checks source without running it."""
        return Validation.of(await self.call("validate_code", **without_none(
            code=code, language=language, profile=profile, auto_fix=auto_fix)))

    def session(self, id: Optional[str] = None, *, language: Optional[str] = None, ttl: Optional[int] = None,
                profile: Optional[str] = None, limits: Optional[Mapping[str, float]] = None, namespace: Optional[str] = None,
                allowed_domains: Optional[Sequence[str]] = None, packages: Optional[Sequence[str]] = None,
                environment: Optional[str] = None) -> AsyncSession:
        """`async with sandbox.session() as session` or `session = await sandbox.session()`.  id: an existing one, which is
        not ended by the context manager."""
        return AsyncSession(self, id, without_none(
            language=language, ttl=ttl, profile=profile, resource_limits=dict(limits) if limits else None, namespace=namespace,
            allowed_domains=texts("allowed_domains", allowed_domains), packages=texts("packages", packages), environment=environment))

    # ---- files; without a session: those of the principal's default session ----

    async def upload(self, filename: str, content: Content, *, session: Optional[str] = None, overwrite: bool = True) -> str:
        """Writes a file of any size; returns the id of its session."""
        data = _bytes(content)
        for offset in range(0, max(len(data), 1), PIECE):
            reply = await self.call("sandbox_upload_file", **without_none(
                filename=filename, content_base64=_encode(data[offset:offset + PIECE]), session_id=session,
                overwrite=overwrite, offset=offset or None))
            session = required(reply, "session_id", str)
        return session or ""

    async def read(self, path: str, *, session: Optional[str] = None) -> bytes:
        """The whole content of a file."""
        data = bytearray()
        while True:
            reply = await self.call("sandbox_read_artifact", **without_none(
                path=path, session_id=session, offset=len(data) or None, length=PIECE))
            piece = decode(required(reply, "content_base64", str))
            data += piece
            if not piece or len(data) >= (optional(reply, "total_size", int) or 0):
                return bytes(data)

    async def list(self, *, session: Optional[str] = None) -> List[Artifact]:
        reply = await self.call("sandbox_list_artifacts", **without_none(session_id=session))
        return [Artifact.of(one, optional(reply, "session_id", str)) for one in objects(reply, "artifacts")]

    async def artifacts(self, execution_id: str) -> List[Artifact]:
        """The files that a run created or changed."""
        reply = await self.call("get_artifacts", request_id=execution_id)
        return [Artifact.of(one, optional(reply, "session_id", str)) for one in objects(reply, "artifacts")]

    # ---- snapshots ----

    async def snapshot(self, description: Optional[str] = None, *, session: Optional[str] = None) -> Snapshot:
        return Snapshot.of(await self.call("create_state_snapshot", **without_none(description=description, session_id=session)))

    async def restore(self, snapshot: Union[Snapshot, str], *, session: Optional[str] = None) -> Object:
        id_ = snapshot.id if isinstance(snapshot, Snapshot) else snapshot
        return await self.call("restore_state_snapshot", **without_none(snapshot_id=id_, session_id=session))

    async def snapshots(self) -> List[Snapshot]:
        return [Snapshot.of(one) for one in objects(await self.call("list_state_snapshots"), "snapshots")]

    async def delete_snapshot(self, snapshot: Union[Snapshot, str]) -> None:
        await self.call("delete_state_snapshot", snapshot_id=snapshot.id if isinstance(snapshot, Snapshot) else snapshot)

    # ---- secrets: environment variables of programs that name them in env_secrets; no call returns a value ----

    async def add_secret(self, name: str, value: Content, namespace: Optional[str] = None) -> None:
        """Stores a secret, or replaces its value.  Over HTTP the token needs the scope vault."""
        await self.method("cloister/vault/add", without_none(name=name, value=_encode(_bytes(value)), namespace=namespace))

    async def secrets(self, namespace: Optional[str] = None) -> List[str]:
        """The names of the stored secrets of a namespace."""
        reply = await self.method("cloister/vault/list", {"namespace": namespace or "default"})
        return [required(one, "name", str) for one in objects(reply, "secrets")]

    async def delete_secret(self, name: str, namespace: Optional[str] = None) -> None:
        await self.method("cloister/vault/delete", without_none(name=name, namespace=namespace))

    # ---- the server ----

    async def runtimes(self) -> List[Runtime]:
        return [Runtime.of(one) for one in objects(await self.call("list_runtimes"), "runtimes")]

    async def set_limits(self, **limits: float) -> Object:
        """Sets default limits for later runs: max_ram_mb, max_cpu_cores, timeout_seconds, ...; returns all of them."""
        return await self.call("set_resource_limits", resource_limits=limits)

    async def stats(self) -> Object:
        return await self.call("sandbox_stats")

    async def info(self) -> Object:
        return await self.call("get_sandbox_info")

    async def audit(self, limit: int = 50, **filters: str) -> List[Object]:
        """The newest records of the audit log.  filters: event, execution_id, session_id, namespace."""
        return objects(await self.call("audit_execution", limit=limit, **filters), "entries")


def _refusal(content: Optional[Object], text: str) -> ToolError:
    refusal = None
    with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
        refusal = ToolError.of((content or json.loads(text))["error"])
    return refusal or ToolError("unknown", text or "the server refused the call without a reason")


def _output_to(on_output: OnOutput) -> Progress:
    def take(params: Object) -> None:
        channel = (optional(params, "_meta", dict) or {}).get("cloister/channel")
        if channel in ("stdout", "stderr"):
            on_output(str(channel), str(params.get("message", "")))
    return take
