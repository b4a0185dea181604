# SPDX-License-Identifier: Apache-2.0
"""sandboxmcp's ProcessBackend: runs without a pipeline.  Each is in a box, so `hardened` has no effect."""

from __future__ import annotations

from typing import List, Optional

from ..server import Server
from .models import ExecutionRequest, Language, ResourceLimits, SandboxResult, Session
from .pipeline import SandboxPipeline


class ProcessBackend:
    def __init__(self, hardened: bool = False, *, server: Optional[Server] = None) -> None:
        self.hardened, self.server = hardened, server
        self._pipeline = SandboxPipeline(server=server)

    async def execute(self, request: ExecutionRequest) -> SandboxResult:
        return await self._pipeline.execute(request)

    async def create_session(self, language: Language = Language.python, limits: Optional[ResourceLimits] = None,
                             namespace: str = "default") -> Session:
        return await self._pipeline.create_session(language, namespace, limits)

    async def kill_session(self, session_id: str) -> None:
        await self._pipeline.kill_session(session_id)

    async def list_sessions(self) -> List[Session]:
        return await self._pipeline.list_sessions()
