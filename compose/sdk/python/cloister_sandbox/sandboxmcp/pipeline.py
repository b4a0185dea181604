# SPDX-License-Identifier: Apache-2.0
"""sandboxmcp's SandboxPipeline: the object that its factory returns.

sandboxmcp has no close(), and its users call one pipeline from several event loops, one asyncio.run() after the other.  So
the connection lives in the loop of a portal, and ends with the program.

A run without a session gets a session of its own here, because sandboxmcp returns the content of new files, which
cloister keeps in sessions only.
"""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import time
import weakref
from collections import OrderedDict, deque
from typing import Any, Coroutine, Deque, Dict, List, Optional, Set, Tuple, TypeVar

from ..aio import AsyncSandbox, AsyncSession
from ..errors import ToolError
from ..lacking import lacking
from ..portal import Portal
from ..result import Result
from ..sandbox import _end
from ..server import Server
from ..values import Object, objects, optional, required, without_none
from .events import SandboxEvent, SandboxEventType, sandbox_event_bus
from .models import (Artifact, AuditAction, AuditEntry, ExecutionRequest, Language, ResourceLimits, SandboxResult, Session,
                     SessionStatus, ValidationResult)
from .replies import MAX_CONTENT, artifact_of, entry_of, refusal_of, result_of, validation_of

T = TypeVar("T")
INSTALLABLE = Language.python, Language.node
REMEMBERED = 1000
AUDIT_PAGE, AUDIT_PAGES, AUDIT_SECONDS = 200, 20, 2.0
# Codes that say that the request is at fault, not the server.
REFUSALS = {"code_too_large", "invalid_argument", "limit_exceeded", "not_found", "queue_full", "rate_limited", "session_busy",
            "session_expired", "session_limit"}
