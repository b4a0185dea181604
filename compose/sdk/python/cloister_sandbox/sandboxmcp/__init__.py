# SPDX-License-Identifier: Apache-2.0
"""The programmatic API of sandboxmcp, served by cloister.  The wheel cloister-sandboxmcp makes it importable as `sandboxmcp`."""

from .events import SandboxEvent, SandboxEventBus, SandboxEventType, sandbox_event_bus
from .factory import SandboxFactory
from .guards import CodeValidator, InMemoryVault, NetworkGuard, ResourceGuard
from .models import (Artifact, AuditAction, AuditEntry, BackendType, ExecutionRequest, ExecutionResult, Language, ResourceLimits,
                     SandboxResult, Session, SessionStatus, SyntaxIssue, ValidationResult, ValidationSeverity,
                     ValidationVerdict)
from .pipeline import SandboxPipeline
from .signer import ArtifactSigner

__all__ = [
    "Artifact", "ArtifactSigner", "AuditAction", "AuditEntry", "BackendType", "CodeValidator", "ExecutionRequest",
    "ExecutionResult", "InMemoryVault", "Language", "NetworkGuard", "ResourceGuard", "ResourceLimits", "SandboxEvent", "SandboxEventBus", "SandboxEventType", "SandboxFactory", "SandboxPipeline",
    "SandboxResult", "Session", "SessionStatus", "SyntaxIssue", "ValidationResult", "ValidationSeverity", "ValidationVerdict",
    "sandbox_event_bus",
]
