# SPDX-License-Identifier: Apache-2.0
"""sandboxmcp's SandboxMCPServer: `cloister serve` in its form, with the settings of a pipeline, in place of this process's
standard streams."""

from __future__ import annotations

import os
import subprocess
from typing import Dict, List

from ..errors import StartError
from ..lacking import lacking
from ..server import Server
from .models import ResourceLimits
from .pipeline import SandboxPipeline

# What the daemons take from the environment; daemons that run already keep theirs, and the log says what differs.
VARIABLES = {
    "max_ram_mb": "SANDBOXMCP_MAX_RAM_MB", "timeout_seconds": "SANDBOXMCP_TIMEOUT", "max_cpu_cores": "CLOISTER_EXECUTOR_CPU_CORES",
    "max_processes": "CLOISTER_EXECUTOR_PROCESSES",
}
# These defaults of sandboxmcp are the server's, as in a run.
OF_SERVER = ("max_cpu_cores", "max_processes")


def settings_of(sandbox: SandboxPipeline) -> Dict[str, str]:
    """The environment that gives a server the settings of a pipeline."""
    limits = sandbox.limits
    found = {variable: f"{getattr(limits, name):g}" for name, variable in VARIABLES.items()
             if name not in OF_SERVER or getattr(limits, name) != getattr(ResourceLimits, name)}
    found["SANDBOXMCP_MAX_CONCURRENT"] = str(sandbox.max_concurrent_jobs)
    domains = sandbox.network.allowed_domains if sandbox.network is not None and sandbox.network.enabled else []
    if domains:
        found["CLOISTER_EXECUTOR_EGRESS_DOMAINS"] = ",".join(domains)
    return found


def command_of(server: Server, transport: str, port: int) -> List[str]:
    if server.url is not None:
        raise lacking("SandboxMCPServer")
    words = [word for word in server.words() if not word.startswith(("--toolsets=", "--result-bytes="))]
    return [*words, "--toolsets=sandboxmcp", *([] if transport == "stdio" else [f"--transport={transport}", f"--port={port}"])]


class SandboxMCPServer:
    def __init__(self, sandbox: SandboxPipeline) -> None:
        self._sandbox = sandbox

    def run(self, transport: str = "stdio", port: int = 8080) -> None:
        """Serves until the client leaves.  transport: stdio, http or sse; the last two need credentials, see `cloister serve`."""
        server = self._sandbox.server
        command = command_of(server, transport, port)
        environment = {**os.environ, **settings_of(self._sandbox), **(server.env or {})}
        try:
            status = subprocess.call(command, env=environment)
        except OSError as error:
            raise StartError(f"cannot start {command[0]}: {error}") from error
        if status != 0:
            raise StartError(f"{command[0]} ended with status {status}")


def create_mcp_server(*_: object, **__: object) -> None:
    raise lacking("create_mcp_server")
