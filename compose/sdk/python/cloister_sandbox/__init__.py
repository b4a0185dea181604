# SPDX-License-Identifier: Apache-2.0
"""Runs untrusted code in cloister's kernel-isolated boxes.

    from cloister_sandbox import Sandbox

    with Sandbox() as sandbox:
        print(sandbox.run("print(6 * 7)").stdout)
"""

from .aio import AsyncSandbox
from .errors import (Closed, ConnectionLost, ExecutionError, HttpError, NotSupported, ProtocolError, RequestTimeout, RpcError,
                     SandboxError, StartError, ToolError)
from .questions import Question
from .result import Artifact, Failure, Finding, Image, Result, Runtime, Snapshot, Validation
from .sandbox import Sandbox, Session
from .server import Server
from .session import AsyncSession
from .version import VERSION as __version__

__all__ = [
    "Artifact", "AsyncSandbox", "AsyncSession", "Closed", "ConnectionLost", "ExecutionError", "Failure", "Finding", "HttpError",
    "Image", "NotSupported", "ProtocolError", "Question", "RequestTimeout", "Result", "RpcError", "Runtime", "Sandbox",
    "SandboxError", "Server", "Session", "Snapshot", "StartError", "ToolError", "Validation",
]
