# SPDX-License-Identifier: Apache-2.0
"""What came of a run, a check, a snapshot: the server's objects with types.  `raw` has all that the server sent."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

from .errors import ExecutionError, ProtocolError
from .values import Object, objects, optional, required


@dataclass(frozen=True)
class Artifact:
    """A file of a workspace.  signature is Ed25519; `cloister verify` checks it."""

    filename: str
    path: str
    size: int
    sha256: str
    mime_type: Optional[str] = None
    signature: Optional[str] = None
    download_url: Optional[str] = None
    session_id: Optional[str] = None
    raw: Object = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, raw: Object, session_id: Optional[str] = None) -> "Artifact":
        return cls(required(raw, "filename", str), required(raw, "path", str), required(raw, "size", int),
                   optional(raw, "sha256", str) or "", optional(raw, "mime_type", str), optional(raw, "signature", str),
                   optional(raw, "download_url", str), session_id, raw)


@dataclass(frozen=True)
class Failure:
    """Why a program failed: code is a word such as "timeout", "syntax_error" or "program_failed"."""

    code: str
    message: str
    line: Optional[int] = None
    hint: Optional[str] = None

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


@dataclass(frozen=True)
class Image:
    mime_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True)
class Result:
    """A run.  result is the value of `result`, or of the last expression, in Python and JavaScript."""

    success: bool
    stdout: str
    stderr: str
    result: Any
    error: Optional[Failure]
    artifacts: List[Artifact]
    exit_code: int
    timed_out: bool
    execution_id: str
    session_id: Optional[str]
    language: str
    seconds: float
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    images: List[Image] = field(default_factory=list)
    isolation: Object = field(default_factory=dict, repr=False)
    usage: Object = field(default_factory=dict, repr=False)
    notes: List[str] = field(default_factory=list)
    raw: Object = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, raw: Object, content: List[Object]) -> "Result":
        session_id, error = optional(raw, "session_id", str), optional(raw, "error", dict)
        return cls(
            required(raw, "success", bool), optional(raw, "stdout", str) or "", optional(raw, "stderr", str) or "",
            raw.get("result"), failure(error) if error else None,
            [Artifact.of(one, session_id) for one in objects(raw, "artifacts")],
            optional(raw, "exit_code", int) or 0, optional(raw, "timed_out", bool) or False,
            required(raw, "execution_id", str), session_id, optional(raw, "language", str) or "",
            optional(raw, "execution_time", float) or 0.0, optional(raw, "stdout_truncated", bool) or False,
            optional(raw, "stderr_truncated", bool) or False, images(content), optional(raw, "isolation", dict) or {},
            optional(raw, "usage", dict) or {}, [str(note) for note in optional(raw, "notes", list) or []], raw)

    def check(self) -> "Result":
        """Returns self; raises ExecutionError if the program failed."""
        if not self.success:
            raise ExecutionError(f"{self.error or 'the program failed'}{chr(10) + self.stderr if self.stderr else ''}")
        return self


def failure(raw: Object) -> Failure:
    return Failure(required(raw, "code", str), optional(raw, "message", str) or "", optional(raw, "line", int) or None,
                   optional(raw, "hint", str))


def images(content: List[Object]) -> List[Image]:
    return [Image(required(one, "mimeType", str), decode(required(one, "data", str)))
            for one in content if one.get("type") == "image"]


def decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ProtocolError("the server sent content that is not base64") from error


@dataclass(frozen=True)
class Finding:
    line: int
    column: int
    rule: str
    message: str
    hint: Optional[str] = None


@dataclass(frozen=True)
class Validation:
    """A check of source code.  fixed_code is there after auto_fix, if anything could be corrected."""

    valid: bool
    message: str
    findings: List[Finding]
    fixed_code: Optional[str] = None
    raw: Object = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, raw: Object) -> "Validation":
        verdict = required(raw, "validation", dict)
        found = [Finding(optional(one, "line", int) or 0, optional(one, "column", int) or 0,
                         optional(one, "rule", str) or "", optional(one, "message", str) or "", optional(one, "hint", str))
                 for one in objects(raw, "findings")]
        return cls(required(verdict, "valid", bool), optional(verdict, "message", str) or "", found,
                   optional(raw, "fixed_code", str), raw)


@dataclass(frozen=True)
class Snapshot:
    id: str
    created_at: str
    description: Optional[str]
    files: int
    bytes: int
    raw: Object = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, raw: Object) -> "Snapshot":
        return cls(required(raw, "snapshot_id", str), optional(raw, "created_at", str) or "", optional(raw, "description", str),
                   optional(raw, "file_count", int) or 0, optional(raw, "total_bytes", int) or 0, raw)


@dataclass(frozen=True)
class Runtime:
    language: str
    version: str
    raw: Dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, raw: Object) -> "Runtime":
        return cls(required(raw, "language", str), optional(raw, "version", str) or "", raw)
