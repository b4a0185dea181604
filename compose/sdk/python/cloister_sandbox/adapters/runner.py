# SPDX-License-Identifier: Apache-2.0
"""What the tools of all frameworks do: a program runs in the agent's session, and its result becomes text and pictures.

What a model can correct is text: a program that fails, a refused call, a run without an end.  All else is raised.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any, List, Optional, Union

from ..errors import RequestTimeout, ToolError
from ..result import Image, Result
from ..sandbox import Session
from ..session import AsyncSession

NAME = "run_code"
DESCRIPTION = ("Run a program in a sandbox. Variables, imports and files in /workspace stay between calls. Returns what it "
               "prints, the value of its last expression, and the names of new files.")
CODE = "The whole program."
# Characters of text for a model; the middle of a longer one is left out.
MOST = 20_000


@dataclass(frozen=True)
class Answer:
    """text and images are for the model.  result is None if the call was refused."""

    text: str
    images: List[Image]
    result: Optional[Result]


class Runner:
    """options: those of Session.run()."""

    def __init__(self, session: Union[Session, AsyncSession], *, most: int = MOST, **options: Any) -> None:
        self._session, self._most, self._options = session, most, options

    def run(self, code: str) -> Answer:
        if isinstance(self._session, AsyncSession):
            raise TypeError("an AsyncSession runs in its event loop only: call the tool there, or pass a Session")
        try:
            return self._answer(self._session.run(code, **self._options))
        except (ToolError, RequestTimeout) as error:
            return _refused(error)

    async def arun(self, code: str) -> Answer:
        """As run().  A cancelled call is cancelled at the server."""
        try:
            return self._answer(await self._result(code))
        except (ToolError, RequestTimeout) as error:
            return _refused(error)

    async def _result(self, code: str) -> Result:
        if isinstance(self._session, AsyncSession):
            return await self._session.run(code, **self._options)
        return await asyncio.wrap_future(self._session.submit(code, **self._options))

    def _answer(self, result: Result) -> Answer:
        return Answer(shortened(text_of(result), self._most), result.images, result)


def text_of(result: Result) -> str:
    """What a model needs of a result."""
    error, parts = result.error, [result.stdout, result.stderr]
    if result.result is not None:
        parts.append(f"result: {json.dumps(result.result, ensure_ascii=False)}")
    parts += [f"new file: {one.filename}, {one.size} bytes" for one in result.artifacts]
    # A traceback says it already.
    if error is not None and error.message not in result.stderr:
        parts += [f"error: {error}", error.hint or ""]
    return "\n".join(part.strip("\n") for part in [*parts, *result.notes] if part.strip("\n")) or "no output"


def shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most // 2]}\n[{len(text) - most} characters are left out]\n{text[len(text) - most // 2:]}"


def _refused(error: Union[ToolError, RequestTimeout]) -> Answer:
    hint = getattr(error, "hint", None)
    return Answer(f"error: {error}{chr(10) + hint if hint and hint not in str(error) else ''}", [], None)
