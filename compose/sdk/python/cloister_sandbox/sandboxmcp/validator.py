# SPDX-License-Identifier: Apache-2.0
"""sandboxmcp's CodeValidator, a plain function that asks the server."""

from __future__ import annotations

from typing import List, Optional, Set, Tuple

from ..aio import AsyncSandbox
from ..server import Server
from .bases import BaseCodeValidator
from .check import check, domains
from .link import shared
from .models import Language, ValidationResult


class CodeValidator(BaseCodeValidator):
    """reject_dangerous: Python code with a security warning is refused.  server: by default the one that Server() finds."""

    def __init__(self, auto_fix_enabled: bool = True, reject_dangerous: bool = False, *, server: Optional[Server] = None) -> None:
        self._auto_fix, self._reject, self._server = auto_fix_enabled, reject_dangerous, server
        self._disabled: Set[str] = set()

    @property
    def disabled_patterns(self) -> Set[str]:
        return self._disabled

    def disable_pattern(self, name: str) -> None:
        """Security warnings with this word, as "os.system()", do not count."""
        self._disabled.add(name)

    def enable_pattern(self, name: str) -> None:
        self._disabled.discard(name)

    async def check(self, sandbox: AsyncSandbox, code: str, language: Language) -> ValidationResult:
        """The same through the connection of a pipeline."""
        return await check(sandbox, code, language, self._auto_fix, self._reject, self._disabled)

    def validate(self, code: str, language: Language = Language.python) -> ValidationResult:
        link = shared(self._server)
        return link.wait(self.check(link.sandbox, code, Language(language)))

    def auto_fix(self, code: str, language: Language = Language.python) -> Tuple[str, List[str]]:
        """The corrected code, and what was done."""
        link = shared(self._server)
        result = link.wait(check(link.sandbox, code, Language(language)))
        return result.fixed_code, result.fixes_applied

    def extract_domains(self, code: str) -> List[str]:
        return domains(code)
