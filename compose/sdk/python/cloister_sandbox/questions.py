# SPDX-License-Identifier: Apache-2.0
"""Questions of the server to a person: forms of MCP's elicitation.  One is shown at a time."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import threading
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable, List, Mapping, Optional, Union

from .errors import ProtocolError
from .values import Object, optional, required

# A member of choices; or the whole form; or None: nobody decides here and now.
Answer = Union[str, Mapping[str, Any], None]
OnQuestion = Callable[["Question"], Union[Answer, Awaitable[Answer]]]


@dataclass(frozen=True)
class Question:
    """choices: the possible answers; empty: any text.  schema: the JSON Schema of the form, of which an answer that is a
    text is the member `asks_for`."""

    message: str
    choices: List[str]
    asks_for: str = field(repr=False)
    schema: Object = field(repr=False)

    @classmethod
    def of(cls, params: Object) -> "Question":
        if optional(params, "mode", str) not in (None, "form"):
            raise ProtocolError("only forms were offered")
        schema = required(params, "requestedSchema", dict)
        members = required(schema, "properties", dict)
        needed = [name for name in members if name in (optional(schema, "required", list) or [])] or list(members)
        if not needed:
            raise ProtocolError("the form asks for nothing")
        member = required(members, needed[0], dict)
        choices = ["yes", "no"] if member.get("type") == "boolean" else optional(member, "enum", list) or []
        return cls(required(params, "message", str), [str(one) for one in choices], needed[0], schema)

    def reply(self, answer: Answer) -> Object:
        """The result that the server gets."""
        if answer is None:
            return {"action": "cancel"}
        if isinstance(answer, Mapping):
            return {"action": "accept", "content": json.loads(json.dumps(dict(answer)))}
        if not isinstance(answer, str) or self.choices and answer not in self.choices:
            raise ValueError(f"on_question returned {answer!r} instead of one of {self.choices}")
        yes_or_no = self.schema["properties"][self.asks_for].get("type") == "boolean"
        return {"action": "accept", "content": {self.asks_for: answer == "yes" if yes_or_no else answer}}


class Questions:
    """Those of one connection."""

    def __init__(self, callback: OnQuestion) -> None:
        self._callback, self._one = callback, asyncio.Lock()

    async def reply(self, params: Object) -> Object:
        """Raises ProtocolError for what is no question that a callback could answer."""
        question = Question.of(params)
        async with self._one:
            try:
                return question.reply(await self._ask(question))
            except Exception as error:  # The caller's, and no reason to end the call: another person may answer.
                asyncio.get_running_loop().call_exception_handler({"message": "on_question failed", "exception": error})
                return question.reply(None)

    async def _ask(self, question: Question) -> Answer:
        answer: Union[Answer, Awaitable[Answer]]
        if inspect.iscoroutinefunction(self._callback):
            answer = self._callback(question)
        else:
            answer = await _in_thread(lambda: self._callback(question))
        return (await answer) if isinstance(answer, Awaitable) else answer


async def _in_thread(function: Callable[[], Any]) -> Any:
    """A thread of its own, because a person takes time; it holds up neither the loop nor the end of the program."""
    loop = asyncio.get_running_loop()
    reply: "asyncio.Future[Any]" = loop.create_future()

    def settle(value: Any, error: Optional[Exception]) -> None:
        if not reply.done():
            reply.set_result(value) if error is None else reply.set_exception(error)

    def work() -> None:
        value, failed = None, None  # type: Any, Optional[Exception]
        try:
            value = function()
        except Exception as error:
            failed = error
        with contextlib.suppress(RuntimeError):  # The loop has ended.
            loop.call_soon_threadsafe(settle, value, failed)
    threading.Thread(target=work, name="cloister-sandbox question", daemon=True).start()
    return await reply
