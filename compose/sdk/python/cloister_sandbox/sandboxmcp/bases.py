# SPDX-License-Identifier: Apache-2.0
"""The interfaces of sandboxmcp that a program may implement and hand to SandboxPipeline."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Dict, List, Optional, Tuple

from .models import Language, ValidationResult


class BaseVault(ABC):
    @abstractmethod
    async def get_secrets(self, namespace: str) -> Dict[str, str]:
        """Name and value of each secret."""

    @abstractmethod
    async def set_secret(self, namespace: str, key: str, value: str, ttl_seconds: Optional[int] = None) -> None:
        """Adds one, or replaces its value."""

    @abstractmethod
    async def delete_secret(self, namespace: str, key: str) -> None:
        """No error if there is none."""

    @abstractmethod
    async def list_keys(self, namespace: str) -> List[str]:
        """The names."""


class BaseCodeValidator(ABC):
    @abstractmethod
    def validate(self, code: str, language: Language) -> ValidationResult:
        """May the code run?"""

    @abstractmethod
    def auto_fix(self, code: str, language: Language) -> Tuple[str, List[str]]:
        """The corrected code, and what was done."""
