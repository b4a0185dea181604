# SPDX-License-Identifier: Apache-2.0
"""Parts of sandboxmcp's implementation that its users import: the server does their work, so a part that guards raises."""

from __future__ import annotations

from typing import Any, Optional

from ..lacking import lacking
from ..server import Server
from .models import Language, ValidationResult
from .pipeline import SandboxPipeline


class CodeValidator:
    """Asks the server, as SandboxPipeline.validate_code() does."""

    def __init__(self, server: Optional[Server] = None) -> None:
        self._pipeline = SandboxPipeline(server)

    async def validate(self, code: str, language: Language = Language.python) -> ValidationResult:
        return await self._pipeline.validate_code(code, language)


class InMemoryVault:
    def __init__(self, *_: Any, **__: Any) -> None:
        raise lacking("InMemoryVault")


class NetworkGuard:
    def __init__(self, *_: Any, **__: Any) -> None:
        raise lacking("NetworkGuard")


class ResourceGuard:
    def __init__(self, *_: Any, **__: Any) -> None:
        raise lacking("ResourceGuard")
