# SPDX-License-Identifier: Apache-2.0
"""The objects of sandboxmcp's API, with its names, keys and defaults."""

from __future__ import annotations

import base64
import copy
import dataclasses
import hashlib
import json
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum
from typing import Any, Dict, Iterable, List, Optional, TypeVar

T = TypeVar("T")


def _now() -> datetime:
    return datetime.now(timezone.utc)


def _id() -> str:
    return str(uuid.uuid4())


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


class Model:
    """The methods of a model that callers of sandboxmcp use."""

    def model_dump(self, mode: str = "python", include: Optional[Iterable[str]] = None, exclude: Iterable[str] = (),
                   exclude_none: bool = False) -> Dict[str, Any]:
        wanted, unwanted = None if include is None else set(include), set(exclude)
        return {name: _plain(value) if mode == "json" else value
                for name, value in dataclasses.asdict(self).items()  # type: ignore[call-overload]
                if (wanted is None or name in wanted) and name not in unwanted and not (exclude_none and value is None)}

    def model_dump_json(self, indent: Optional[int] = None, **more: Any) -> str:
        return json.dumps(self.model_dump(mode="json", **more), indent=indent)

    def model_copy(self: T, update: Optional[Dict[str, Any]] = None, deep: bool = False) -> T:
        return dataclasses.replace(copy.deepcopy(self) if deep else self, **(update or {}))  # type: ignore[type-var]


class Language(str, Enum):
    python = "python"
    node = "node"
    shell = "shell"


class BackendType(str, Enum):
    process = "process"
    docker = "docker"


class SessionStatus(str, Enum):
    idle = "idle"
    running = "running"
    completed = "completed"
    failed = "failed"
    killed = "killed"


@dataclass
class ResourceLimits(Model):
    max_ram_mb: int = 1024
    max_cpu_cores: float = 1
    timeout_seconds: float = 60
    max_processes: int = 10
    max_output_bytes: int = 1_000_000


@dataclass
class ExecutionRequest(Model):
    """resource_limits: without them the factory's apply."""

    code: str
    language: Language = Language.python
    session_id: Optional[str] = None
    packages: List[str] = field(default_factory=list)
    env_vars: Dict[str, str] = field(default_factory=dict)
    allowed_domains: List[str] = field(default_factory=list)
    resource_limits: Optional[ResourceLimits] = None
    namespace: str = "default"
    agent_id: str = ""
    metadata: Dict[str, Any] = field(default_factory=dict)
    id: str = field(default_factory=_id)

    def __post_init__(self) -> None:
        if not self.code:
            raise ValueError("code: must have at least one character")
        self.language = Language(self.language)


@dataclass
class Artifact(Model):
    """sha256 detects changes; signature is cloister's Ed25519, or the HMAC of ArtifactSigner.sign_hmac()."""

    name: str
    content_b64: str = ""
    size_bytes: int = 0
    sha256: str = ""
    signature: str = ""
    created_at: datetime = field(default_factory=_now)

    @classmethod
    def from_bytes(cls, name: str, data: bytes) -> "Artifact":
        return cls(name, base64.b64encode(data).decode(), len(data), hashlib.sha256(data).hexdigest())

    def verify(self, expected_hash: str) -> bool:
        """Is this the file with that SHA-256?  Content that is here is hashed, too."""
        content = hashlib.sha256(base64.b64decode(self.content_b64)).hexdigest() if self.content_b64 else self.sha256
        return self.sha256 == expected_hash == content


@dataclass
class SandboxResult(Model):
    request_id: str = field(default_factory=_id)
    success: bool = True
    exit_code: int = 0
    stdout: str = ""
    stderr: str = ""
    duration_ms: float = 0
    language: Language = Language.python
    artifacts: List[Artifact] = field(default_factory=list)
    resource_usage: Dict[str, Any] = field(default_factory=dict)
    namespace: str = "default"
    metadata: Dict[str, Any] = field(default_factory=dict)


ExecutionResult = SandboxResult


@dataclass
class Session(Model):
    id: str
    language: Language = Language.python
    backend: BackendType = BackendType.process
    status: SessionStatus = SessionStatus.idle
    created_at: datetime = field(default_factory=_now)
    last_activity: datetime = field(default_factory=_now)
    resource_limits: ResourceLimits = field(default_factory=ResourceLimits)
    namespace: str = "default"
    env_vars: Dict[str, str] = field(default_factory=dict)
    metadata: Dict[str, Any] = field(default_factory=dict)


class ValidationSeverity(str, Enum):
    error = "error"
    warning = "warning"
    info = "info"


class ValidationVerdict(str, Enum):
    passed = "pass"
    fixed = "fixed"
    rejected = "reject"


@dataclass
class SyntaxIssue(Model):
    line: int = 0
    col: int = 0
    message: str = ""
    severity: ValidationSeverity = ValidationSeverity.error


@dataclass
class ValidationResult(Model):
    valid: bool = True
    verdict: ValidationVerdict = ValidationVerdict.passed
    issues: List[SyntaxIssue] = field(default_factory=list)
    fixes_applied: List[str] = field(default_factory=list)
    original_code: str = ""
    fixed_code: str = ""
    language: Language = Language.python

    @property
    def was_fixed(self) -> bool:
        return self.verdict == ValidationVerdict.fixed

    def summary(self) -> str:
        counts = [f"{len(self.issues)} issue(s)" if self.issues else "",
                  f"{len(self.fixes_applied)} fix(es) applied" if self.fixes_applied else ""]
        return " ".join([f"[{self.verdict.value.upper()}]", *filter(None, counts)])


class AuditAction(str, Enum):
    execute = "execute"
    install_package = "install_package"
    create_session = "create_session"
    kill_session = "kill_session"
    vault_access = "vault_access"
    egress_request = "egress_request"
    egress_denied = "egress_denied"
    resource_exceeded = "resource_exceeded"
    timeout = "timeout"
    artifact_signed = "artifact_signed"
    validation_passed = "validation_passed"
    validation_failed = "validation_failed"
    validation_fixed = "validation_fixed"


@dataclass
class AuditEntry(Model):
    action: AuditAction
    id: str = field(default_factory=_id)
    timestamp: datetime = field(default_factory=_now)
    request_id: str = ""
    language: Optional[Language] = None
    exit_code: int = 0
    duration_ms: float = 0
    success: bool = True
    detail: str = ""
    namespace: str = "default"
    resource_usage: Dict[str, Any] = field(default_factory=dict)
    metadata: Dict[str, Any] = field(default_factory=dict)
