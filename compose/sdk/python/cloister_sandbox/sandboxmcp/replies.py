# SPDX-License-Identifier: Apache-2.0
"""From cloister's results to the objects of sandboxmcp."""

from __future__ import annotations

import base64
from datetime import datetime, timezone
from typing import Any, Dict, List, Optional

from ..errors import ToolError
from ..result import Artifact as OwnArtifact
from ..result import Result
from ..values import Object, optional
from .models import Artifact, AuditAction, AuditEntry, ExecutionRequest, Language, ResourceLimits, SandboxResult, ValidationResult

# An artifact's content comes with the result up to this size, as in sandboxmcp.
MAX_CONTENT = 10 * 1024 * 1024
REFUSED = 1
ACTIONS: Dict[str, AuditAction] = {
    "execution.completed": AuditAction.execute,
    "execution.failed": AuditAction.execute,
    "execution.cancelled": AuditAction.execute,
    "execution.timeout": AuditAction.timeout,
    "session.created": AuditAction.create_session,
    "session.killed": AuditAction.kill_session,
    "session.expired": AuditAction.kill_session,
    "package.installed": AuditAction.install_package,
    "egress.requested": AuditAction.egress_request,
    "egress.denied": AuditAction.egress_denied,
    "vault.accessed": AuditAction.vault_access,
    "resource.exceeded": AuditAction.resource_exceeded,
    "artifact.signed": AuditAction.artifact_signed,
}


def _at_most(text: str, size: int) -> str:
    """cloister says in the text that it was cut, which makes it longer than the limit; here the limit is the whole."""
    return text.encode()[:size].decode(errors="ignore")


def result_of(request: ExecutionRequest, run: Result, artifacts: List[Artifact], limits: ResourceLimits) -> SandboxResult:
    duration = run.seconds * 1e3
    stdout, stderr = (_at_most(text, limits.max_output_bytes) for text in (run.stdout, run.stderr))
    if run.timed_out:
        stderr += f"{chr(10) if stderr and not stderr.endswith(chr(10)) else ''}Execution timed out after {limits.timeout_seconds:g}s"
    metadata = {**request.metadata, "execution_id": run.execution_id, "result": run.result,
                "error": str(run.error) if run.error else None, "isolation": run.isolation}
    return SandboxResult(request.id, run.success, run.exit_code, stdout, stderr, duration, request.language, artifacts,
                         {**run.usage, "duration_ms": duration}, request.namespace, metadata)


def refusal_of(request: ExecutionRequest, error: ToolError) -> SandboxResult:
    """sandboxmcp reports a request that it does not run as a failed result."""
    return SandboxResult(request.id, False, REFUSED, "", str(error), 0, request.language, namespace=request.namespace,
                         metadata={**request.metadata, "error": error.code})


def artifact_of(own: OwnArtifact, content: Optional[bytes]) -> Artifact:
    return Artifact(own.filename, base64.b64encode(content).decode() if content is not None else "", own.size, own.sha256,
                    own.signature or "")


def rejection_of(request: ExecutionRequest, checked: ValidationResult) -> SandboxResult:
    """Code that the pipeline's validator refuses."""
    lines = [f"Validation failed: {checked.summary()}", *(f"  L{one.line}: {one.message}" for one in checked.issues)]
    validation = {name: value for name, value in checked.model_dump(mode="json").items() if not name.endswith("_code")}
    return SandboxResult(request.id, False, REFUSED, "", "\n".join(lines), 0, request.language, namespace=request.namespace,
                         metadata={**request.metadata, "validation": validation})


def opening_of(language: Language, limits: ResourceLimits) -> Dict[str, Any]:
    """The arguments of a session with these limits."""
    # Defaults of sandboxmcp that no program was written for are the server's here: ten threads do not start Node.
    asked = {"max_processes": (limits.max_processes, ResourceLimits.max_processes),
             "max_cpu_cores": (limits.max_cpu_cores, ResourceLimits.max_cpu_cores)}
    return {"language": language.value, "limits": {
        "max_ram_mb": limits.max_ram_mb, "timeout_seconds": limits.timeout_seconds, "max_output_bytes": limits.max_output_bytes,
        **{name: value for name, (value, default) in asked.items() if value != default}}}


def entry_of(record: Object) -> Optional[AuditEntry]:
    """None for events without a counterpart, such as execution.started."""
    event = optional(record, "event", dict) or {}
    name = optional(event, "event", str) or ""
    if name not in ACTIONS:
        return None
    language = optional(event, "language", str)
    time = datetime.fromtimestamp((optional(event, "time_ms", float) or 0.0) / 1e3, timezone.utc)
    return AuditEntry(
        ACTIONS[name], str(event.get("uid", "")), time, optional(event, "execution_id", str) or "",
        Language(language) if language in list(Language) else None, optional(event, "exit_code", int) or 0,
        optional(event, "wall_ms", float) or 0.0, name not in ("execution.failed", "execution.timeout", "execution.cancelled"),
        optional(event, "detail", str) or "", optional(event, "namespace", str) or "default", metadata=dict(record))
