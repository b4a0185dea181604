# SPDX-License-Identifier: Apache-2.0
"""Repeats calls that the server refused for now, and therefore did not carry out."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Awaitable, Callable, TypeVar

from .errors import ToolError

T = TypeVar("T")


async def patiently(seconds: float, act: Callable[[], Awaitable[T]]) -> T:
    """Waits as long as each refusal asks for, and at random up to twice that, so that many callers that were refused at
    once do not come back at once.  A wait that would end later than `seconds` from now raises the refusal instead."""
    end = time.monotonic() + seconds
    while True:
        try:
            return await act()
        except ToolError as error:
            if error.retry_ms is None:
                raise
            wait = error.retry_ms / 1000 * (1 + random.random())
            if time.monotonic() + wait > end:
                raise
        await asyncio.sleep(wait)
