# SPDX-License-Identifier: Apache-2.0
"""sandboxmcp's SandboxPipeline: the object that its factory returns.  Its connection ends with the program.

A run without a session gets a session of its own here, because sandboxmcp returns the content of new files, which
cloister keeps in sessions only.
"""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import time
import warnings
from collections import OrderedDict, deque
from typing import Any, Deque, Dict, List, Optional, Set, Tuple

from ..errors import SandboxError, ToolError, is_denied
from ..lacking import lacking
from ..result import Result
from ..server import Server
from ..session import AsyncSession
from ..values import Object, objects, optional, required, without_none
from .bases import BaseCodeValidator, BaseVault
from .check import check
from .egress import NetworkGuard
from .events import SandboxEventType, announce
from .link import Link
from .models import (Artifact, AuditAction, AuditEntry, ExecutionRequest, Language, ResourceLimits, SandboxResult, Session,
                     SessionStatus, ValidationResult, ValidationVerdict)
from .pii import PIIRedactor
from .printing import printing
from .replies import MAX_CONTENT, artifact_of, entry_of, opening_of, refusal_of, rejection_of, result_of
from .validator import CodeValidator
from .vault import InMemoryVault, mask

INSTALLABLE = Language.python, Language.node
REMEMBERED = 1000
AUDIT_PAGE, AUDIT_PAGES, AUDIT_SECONDS = 200, 20, 2.0
# Codes that say that the request is at fault, not the server.
REFUSALS = {"code_too_large", "invalid_argument", "limit_exceeded", "not_found", "queue_full", "rate_limited", "session_busy",
            "secret_not_found", "session_expired", "session_limit", "egress_denied"}
