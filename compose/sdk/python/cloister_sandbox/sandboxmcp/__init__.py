# SPDX-License-Identifier: Apache-2.0
"""The programmatic API of sandboxmcp, served by cloister.  The wheel cloister-sandboxmcp makes it importable as `sandboxmcp`."""

from .backend import ProcessBackend
from .egress import NetworkGuard
from .events import SandboxEvent, SandboxEventBus, SandboxEventType, sandbox_event_bus
from .factory import SandboxFactory
from .mcp_server import SandboxMCPServer
from .models import (Artifact, AuditAction, AuditEntry, BackendType, ExecutionRequest, ExecutionResult, Language, ResourceLimits,
                     SandboxResult, Session, SessionStatus, SyntaxIssue, ValidationResult, ValidationSeverity,
                     ValidationVerdict)
from .pii import PIIRedactor
from .pipeline import SandboxPipeline
from .resource import ResourceGuard
from .signer import ArtifactSigner
from .validator import CodeValidator
from .vault import EnvVault, InMemoryVault

__all__ = [
    "Artifact", "ArtifactSigner", "AuditAction", "AuditEntry", "BackendType", "CodeValidator", "EnvVault", "ExecutionRequest",
    "ExecutionResult", "InMemoryVault", "Language", "NetworkGuard", "PIIRedactor", "ProcessBackend", "ResourceGuard",
    "ResourceLimits", "SandboxEvent", "SandboxEventBus", "SandboxEventType", "SandboxFactory", "SandboxMCPServer", "SandboxPipeline",
    "SandboxResult", "Session", "SessionStatus", "SyntaxIssue", "ValidationResult", "ValidationSeverity", "ValidationVerdict",
    "sandbox_event_bus",
]
