# SPDX-License-Identifier: Apache-2.0
"""LangChain and LangGraph: `create_agent(model, tools=[run_code(session)])`."""

from __future__ import annotations

import base64
from typing import Any, Dict, List, Optional, Tuple, Union

from langchain_core.tools import StructuredTool

from ..result import Result
from ..sandbox import Session
from ..session import AsyncSession
from .runner import CODE, DESCRIPTION, NAME, Answer, Runner

SCHEMA = {"type": "object", "properties": {"code": {"type": "string", "description": CODE}}, "required": ["code"]}
Content = Union[str, List[Union[str, Dict[str, Any]]]]


def run_code(session: Union[Session, AsyncSession], **options: Any) -> StructuredTool:
    """The artifact of its message is the Result.  With an AsyncSession only the asynchronous calls of LangChain work."""
    runner = Runner(session, **options)

    def call(code: str) -> Tuple[Content, Optional[Result]]:
        return _content(runner.run(code))

    async def acall(code: str) -> Tuple[Content, Optional[Result]]:
        return _content(await runner.arun(code))
    return StructuredTool(name=NAME, description=DESCRIPTION, args_schema=SCHEMA, func=call, coroutine=acall,
                          response_format="content_and_artifact")


def _content(answer: Answer) -> Tuple[Content, Optional[Result]]:
    if not answer.images:
        return answer.text, answer.result
    pictures = [{"type": "image", "base64": base64.b64encode(one.data).decode(), "mime_type": one.mime_type} for one in answer.images]
    return [{"type": "text", "text": answer.text}, *pictures], answer.result
