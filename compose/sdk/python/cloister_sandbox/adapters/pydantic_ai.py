# SPDX-License-Identifier: Apache-2.0
"""Pydantic AI: `Agent(model, tools=[run_code(session)])`."""

from __future__ import annotations

from typing import Any, Union

from pydantic_ai import BinaryContent, Tool

from ..sandbox import Session
from ..session import AsyncSession
from .runner import CODE, DESCRIPTION, NAME, Runner


def run_code(session: Union[Session, AsyncSession], **options: Any) -> "Tool[Any]":
    runner = Runner(session, **options)

    async def call(code: str) -> Any:
        answer = await runner.arun(code)
        if not answer.images:
            return answer.text
        return [answer.text, *(BinaryContent(one.data, media_type=one.mime_type) for one in answer.images)]
    call.__doc__ = f"{DESCRIPTION}\n\nArgs:\n    code: {CODE}"
    return Tool(call, name=NAME, takes_ctx=False)
