# SPDX-License-Identifier: Apache-2.0
"""An agent of Pydantic AI.  A script stands in for the model; put the name of one in its place."""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from cloister_sandbox import Sandbox
from cloister_sandbox.adapters.pydantic_ai import run_code

steps = iter([ToolCallPart("run_code", {"code": code}) for code in ("x = 6", "print(x * 7)", "1 / 0")] + [TextPart("The answer is 42.")])
with Sandbox() as sandbox, sandbox.session() as session:
    agent = Agent(FunctionModel(lambda messages, info: ModelResponse([next(steps)])), tools=[run_code(session, timeout=20)])
    done = agent.run_sync("What is 6 * 7?")
    for part in [part for message in done.all_messages() for part in message.parts]:
        if isinstance(part, ToolReturnPart):
            print("tool:", part.content)
    print("ai:", done.output)
