# SPDX-License-Identifier: Apache-2.0
"""sandboxmcp's NetworkGuard: which domains this program lets its runs name, and questions to a person for more.

The server decides on its own what a program reaches.  A person answers with `cloister egress approve`; this program can
answer only over HTTP, with a token that has the scope approve.
"""

from __future__ import annotations

import asyncio
import time
from typing import Dict, List, Optional

from ..aio import AsyncSandbox
from ..errors import SandboxError, ToolError, is_denied
from ..lacking import lacking
from ..server import Server
from ..values import objects, without_none
from .events import SandboxEventType, announce
from .link import Link, shared

# A request without an answer by then is denied, as in sandboxmcp.
ANSWER_SECONDS, POLL_SECONDS = 30.0, 0.5
REFUSED = {"approval_denied", "egress_denied"}


class NetworkGuard:
    def __init__(self, enable_network: bool = False, global_allowed: Optional[List[str]] = None, *,
                 server: Optional[Server] = None) -> None:
        self.enabled, self._global = enable_network, set(global_allowed or ())
        self._server, self._link = server, None  # type: Optional[Server], Optional[Link]
        self._pending: List[Dict[str, str]] = []

    def use(self, link: Link) -> None:
        """A pipeline's connection, if no other server was named."""
        if self._server is None:
            self._link = self._link or link

    def _linked(self) -> Link:
        return self._link or shared(self._server)

    def is_allowed(self, domain: str, allowed_domains: List[str]) -> bool:
        """By this object.  The server may still refuse it."""
        return self.enabled and (domain in self._global or domain in allowed_domains)

    async def request_egress(self, domain: str, namespace: str = "default") -> bool:
        """Asks a person, and waits for the answer."""
        link, request = self._linked(), {"namespace": namespace, "domain": domain}
        self._pending.append(request)
        await announce(SandboxEventType.egress_requested, namespace, domain=domain)
        try:
            approved = await link.ask(_answer(link.sandbox, domain, namespace))
        finally:
            self._pending.remove(request)
        if approved:
            self._global.add(domain)
        await announce(SandboxEventType.egress_approved if approved else SandboxEventType.egress_denied, namespace, domain=domain)
        return approved

    def approve_egress(self, namespace: str, domain: str) -> bool:
        """True if such a request was open.  NotSupported unless this program may approve."""
        if not self._decide(namespace, domain, "approve"):
            return False
        self._global.add(domain)
        return True

    def deny_egress(self, namespace: str, domain: str) -> bool:
        return self._decide(namespace, domain, "deny")

    def _decide(self, namespace: str, domain: str, verdict: str) -> bool:
        link = self._linked()
        return link.wait(_decide(link.sandbox, namespace, domain, verdict))

    @property
    def pending_requests(self) -> List[Dict[str, str]]:
        return [dict(request) for request in self._pending]

    @property
    def allowed_domains(self) -> List[str]:
        return sorted(self._global)


async def _answer(sandbox: AsyncSandbox, domain: str, namespace: str) -> bool:
    until = time.monotonic() + ANSWER_SECONDS
    while True:
        try:
            arguments = without_none(domain=domain, namespace=None if namespace == "default" else namespace)
            return bool((await sandbox.call("request_egress", **arguments)).get("approved"))
        except ToolError as error:
            if error.code in REFUSED:
                return False
            if error.code != "approval_required":
                raise
        if time.monotonic() > until:
            return False
        await asyncio.sleep(POLL_SECONDS)


async def _decide(sandbox: AsyncSandbox, namespace: str, domain: str, verdict: str) -> bool:
    try:
        reply = await sandbox.method("cloister/approval/query", {"kind": "egress"})
        for one in objects(reply, "approvals"):
            if one.get("state") == "pending" and one.get("subject") == domain and (one.get("namespace") or "default") == namespace:
                await sandbox.method("cloister/approval/answer", without_none(
                    request_id=one.get("request_id"), subject=domain, verdict=verdict,
                    duration="namespace" if verdict == "approve" else None))
                return True
    except SandboxError as error:
        if is_denied(error):
            raise lacking("approve_egress") from error
        raise
    return False
