# SPDX-License-Identifier: Apache-2.0
"""OpenAI's Agents SDK: `Agent(name="...", tools=[run_code(session)])`."""

from __future__ import annotations

import base64
from typing import Any, Union

from agents import FunctionTool, ToolOutputImage, ToolOutputText, function_tool

from ..sandbox import Session
from ..session import AsyncSession
from .runner import CODE, DESCRIPTION, NAME, Runner


def run_code(session: Union[Session, AsyncSession], **options: Any) -> FunctionTool:
    runner = Runner(session, **options)

    async def call(code: str) -> Any:
        answer = await runner.arun(code)
        if not answer.images:
            return answer.text
        pictures = [f"data:{one.mime_type};base64,{base64.b64encode(one.data).decode()}" for one in answer.images]
        return [ToolOutputText(text=answer.text), *(ToolOutputImage(image_url=url) for url in pictures)]
    call.__doc__ = f"{DESCRIPTION}\n\nArgs:\n    code: {CODE}"
    return function_tool(call, name_override=NAME)
