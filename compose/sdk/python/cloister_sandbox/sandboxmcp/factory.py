# SPDX-License-Identifier: Apache-2.0
"""sandboxmcp's SandboxFactory: its settings, of which cloister takes what it has; each other one gets a warning."""

from __future__ import annotations

import os
import re
import warnings
from typing import Any, Dict, List, Optional

from ..server import Server
from . import flat_yaml
from .egress import NetworkGuard
from .models import ResourceLimits
from .pii import PIIRedactor
from .pipeline import SandboxPipeline
from .vault import PREFIX, EnvVault, InMemoryVault

# Settings without effect: the values that need no warning, and why it has none.
_ISOLATED = "cloister isolates each run itself, without Docker"
_NETWORK = "the server's setting egress_domains and allowed_domains of a run decide what programs reach"
_HOST = "cloister gives no access to the host"
IGNORED: Dict[str, Any] = {
    "default_backend": (("process",), _ISOLATED),
    "enable_host_access": ((False,), _HOST),
    "host_auto_approve": ((False,), _HOST),
    "host_allowed_commands": ((None, []), _HOST),
    "host_blocked_commands": ((None, []), _HOST),
    # cloister's log is durable and needs no file here.
    "audit": (("memory", "sqlite"), "cloister has a log of its own"),
    "sqlite_path": (("sandboxmcp.db", ":memory:"), "cloister has a log of its own"),
    "namespace": (("default",), "pass it with each request"),
    "image": ((None,), _ISOLATED), "cpu_period": ((), _ISOLATED), "cpu_quota": ((), _ISOLATED), "hardened": ((True,), _ISOLATED),
    "network_mode": (("none",), _NETWORK), "workspace_path": ((None,), "upload the files"),
}
SERVER = ("command", "url", "token", "env")
# Environment variables of sandboxmcp: the setting, and its kind.
ENVIRONMENT = {
    "SANDBOXMCP_BACKEND": ("default_backend", str), "SANDBOXMCP_MAX_CONCURRENT": ("max_concurrent_jobs", int),
    "SANDBOXMCP_NETWORK": ("enable_network", bool), "SANDBOXMCP_HOST_ACCESS": ("enable_host_access", bool),
    "SANDBOXMCP_HOST_AUTO_APPROVE": ("host_auto_approve", bool), "SANDBOXMCP_VAULT": ("vault", str),
    "SANDBOXMCP_AUDIT": ("audit", str), "SANDBOXMCP_MAX_RAM_MB": ("max_ram_mb", int), "SANDBOXMCP_TIMEOUT": ("timeout_seconds", int),
    "SANDBOXMCP_SQLITE_PATH": ("sqlite_path", str), "SANDBOXMCP_IMAGE": ("image", str),
}


def _megabytes(text: str) -> int:
    match = re.fullmatch(r"(\d+)([kmg]?)b?", text.strip().lower())
    if match is None:
        raise ValueError(f"memory_limit: {text!r} is not a size such as 256m")
    return max(1, int(match.group(1)) * {"": 1, "k": 1024, "m": 1024 ** 2, "g": 1024 ** 3}[match.group(2)] // 1024 ** 2)


def _warn(settings: Dict[str, Any]) -> None:
    for name, value in settings.items():
        silent, reason = IGNORED.get(name, ((), "cloister does not know it"))
        if value not in silent:
            warnings.warn(f"{name}={value!r} has no effect: {reason}", UserWarning, stacklevel=4)


class SandboxFactory:
    @classmethod
    def default(cls) -> SandboxPipeline:
        return SandboxPipeline()

    @classmethod
    def create(cls, default_backend: str = "process", max_concurrent_jobs: int = 4, enable_network: bool = False,
               allowed_domains: Optional[List[str]] = None, enable_host_access: bool = False, host_auto_approve: bool = False,
               host_allowed_commands: Optional[List[str]] = None, host_blocked_commands: Optional[List[str]] = None,
               vault: str = "memory", audit: str = "memory", redact_pii: bool = False, max_ram_mb: int = 512,
               max_cpu_cores: float = 1, timeout_seconds: float = 60, max_processes: int = 10, namespace: str = "default",
               sqlite_path: str = "sandboxmcp.db", **more: Any) -> SandboxPipeline:
        """more: memory_limit and others of its Docker backend; and command or url, token and env of cloister_sandbox.Server."""
        if max_concurrent_jobs < 1:
            raise ValueError("max_concurrent_jobs: must be positive")
        server = Server(**{name: more.pop(name) for name in SERVER if name in more})
        memory: Any = more.pop("memory_limit", None)
        limits = ResourceLimits(_megabytes(str(memory)) if memory is not None else max_ram_mb, max_cpu_cores, timeout_seconds,
                                max_processes)
        _warn({"default_backend": default_backend, "enable_host_access": enable_host_access, "host_auto_approve": host_auto_approve,
               "host_allowed_commands": host_allowed_commands, "host_blocked_commands": host_blocked_commands, "audit": audit,
               "namespace": namespace, "sqlite_path": sqlite_path, **more})
        return SandboxPipeline(None, EnvVault() if vault == "env" else InMemoryVault(), NetworkGuard(enable_network, allowed_domains),
                               resource_limits=limits, pii_redactor=PIIRedactor() if redact_pii else None, server=server,
                               max_concurrent_jobs=max_concurrent_jobs)

    @classmethod
    def from_env(cls) -> SandboxPipeline:
        settings: Dict[str, Any] = {}
        for name, (setting, kind) in ENVIRONMENT.items():
            text = os.environ.get(name)
            if text:
                settings[setting] = text.lower() == "true" if kind is bool else kind(text)
        if settings.get("vault") != "env" and any(name.startswith(PREFIX) for name in os.environ):
            warnings.warn(f"{PREFIX}… has no effect here without SANDBOXMCP_VAULT=env", UserWarning, stacklevel=2)
        return cls.create(**settings)

    @classmethod
    def from_yaml(cls, path: str) -> SandboxPipeline:
        with open(path, encoding="utf-8") as file:
            return cls.create(**flat_yaml.read(file.read(), path))
