# SPDX-License-Identifier: Apache-2.0
"""Secrets of a namespace: in the server's vault, or in the environment of this process.

Values in the server's vault are sealed, go to programs only, and are masked in all that a program writes.  Those of any other
vault travel with each run, and are masked in its output by this process.
"""

from __future__ import annotations

import os
from typing import Dict, List, Mapping, Optional

from ..errors import NotSupported, ToolError
from ..lacking import lacking
from ..server import Server
from .bases import BaseVault
from .link import Link, shared

MASKED = "***REDACTED***"
# Shorter values occur in output by chance.
LEAST = 4
PREFIX = "SANDBOXMCP_SECRET_"


def mask(output: str, secrets: Mapping[str, str]) -> str:
    for value in sorted(secrets.values(), key=len, reverse=True):
        if len(value) >= LEAST:
            output = output.replace(value, MASKED)
    return output


class InMemoryVault(BaseVault):
    """The server's vault.  The name is sandboxmcp's; here secrets stay until they are deleted."""

    def __init__(self, *, server: Optional[Server] = None) -> None:
        self._server, self._link = server, None  # type: Optional[Server], Optional[Link]

    def use(self, link: Link) -> None:
        """A pipeline's connection, if no other server was named."""
        if self._server is None:
            self._link = self._link or link

    def _linked(self) -> Link:
        return self._link or shared(self._server)

    async def get_secrets(self, namespace: str) -> Dict[str, str]:
        raise lacking("get_secrets")

    async def set_secret(self, namespace: str, key: str, value: str, ttl_seconds: Optional[int] = None) -> None:
        if ttl_seconds:
            raise NotSupported("ttl_seconds: a secret of the server stays until it is deleted: call vault_delete()")
        link = self._linked()
        await link.ask(link.sandbox.add_secret(key, value, namespace))

    async def delete_secret(self, namespace: str, key: str) -> None:
        link = self._linked()
        try:
            await link.ask(link.sandbox.delete_secret(key, namespace))
        except ToolError as error:
            if error.code != "secret_not_found":
                raise

    async def list_keys(self, namespace: str) -> List[str]:
        link = self._linked()
        return await link.ask(link.sandbox.secrets(namespace))

    @staticmethod
    def mask_output(output: str, secrets: Dict[str, str]) -> str:
        return mask(output, secrets)


class EnvVault(BaseVault):
    """Variables of this process: SANDBOXMCP_SECRET_NAMESPACE_KEY."""

    def __init__(self, prefix: str = PREFIX) -> None:
        self._prefix = prefix

    def _start(self, namespace: str) -> str:
        return f"{self._prefix}{namespace.upper()}_"

    async def get_secrets(self, namespace: str) -> Dict[str, str]:
        start = self._start(namespace)
        return {name[len(start):]: value for name, value in os.environ.items() if name.startswith(start) and name != start}

    async def set_secret(self, namespace: str, key: str, value: str, ttl_seconds: Optional[int] = None) -> None:
        if ttl_seconds:
            raise NotSupported("ttl_seconds: a variable of the environment does not expire: call delete_secret()")
        os.environ[self._start(namespace) + key] = value

    async def delete_secret(self, namespace: str, key: str) -> None:
        os.environ.pop(self._start(namespace) + key, None)

    async def list_keys(self, namespace: str) -> List[str]:
        return list(await self.get_secrets(namespace))
