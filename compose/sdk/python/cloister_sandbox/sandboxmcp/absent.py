# SPDX-License-Identifier: Apache-2.0
"""Modules and names of sandboxmcp that this package does not have: importing one says what to do instead."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Dict, Optional, Sequence

from ..errors import NotSupported
from ..lacking import HOST, WEB

_ISOLATED = "cloister isolates each run itself, without Docker: use SandboxFactory.create()"
_REST = "cloister serves the REST API: run `sandboxmcp-api`, or `cloister serve --transport=http --rest`"
_RUNTIME = "make an ExecutionRequest with language=..., and install with SandboxPipeline.install_package()"

MODULES: Dict[str, str] = {
    "api": _REST,
    "backends._linux_sandbox": _ISOLATED,
    "backends.docker_rt": _ISOLATED,
    "integration": "it is empty in sandboxmcp: remove the import",
    "pipeline.queue": "the server has the queue: pass max_concurrent_jobs to SandboxFactory.create(), and ask get_stats()",
    "runtimes": _RUNTIME,
    "security.audit": "the server has the log: ask SandboxPipeline.audit_log(), or run `cloister audit`",
    "security.docker_config": _ISOLATED,
    "security.host_guard": HOST,
    "utils": WEB,
}
# Names that a module of this package lacks.
NAMES: Dict[str, str] = {
    "BaseAuditLogger": "the server has the log: ask SandboxPipeline.audit_log()",
    "BaseBackend": "cloister runs all programs: use SandboxFactory.create()",
    "BaseNetworkGuard": "the server decides what programs reach: use NetworkGuard",
    "BaseResourceGuard": "the server enforces limits: pass ResourceLimits with a request",
}


class AbsentModule(NotSupported, ModuleNotFoundError):
    """Also a ModuleNotFoundError, for programs that do without the module."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text)
        self.name = name


def name_of(module: str, name: str) -> Exception:
    """The exception for a name that a module lacks."""
    if name in NAMES:
        return AbsentModule(f"{module}.{name}: {NAMES[name]}", module)
    return AttributeError(f"module {module!r} has no attribute {name!r}")


class Finder(MetaPathFinder):
    """Comes last, so it is asked only for what no other finder has."""

    def __init__(self, package: str) -> None:
        self._package = package + "."

    def find_spec(self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None) -> Optional[ModuleSpec]:
        inner = fullname[len(self._package):] if fullname.startswith(self._package) else ""
        for name, sentence in MODULES.items():
            if inner == name or inner.startswith(name + "."):
                raise AbsentModule(f"{fullname}: {sentence}", fullname)
        return None


def explain(package: str) -> None:
    """From now on, importing one of these modules of the package raises with its sentence."""
    sys.meta_path.append(Finder(package))
