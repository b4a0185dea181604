# SPDX-License-Identifier: Apache-2.0
"""Events of the sandboxes of this process, made from the server's replies: all types, but nothing that other clients do.
`cloister events` follows those of all."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum
from typing import Any, AsyncIterator, Dict, List, Optional, Tuple

from .models import Model

# Events that a subscriber has not fetched; the oldest are dropped.
MAX_WAITING = 10_000


class SandboxEventType(str, Enum):
    execution_started = "execution.started"
    execution_completed = "execution.completed"
    execution_failed = "execution.failed"
    execution_timeout = "execution.timeout"
    session_created = "session.created"
    session_killed = "session.killed"
    package_installed = "package.installed"
    egress_requested = "egress.requested"
    egress_approved = "egress.approved"
    egress_denied = "egress.denied"
    vault_accessed = "vault.accessed"
    resource_exceeded = "resource.exceeded"
    artifact_signed = "artifact.signed"
    queue_backpressure = "queue.backpressure"


@dataclass
class SandboxEvent(Model):
    type: SandboxEventType
    namespace: str = "default"
    message: str = ""
    data: Dict[str, Any] = field(default_factory=dict)
    timestamp: datetime = field(default_factory=lambda: datetime.now(timezone.utc))


class SandboxEventBus:
    """Subscribers are queues of an event loop; emit() runs in the loop of the subscriber's process."""

    def __init__(self) -> None:
        self._subscribers: List[Tuple[Optional[str], "asyncio.Queue[SandboxEvent]"]] = []

    def subscribe(self, namespace: Optional[str] = None) -> "asyncio.Queue[SandboxEvent]":
        queue: "asyncio.Queue[SandboxEvent]" = asyncio.Queue(MAX_WAITING)
        self._subscribers.append((namespace, queue))
        return queue

    def unsubscribe(self, queue: "asyncio.Queue[SandboxEvent]", namespace: Optional[str] = None) -> None:
        self._subscribers = [one for one in self._subscribers if one[1] is not queue]

    async def emit(self, event: SandboxEvent) -> None:
        for namespace, queue in list(self._subscribers):
            if namespace in (None, event.namespace):
                if queue.full():
                    queue.get_nowait()
                queue.put_nowait(event)

    async def stream(self, namespace: Optional[str] = None) -> AsyncIterator[SandboxEvent]:
        queue = self.subscribe(namespace)
        try:
            while True:
                yield await queue.get()
        finally:
            self.unsubscribe(queue)


sandbox_event_bus = SandboxEventBus()


async def announce(type_: SandboxEventType, namespace: str, **data: Any) -> None:
    await sandbox_event_bus.emit(SandboxEvent(type_, namespace, type_.value, data))
