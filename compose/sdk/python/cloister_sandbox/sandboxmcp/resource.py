# SPDX-License-Identifier: Apache-2.0
"""sandboxmcp's ResourceGuard: asks the server if it would run a request with its limits."""

from __future__ import annotations

from typing import Any, Optional

from ..aio import AsyncSandbox
from ..errors import ToolError
from ..lacking import lacking
from ..server import Server
from .link import shared
from .models import ExecutionRequest, ResourceLimits
from .replies import opening_of


class ResourceGuard:
    def __init__(self, *, server: Optional[Server] = None) -> None:
        self._server = server

    def check_limits(self, request: ExecutionRequest) -> bool:
        """A session with these limits is opened, and ended."""
        limits, link = request.resource_limits or ResourceLimits(), shared(self._server)
        if any(value <= 0 for value in limits.model_dump().values()):
            return False
        return link.wait(_opens(link.sandbox, opening_of(request.language, limits)))

    def get_preexec_fn(self, limits: ResourceLimits) -> Any:
        raise lacking("get_preexec_fn")


async def _opens(sandbox: AsyncSandbox, opening: Any) -> bool:
    try:
        async with sandbox.session(**opening):
            return True
    except ToolError as error:
        if error.code in ("limit_exceeded", "invalid_argument"):
            return False
        raise