EXCEEDED = {"out_of_memory", "too_many_processes", "disk_full"}
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class SandboxPipeline:
    def __init__(self, server: Optional[Server] = None, *, resource_limits: Optional[ResourceLimits] = None,
                 max_concurrent_jobs: int = 4) -> None:
        self._sandbox, self._portal = AsyncSandbox(server), Portal()
        self._limits, self._most = resource_limits or ResourceLimits(), max_concurrent_jobs
        self._places: Optional[asyncio.Semaphore] = None
        self._one_run: Deque[str] = deque(maxlen=REMEMBERED)
        self._killed: "OrderedDict[str, Session]" = OrderedDict()
        self._last, self._packages = "", {}  # type: str, Dict[Language, List[str]]
        self._end = weakref.finalize(self, _end, self._portal, self._sandbox)

    async def _ask(self, coroutine: "Coroutine[Any, Any, T]") -> T:
        return await asyncio.wrap_future(self._portal.submit(coroutine))

    async def close(self) -> None:
        """Ends the connection.  sandboxmcp has no such method, and a program need not call it."""
        await asyncio.get_running_loop().run_in_executor(None, self._end)

    async def execute(self, request: ExecutionRequest) -> SandboxResult:
        await self._emit(SandboxEventType.execution_started, request.namespace, request_id=request.id, language=request.language.value)
        result = await self._ask(self._execute(request))
        await self._emit(_outcome(result), request.namespace, request_id=request.id, exit_code=result.exit_code,
                         duration_ms=result.duration_ms)
        for artifact in result.artifacts:
            if artifact.signature:
                await self._emit(SandboxEventType.artifact_signed, request.namespace, name=artifact.name, sha256=artifact.sha256)
        return result

    @staticmethod
    async def _emit(type_: SandboxEventType, namespace: str, **data: Any) -> None:
        await sandbox_event_bus.emit(SandboxEvent(type_, namespace, type_.value, data))

    async def _execute(self, request: ExecutionRequest) -> SandboxResult:
        if request.packages and request.language not in INSTALLABLE:
            raise lacking("install_package")
        limits = request.resource_limits or self._limits
        wrong = [name for name, value in limits.model_dump().items() if value <= 0]
        if wrong:
            return refusal_of(request, ToolError("invalid_argument", f"invalid resource limit: {wrong[0]} must be positive"))
        self._places = self._places or asyncio.Semaphore(self._most)
        async with self._places:
            try:
                return await self._in_session(request, limits)
            except ToolError as error:
                if error.code == "egress_denied":
                    raise lacking("request_egress") from error
                if error.code not in REFUSALS:
                    raise
                return refusal_of(request, error)

    async def _in_session(self, request: ExecutionRequest, limits: ResourceLimits) -> SandboxResult:
        session = self._sandbox.session(request.session_id, **self._opening(request.language, limits))
        async with session:
            if request.session_id is None:
                self._one_run.append(session.id)
            if request.env_vars:
                (await session.run(_set_variables(request.language, request.env_vars), language=request.language.value)).check()
            run = await session.run(request.code, **without_none(
                language=request.language.value, timeout=limits.timeout_seconds, namespace=_namespace(request.namespace),
                allowed_domains=request.allowed_domains or None, packages=self._packages_of(request) or None))
            self._last = run.execution_id
            return result_of(request, run, await self._contents(session, run), limits)

    def _packages_of(self, request: ExecutionRequest) -> List[str]:
        """The server installs into a session, and each request without one has its own."""
        return [*self._packages.get(request.language, ()), *request.packages]

    @staticmethod
    def _opening(language: Language, limits: ResourceLimits) -> Dict[str, Any]:
        # Defaults of sandboxmcp that no program was written for are the server's here: ten threads do not start Node.
        asked = {"max_processes": (limits.max_processes, ResourceLimits.max_processes),
                 "max_cpu_cores": (limits.max_cpu_cores, ResourceLimits.max_cpu_cores)}
        return {"language": language.value, "limits": {
            "max_ram_mb": limits.max_ram_mb, "timeout_seconds": limits.timeout_seconds, "max_output_bytes": limits.max_output_bytes,
            **{name: value for name, (value, default) in asked.items() if value != default}}}

    @staticmethod
    async def _contents(session: AsyncSession, run: Result) -> List[Artifact]:
        return [artifact_of(one, await session.read(one.path) if one.size <= MAX_CONTENT else None) for one in run.artifacts]

    async def validate_code(self, code: str, language: Language = Language.python) -> ValidationResult:
        """With profile open: the box holds whatever the code does, so only errors count."""
        language = Language(language)
        try:
            own = await self._ask(self._sandbox.validate(code, language=language.value, profile="open", auto_fix=True))
        except ToolError as error:
            if error.code == "runtime_missing":
                raise lacking("validate_code") from error
            raise
        return validation_of(code, language, own)

    async def install_package(self, language: Language, packages: List[str], namespace: str = "default") -> Tuple[bool, str]:
        """They are there for all later requests of this pipeline.  In vain: False and why."""
        language = Language(language)
        if language not in INSTALLABLE:
            raise lacking("install_package")
        try:
            reply = await self._ask(self._sandbox.call("install_package", language=language.value, packages=packages))
        except ToolError as error:
            return False, str(error)
        known = self._packages.setdefault(language, [])
        known += [one for one in packages if one not in known]
        await self._emit(SandboxEventType.package_installed, namespace, packages=packages)
        return True, "".join(f"Installed {one.get('name')} {one.get('version')}\n" for one in objects(reply, "packages"))

    async def create_session(self, language: Language = Language.python, namespace: str = "default",
                             limits: Optional[ResourceLimits] = None) -> Session:
        language, limits = Language(language), limits or self._limits
        opening = self._opening(language, limits)
        reply = await self._ask(self._sandbox.call("create_session", **without_none(
            language=language.value, resource_limits=opening["limits"], namespace=_namespace(namespace))))
        session = Session(required(reply, "session_id", str), language, resource_limits=limits, namespace=namespace)
        await self._emit(SandboxEventType.session_created, namespace, session_id=session.id)
        return session

    async def kill_session(self, session_id: str, namespace: str = "default") -> None:
        known = {session.id: session for session in await self.list_sessions()}
        await self._ask(self._sandbox.call("terminate_session", session_id=session_id))
        session = known.get(session_id) or Session(session_id, namespace=namespace)
        session.status = SessionStatus.killed
        self._killed[session_id] = session
        if len(self._killed) > REMEMBERED:
            self._killed.popitem(last=False)
        await self._emit(SandboxEventType.session_killed, namespace, session_id=session_id)

    async def list_sessions(self) -> List[Session]:
        """Those of the server, and those that this pipeline has killed."""
        stats = await self._ask(self._sandbox.stats())
        return [_session(one) for one in objects(stats, "sessions") if one.get("session_id") not in self._one_run] + \
            list(self._killed.values())

    async def list_runtimes(self) -> List[Dict[str, Any]]:
        return [{"language": one.language, "available": True, "backend": one.raw.get("backend", "box"), "version": one.version}
                for one in await self._ask(self._sandbox.runtimes())]

    async def get_stats(self) -> Dict[str, Any]:
        stats = await self._ask(self._sandbox.stats())
        queue = optional(stats, "queue", dict) or {}
        return {"queue": {**queue, "max_concurrent": self._most, "active": queue.get("running", 0), "queued": queue.get("waiting", 0),
                          "total_processed": queue.get("completed", 0)}, "sessions": len(objects(stats, "sessions"))}

    async def verify_artifact(self, artifact: Artifact, expected_hash: str) -> bool:
        return artifact.verify(expected_hash)

    async def audit_log(self, namespace: str = "default", action: Optional[AuditAction] = None, limit: int = 50) -> List[AuditEntry]:
        """The newest entries first, from the server's log, with the last run of this pipeline among them."""
        until = time.monotonic() + AUDIT_SECONDS
        while True:
            entries = await self._ask(self._audit(namespace, action, limit))
            # Records arrive in the log some milliseconds after the reply.
            last = self._last if action in (None, AuditAction.execute) else ""
            if last in ("", *(entry.request_id for entry in entries)) or time.monotonic() > until:
                return entries
            await asyncio.sleep(0.05)

    async def _audit(self, namespace: str, action: Optional[AuditAction], limit: int) -> List[AuditEntry]:
        found: List[AuditEntry] = []
        own, cursor = set(self._one_run), None  # type: Set[str], Optional[str]
        for _ in range(AUDIT_PAGES):
            page = await self._sandbox.call("audit_execution", **without_none(
                limit=AUDIT_PAGE, cursor=cursor, namespace=_namespace(namespace)))
            for record in objects(page, "entries"):
                entry = entry_of(record)
                inner = entry is not None and entry.action in (AuditAction.create_session, AuditAction.kill_session) and \
                    (optional(record, "event", dict) or {}).get("session_id") in own
                if entry is not None and not inner and action in (None, entry.action):
                    found.append(entry)
            cursor = optional(page, "next_cursor", str)
            if cursor is None or len(found) >= limit:
                break
        return found[:limit]

    async def vault_add(self, namespace: str, key: str, value: str, ttl_seconds: Optional[int] = None) -> None:
        raise lacking("vault")

    async def vault_list(self, namespace: str) -> List[str]:
        raise lacking("vault")

    async def vault_delete(self, namespace: str, key: str) -> None:
        raise lacking("vault")