# A record of these says that the run has ended.
OF_RUN = AuditAction.execute, AuditAction.timeout
EXCEEDED = {"out_of_memory", "too_many_processes", "disk_full"}
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class SandboxPipeline:
    """backend: a ProcessBackend, whose server it uses.  vault: by default that of the server.  server: by default the one
    that Server() finds."""

    def __init__(self, backend: Any = None, vault: Optional[BaseVault] = None, network_guard: Optional[NetworkGuard] = None,
                 audit_logger: None = None, queue: None = None, resource_limits: Optional[ResourceLimits] = None,
                 code_validator: Optional[BaseCodeValidator] = None, pii_redactor: Optional[PIIRedactor] = None, *,
                 server: Optional[Server] = None, max_concurrent_jobs: int = 4) -> None:
        for name, given in (("backend", backend is not None and not hasattr(backend, "server")),
                            ("audit_logger", audit_logger is not None), ("queue", queue is not None)):
            if given:
                raise lacking(name)
        self._link = Link(server or getattr(backend, "server", None))
        self.server, self._sandbox = self._link.server, self._link.sandbox
        self.limits, self.max_concurrent_jobs = resource_limits or ResourceLimits(), max_concurrent_jobs
        self.network, self._vault = network_guard, InMemoryVault() if vault is None else vault
        self._validator, self._redactor = code_validator, pii_redactor
        for part in (self.network, self._vault):
            if isinstance(part, (NetworkGuard, InMemoryVault)):
                part.use(self._link)
        self._places: Optional[asyncio.Semaphore] = None
        self._one_run: Deque[str] = deque(maxlen=REMEMBERED)
        self._killed: "OrderedDict[str, Session]" = OrderedDict()
        self._no_vault = False
        self._last, self._packages = "", {}  # type: str, Dict[Language, List[str]]

    async def close(self) -> None:
        """Ends the connection.  sandboxmcp has no such method, and a program need not call it."""
        await self._link.close()

    async def execute(self, request: ExecutionRequest) -> SandboxResult:
        if self._validator is not None:
            checked = await self._checked(request.code, request.language)
            if checked.verdict == ValidationVerdict.rejected:
                return rejection_of(request, checked)
            request.code = checked.fixed_code or request.code
        stored, carried = await self._secrets(request.namespace)
        await announce(SandboxEventType.execution_started, request.namespace, request_id=request.id, language=request.language.value)
        if stored or carried:
            await announce(SandboxEventType.vault_accessed, request.namespace, request_id=request.id, keys=[*stored, *carried])
        result = self._masked(await self._link.ask(self._execute(request, stored, carried)), carried)
        await self._report(request, result)
        return result

    async def execute_in_session(self, session_id: str, code: str, language: Language = Language.python) -> SandboxResult:
        """Named in sandboxmcp's documentation, and absent there."""
        return await self.execute(ExecutionRequest(code, language, session_id))

    async def _secrets(self, namespace: str) -> Tuple[List[str], Dict[str, str]]:
        """The names of those that the server keeps, and the others with their values."""
        if not isinstance(self._vault, InMemoryVault):
            return [], await self._vault.get_secrets(namespace)
        if self._no_vault:
            return [], {}
        try:
            return await self._vault.list_keys(namespace), {}
        except SandboxError as error:
            if not is_denied(error):
                raise
            warnings.warn("programs run without secrets: the token lacks the scope vault", UserWarning, stacklevel=3)
            self._no_vault = True
            return [], {}

    def _masked(self, result: SandboxResult, carried: Dict[str, str]) -> SandboxResult:
        result.stdout, result.stderr = mask(result.stdout, carried), mask(result.stderr, carried)
        if self._redactor is not None:
            result.stdout, result.stderr = self._redactor.redact(result.stdout), self._redactor.redact(result.stderr)
        return result

    async def _report(self, request: ExecutionRequest, result: SandboxResult) -> None:
        if result.metadata.get("error") == "egress_denied":
            await announce(SandboxEventType.egress_denied, request.namespace, domains=self._domains(request))
        await announce(_outcome(result), request.namespace, request_id=request.id, exit_code=result.exit_code,
                       duration_ms=result.duration_ms)
        for artifact in result.artifacts:
            if artifact.signature:
                await announce(SandboxEventType.artifact_signed, request.namespace, name=artifact.name, sha256=artifact.sha256)

    def _domains(self, request: ExecutionRequest) -> List[str]:
        """Those of the request, and those that the pipeline's guard allows to all."""
        common = self.network.allowed_domains if self.network is not None and self.network.enabled else []
        return list(dict.fromkeys([*request.allowed_domains, *common]))

    async def _execute(self, request: ExecutionRequest, stored: List[str], carried: Dict[str, str]) -> SandboxResult:
        if request.packages and request.language not in INSTALLABLE:
            raise lacking("install_package")
        limits = request.resource_limits or self.limits
        wrong = [name for name, value in limits.model_dump().items() if value <= 0]
        if wrong:
            return refusal_of(request, ToolError("invalid_argument", f"invalid resource limit: {wrong[0]} must be positive"))
        self._places = self._places or asyncio.Semaphore(self.max_concurrent_jobs)
        async with self._places:
            try:
                return await self._in_session(request, limits, stored, {**carried, **request.env_vars})
            except ToolError as error:
                if error.code not in REFUSALS:
                    raise
                return refusal_of(request, error)

    async def _in_session(self, request: ExecutionRequest, limits: ResourceLimits, stored: List[str],
                          variables: Dict[str, str]) -> SandboxResult:
        session = self._sandbox.session(request.session_id, **opening_of(request.language, limits))
        async with session:
            if request.session_id is None:
                self._one_run.append(session.id)
            if variables:
                (await session.run(_set_variables(request.language, variables), language=request.language.value)).check()
            code = printing(request.code) if request.language == Language.python else request.code
            run = await session.run(code, **without_none(
                language=request.language.value, timeout=limits.timeout_seconds, namespace=_namespace(request.namespace),
                allowed_domains=self._domains(request) or None, packages=self._packages_of(request) or None, env_secrets=stored or None))
            self._last = run.execution_id
            return result_of(request, run, await self._contents(session, run), limits)

    def _packages_of(self, request: ExecutionRequest) -> List[str]:
        """The server installs into a session, and each request without one has its own."""
        return [*self._packages.get(request.language, ()), *request.packages]

    @staticmethod
    async def _contents(session: AsyncSession, run: Result) -> List[Artifact]:
        return [artifact_of(one, await session.read(one.path) if one.size <= MAX_CONTENT else None) for one in run.artifacts]

    async def validate_code(self, code: str, language: Language = Language.python) -> ValidationResult:
        return await self._checked(code, Language(language))

    async def _checked(self, code: str, language: Language) -> ValidationResult:
        if isinstance(self._validator, CodeValidator):
            return await self._link.ask(self._validator.check(self._sandbox, code, language))
        if self._validator is not None:
            return self._validator.validate(code, language)
        return await self._link.ask(check(self._sandbox, code, language))

    async def install_package(self, language: Language, packages: List[str], namespace: str = "default") -> Tuple[bool, str]:
        """They are there for all later requests of this pipeline.  In vain: False and why."""
        language = Language(language)
        if language not in INSTALLABLE:
            raise lacking("install_package")
        try:
            reply = await self._link.ask(self._sandbox.call("install_package", language=language.value, packages=packages))
        except ToolError as error:
            return False, str(error)
        known = self._packages.setdefault(language, [])
        known += [one for one in packages if one not in known]
        await announce(SandboxEventType.package_installed, namespace, packages=packages)
        return True, "".join(f"Installed {one.get('name')} {one.get('version')}\n" for one in objects(reply, "packages"))

    async def create_session(self, language: Language = Language.python, namespace: str = "default",
                             limits: Optional[ResourceLimits] = None) -> Session:
        language, limits = Language(language), limits or self.limits
        opening = opening_of(language, limits)
        reply = await self._link.ask(self._sandbox.call("create_session", **without_none(
            language=language.value, resource_limits=opening["limits"], namespace=_namespace(namespace))))
        session = Session(required(reply, "session_id", str), language, resource_limits=limits, namespace=namespace)
        await announce(SandboxEventType.session_created, namespace, session_id=session.id)
        return session

    async def kill_session(self, session_id: str, namespace: str = "default") -> None:
        known = {session.id: session for session in await self.list_sessions()}
        await self._link.ask(self._sandbox.call("terminate_session", session_id=session_id))
        session = known.get(session_id) or Session(session_id, namespace=namespace)
        session.status = SessionStatus.killed
        self._killed[session_id] = session
        if len(self._killed) > REMEMBERED:
            self._killed.popitem(last=False)
        await announce(SandboxEventType.session_killed, namespace, session_id=session_id)

    async def list_sessions(self) -> List[Session]:
        """Those of the server, and those that this pipeline has killed."""
        stats = await self._link.ask(self._sandbox.stats())
        return [_session(one) for one in objects(stats, "sessions") if one.get("session_id") not in self._one_run] + \
            list(self._killed.values())

    async def list_runtimes(self) -> List[Dict[str, Any]]:
        return [{"language": one.language, "available": True, "backend": one.raw.get("backend", "box"), "version": one.version}
                for one in await self._link.ask(self._sandbox.runtimes())]

    async def get_stats(self) -> Dict[str, Any]:
        stats = await self._link.ask(self._sandbox.stats())
        queue = optional(stats, "queue", dict) or {}
        return {"queue": {**queue, "max_concurrent": self.max_concurrent_jobs, "active": queue.get("running", 0), "queued": queue.get("waiting", 0),
                          "total_processed": queue.get("completed", 0)}, "sessions": len(objects(stats, "sessions"))}

    async def verify_artifact(self, artifact: Artifact, expected_hash: str) -> bool:
        return artifact.verify(expected_hash)

    async def audit_log(self, namespace: str = "default", action: Optional[AuditAction] = None, limit: int = 50) -> List[AuditEntry]:
        """The newest entries first, from the server's log, with the last run of this pipeline among them."""
        until = time.monotonic() + AUDIT_SECONDS
        while True:
            entries = await self._link.ask(self._audit(namespace, action, limit))
            # Records arrive in the log some milliseconds after the reply.
            last = self._last if action in (None, AuditAction.execute) else ""
            if last in ("", *(entry.request_id for entry in entries if entry.action in OF_RUN)) or time.monotonic() > until:
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
        # In the order of their times; those of several daemons arrive in another.
        return sorted(found, key=lambda entry: entry.timestamp, reverse=True)[:limit]

    async def vault_add(self, namespace: str, key: str, value: str, ttl_seconds: Optional[int] = None) -> None:
        await self._vault.set_secret(namespace, key, value, ttl_seconds)
        await announce(SandboxEventType.vault_accessed, namespace, keys=[key])

    async def vault_list(self, namespace: str) -> List[str]:
        return await self._vault.list_keys(namespace)

    async def vault_delete(self, namespace: str, key: str) -> None:
        await self._vault.delete_secret(namespace, key)


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
