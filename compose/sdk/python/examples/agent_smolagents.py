# SPDX-License-Identifier: Apache-2.0
"""A code agent of smolagents, whose code runs in boxes.  A script stands in for the model; put `InferenceClientModel()` in its place."""

from smolagents import CodeAgent, Model
from smolagents.models import ChatMessage, MessageRole

from cloister_sandbox import Sandbox
from cloister_sandbox.adapters.smolagents import Executor

PROGRAMS = iter(["x = 6", "print(x * 7)", "1 / 0", "final_answer(f'The answer is {x * 7}.')"])


class Script(Model):
    def generate(self, messages, **_):
        return ChatMessage(MessageRole.ASSISTANT, f"Thought: next.\n<code>\n{next(PROGRAMS)}\n</code>")


with Sandbox() as sandbox, sandbox.session() as session:
    agent = CodeAgent(tools=[], model=Script(), executor=Executor(session, timeout=20), verbosity_level=0)
    answer = agent.run("What is 6 * 7?")
    for step in agent.memory.steps[1:]:
        print("tool:", step.error.message if step.error else step.observations)
    print("ai:", answer)