def _namespace(namespace: str) -> Optional[str]:
    """sandboxmcp's clients fill in "default" where they mean none."""
    return None if namespace == "default" else namespace


def _session(raw: Object) -> Session:
    status = SessionStatus.running if raw.get("busy") else SessionStatus.idle
    language = raw.get("language")
    return Session(required(raw, "session_id", str), Language(language) if language in list(Language) else Language.python,
                   status=status, metadata=dict(raw))


def _outcome(result: SandboxResult) -> SandboxEventType:
    error = str(result.metadata.get("error") or "").partition(":")[0]
    if error == "timeout":
        return SandboxEventType.execution_timeout
    if error == "queue_full":
        return SandboxEventType.queue_backpressure
    if error in EXCEEDED:
        return SandboxEventType.resource_exceeded
    return SandboxEventType.execution_completed if result.success else SandboxEventType.execution_failed


def _set_variables(language: Language, variables: Dict[str, str]) -> str:
    """A statement that sets them for the next one, whose own lines it does not move."""
    for name in variables:
        if not VARIABLE.fullmatch(name):
            raise ValueError(f"env_vars: {name!r} is not the name of a variable")
    if language == Language.python:
        return f"__import__('os').environ.update({variables!r})"
    if language == Language.node:
        return f"Object.assign(process.env, {json.dumps(variables)}), null"
    return "\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items())
