# SPDX-License-Identifier: Apache-2.0
"""An event loop in a thread of its own, for callers that have none, or whose loop this must not depend on.

A thread, because a loop cannot be entered twice: in a notebook a loop runs already.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from typing import Any, Coroutine, Optional, TypeVar

from .errors import Closed

T = TypeVar("T")
JOIN_SECONDS = 30.0


class Portal:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._thread: Optional[threading.Thread] = None
        self._closed = False

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise Closed("the sandbox is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="cloister-sandbox", daemon=True)
                self._thread.start()
            return self._loop

    def submit(self, coroutine: "Coroutine[Any, Any, T]") -> "concurrent.futures.Future[T]":
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self._running())
        except BaseException:
            coroutine.close()
            raise

    def run(self, coroutine: "Coroutine[Any, Any, T]") -> T:
        """Its result.  If the caller is interrupted, so is the coroutine."""
        future = self.submit(coroutine)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Ends the thread.  Idempotent.  Coroutines that still run are cancelled."""
        with self._lock:
            self._closed = True
            loop, self._loop = self._loop, None
        if loop is None or self._thread is None:
            return
        asyncio.run_coroutine_threadsafe(_cancel_others(), loop).add_done_callback(
            lambda _: loop.call_soon_threadsafe(loop.stop))
        if threading.current_thread() is not self._thread:
            self._thread.join(JOIN_SECONDS)
            if not self._thread.is_alive():
                loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=JOIN_SECONDS / 2)
    await asyncio.get_running_loop().shutdown_asyncgens()
