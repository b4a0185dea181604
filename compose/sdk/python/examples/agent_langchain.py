# SPDX-License-Identifier: Apache-2.0
"""An agent of LangChain.  A script stands in for the model; put `init_chat_model("...")` in its place."""

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from cloister_sandbox import Sandbox
from cloister_sandbox.adapters.langchain import run_code


class Script(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        return self


def calls(code):
    return AIMessage("", tool_calls=[{"name": "run_code", "args": {"code": code}, "id": code}])


model = Script(messages=iter([calls("x = 6"), calls("print(x * 7)"), calls("1 / 0"), AIMessage("The answer is 42.")]))
with Sandbox() as sandbox, sandbox.session() as session:
    agent = create_agent(model, tools=[run_code(session, timeout=20)])
    for message in agent.invoke({"messages": [("user", "What is 6 * 7?")]})["messages"]:
        print(f"{message.type}: {message.content}")
