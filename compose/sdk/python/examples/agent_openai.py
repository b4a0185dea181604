# SPDX-License-Identifier: Apache-2.0
"""An agent of OpenAI's Agents SDK.  A script stands in for the model; leave `model=` out for one of OpenAI's."""

import asyncio

from agents import Agent, ItemHelpers, RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message, function_call

from cloister_sandbox import AsyncSandbox
from cloister_sandbox.adapters.openai_agents import run_code


def calls(code):
    return [function_call("run_code", {"code": code}, call_id=code)]


async def main():
    model = ScriptedModel([calls("x = 6"), calls("print(x * 7)"), calls("1 / 0"), [assistant_message("The answer is 42.")]])
    async with AsyncSandbox() as sandbox, sandbox.session() as session:
        agent = Agent(name="calculator", model=model, tools=[run_code(session, timeout=20)])
        done = await Runner.run(agent, "What is 6 * 7?", run_config=RunConfig(tracing_disabled=True))
        for item in done.new_items:
            if item.type == "tool_call_output_item":
                print("tool:", item.output)
        print("ai:", ItemHelpers.text_message_outputs(done.new_items))

asyncio.run(main())
