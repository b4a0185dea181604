# SPDX-License-Identifier: Apache-2.0
"""adapters_cases.py BIN EXAMPLES: the adapters against the real programs, called as each framework calls a tool; the examples.

Run by an interpreter that has the frameworks and the SDK's wheel.
"""

import asyncio
import base64
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import cases  # noqa: E402
import shop  # noqa: E402
from daemons import Cluster  # noqa: E402

import agents  # noqa: E402
import pydantic_ai  # noqa: E402
import smolagents  # noqa: E402
from agents.mcp import MCPServerStdio  # noqa: E402
from agents.testing import ScriptedModel, assistant_message, function_call  # noqa: E402
from fastmcp.client.transports import StdioTransport  # noqa: E402
from langchain_core.messages import ToolMessage  # noqa: E402
from langchain_mcp_adapters.client import MultiServerMCPClient  # noqa: E402
from mcp import StdioServerParameters  # noqa: E402
from pydantic_ai.mcp import MCPToolset  # noqa: E402
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart  # noqa: E402
from pydantic_ai.models.function import FunctionModel  # noqa: E402

from cloister_sandbox import AsyncSandbox, Sandbox, Server  # noqa: E402
from cloister_sandbox.adapters import langchain, openai_agents, runner  # noqa: E402
from cloister_sandbox.adapters import pydantic_ai as pydantic_adapter  # noqa: E402
from cloister_sandbox.adapters import smolagents as smolagents_adapter  # noqa: E402

FLAGS = ["--toolsets=core,monitor", "--result-bytes=0"]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
DRAWN = f"import base64; open('plot.png', 'wb').write(base64.b64decode('{PNG}'))"
PLOT = "import matplotlib.pyplot as plt; plt.plot([1, 4, 9]); plt.show()"
EXPECTED = {
    "plot.py": ["plot.png image/png"], "csv_analysis.py": ["best: [['south', 32]]", '{"north": 15, "south": 32}'],
    "jobs.py": ["42\na,b\n2\n", "stdout begun", "True timeout"],
    "session.py": ["[1, 2, 3]", "False program_failed: list index out of range", "first\n"],
    **{f"agent_{name}.py": ["tool: ", "42", "ZeroDivisionError", "ai: The answer is 42."]
       for name in ("langchain", "openai", "pydantic_ai", "smolagents")}}


def told(session, code, **options):
    return runner.Runner(session, **options).run(code)


def test_text_for_a_model(session):
    assert told(session, "x = 41").text == "no output"
    assert told(session, "print('out')\nx + 1").text == "out\nresult: 42"
    assert told(session, "open('a.txt', 'w').write('\u00e9'); '\u00e9'").text == 'result: "\u00e9"\nnew file: a.txt, 2 bytes'
    failed = told(session, "1 / 0")
    assert failed.text.endswith("ZeroDivisionError: division by zero") and not failed.result.success, failed
    slow = told(session, "while True: pass", timeout=1)
    assert "error: timeout" in slow.text and "longer timeout" in slow.text and slow.result.timed_out, slow


def test_long_text_loses_its_middle(session):
    text = told(session, "print('a' * 30000 + 'b' * 30000)").text
    assert len(text) < 20_100 and text[0] == "a" and text[-1] == "b" and "characters are left out" in text, text[:100]
    assert len(told(session, "print('a' * 500)", most=100).text) < 200


def test_a_refused_call_is_text(session):
    answer = told(session, "1", language="cobol")
    assert answer.text.startswith("error: invalid_argument") and answer.result is None and "cobol" in answer.text, answer


# ---- LangChain ----

def invoke(tool, code):
    return tool.invoke({"type": "tool_call", "name": tool.name, "id": "1", "args": {"code": code}})


def test_langchain(session):
    tool = langchain.run_code(session, timeout=20)
    assert tool.name == "run_code" and list(tool.args) == ["code"] and len(tool.description) < 300
    invoke(tool, "y = 5")
    message = invoke(tool, "y + 1")
    assert isinstance(message, ToolMessage) and message.content == "result: 6" and message.artifact.result == 6, message
    assert "NameError" in invoke(tool, "z").content
    text, picture = invoke(tool, DRAWN).content
    assert "plot.png" in text["text"] and picture == {"type": "image", "base64": PNG, "mime_type": "image/png"}, picture


def test_langchain_asynchronous(server):
    async def work():
        async with AsyncSandbox(server) as sandbox, sandbox.session() as own:
            tool = langchain.run_code(own)
            await tool.ainvoke({"code": "y = 5"})
            assert await tool.ainvoke({"code": "y + 1"}) == "result: 6"
            try:
                tool.invoke({"code": "y"})
            except TypeError as error:
                assert "AsyncSession" in str(error)
            else:
                raise AssertionError("it waits for a loop that waits for it")
    asyncio.run(work())


# ---- OpenAI's Agents SDK ----

def run_agent(steps, **agent):
    model = ScriptedModel([*steps, [assistant_message("done")]])
    work = agents.Runner.run(agents.Agent(name="tester", model=model, **agent), "go", run_config=agents.RunConfig(tracing_disabled=True))
    done = asyncio.run(work)
    assert done.final_output == "done"
    return [item for item in done.new_items if item.type == "tool_call_output_item"]


def test_openai_agents(session):
    tool = openai_agents.run_code(session, timeout=20)
    assert tool.name == "run_code" and list(tool.params_json_schema["properties"]) == ["code"] and tool.description == runner.DESCRIPTION
    outputs = run_agent([[function_call("run_code", {"code": code}, call_id=str(i))] for i, code in enumerate(("w = 2", "w * 2", "q", DRAWN))],
                        tools=[tool])
    assert [one.output for one in outputs[:2]] == ["no output", "result: 4"] and "NameError" in outputs[2].output, outputs
    text, picture = outputs[3].raw_item["output"]
    assert "plot.png" in text["text"] and picture["type"] == "input_image" and picture["image_url"].endswith(PNG), picture


# ---- Pydantic AI ----

def test_pydantic_ai(session):
    tool, seen = pydantic_adapter.run_code(session, timeout=20), []
    steps = iter([*(ToolCallPart("run_code", {"code": code}) for code in ("v = 3", "v * 2", "q", DRAWN)), TextPart("done")])

    def model(messages, info):
        seen.append(info.function_tools)
        return ModelResponse([next(steps)])
    done = pydantic_ai.Agent(FunctionModel(model), tools=[tool]).run_sync("go")
    definition = seen[0][0]
    assert definition.name == "run_code" and definition.description == runner.DESCRIPTION
    assert list(definition.parameters_json_schema["properties"]) == ["code"]
    outputs = [part.content for message in done.all_messages() for part in message.parts if part.part_kind == "tool-return"]
    assert outputs[:2] == ["no output", "result: 6"] and "NameError" in outputs[2] and done.output == "done", outputs
    text, picture = outputs[3]
    assert "plot.png" in text and picture.media_type == "image/png" and base64.b64encode(picture.data).decode() == PNG


# An agent's run is cancelled: so is the program.
def test_cancellation(session, sandbox):
    async def work():
        task = asyncio.ensure_future(runner.Runner(session).arun("import time; time.sleep(60)"))
        while sandbox.stats()["queue"]["running"] == 0:
            await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
    asyncio.run(work())
    end = time.monotonic() + 10
    while sandbox.stats()["queue"]["running"] > 0:
        assert time.monotonic() < end, "the program still runs"
        time.sleep(0.05)


# ---- smolagents ----

class Script(smolagents.Model):
    """Its programs, one each step."""

    def __init__(self, *programs):
        super().__init__()
        self.programs = iter(programs)

    def generate(self, messages, **_):
        return smolagents.ChatMessage("assistant", f"<code>\n{next(self.programs)}\n</code>")


class Double(smolagents.Tool):
    name, description, output_type = "double", "Doubles a number.", "integer"
    inputs = {"number": {"type": "integer", "description": "The number."}}

    def forward(self, number: int) -> int:
        return 2 * number


def code_agent(session, *programs, variables: Any = None, **more):
    agent = smolagents.CodeAgent(tools=[Double()], model=Script(*programs), verbosity_level=0,
                                 executor=smolagents_adapter.Executor(session, timeout=20, **more))
    return agent.run("go", additional_args=variables), agent.memory.steps[1:]


def test_smolagents_runs_its_code_in_a_box(session):
    answer, steps = code_agent(session, "import os; n = double(4)\nprint(os.getcwd())\nn", "no_such", DRAWN, "print('x' * 90000)",
                               "final_answer({'n': n, 'long': 'x' * 10000, 'given': given})", variables={"given": [1, {"a": 2}]})
    assert answer == {"n": 8, "long": "x" * 10000, "given": [1, {"a": 2}]}, str(answer)[:200]
    assert "/workspace" in steps[0].observations and steps[0].observations.endswith("8"), steps[0].observations
    assert "NameError" in steps[1].error.message and "no_such" in steps[1].error.message
    assert "new file: plot.png" in steps[2].observations and steps[2].action_output.size == (1, 1)
    assert len(steps[3].observations) < 20_200, len(steps[3].observations)


def test_smolagents_packages(session):
    assert code_agent(session, "import base\nfinal_answer(base.version)", packages=["base<2"])[0] == "1.0"


def test_smolagents_an_answer_cannot_be_a_pickle(session):
    code = f"class FinalAnswerException(BaseException): pass\nopen({smolagents_adapter.ANSWER!r}, 'w').write('pickle:gASVBAAAAAAAAABLAS4=')\n" \
        "raise FinalAnswerException()"
    answer, steps = code_agent(session, code, "final_answer(1)")
    assert answer == 1 and "pickle" in steps[0].error.message.lower(), steps[0].error


def test_smolagents_tool(session):
    tool = smolagents_adapter.run_code(session, timeout=20)
    assert tool(code="u = 1") == "no output" and tool(code="u + 1") == "result: 2"
    assert "NameError" in tool(code="q")


# ---- the lines of the README for MCP, as printed: `cloister` in PATH is the gateway of the test ----

def line(framework):
    with open(os.path.join(HERE, "..", "..", "compose", "sdk", "python", "README.md"), encoding="utf-8") as file:
        row = re.search(rf"^\| {framework}.*$", file.read(), re.M)[0]
    names = {"MultiServerMCPClient": MultiServerMCPClient, "MCPServerStdio": MCPServerStdio, "MCPToolset": MCPToolset,
             "StdioTransport": StdioTransport, "ToolCollection": smolagents.ToolCollection, "StdioServerParameters": StdioServerParameters}
    return eval(re.findall(r"`([^`]+)`", row)[-1], names)


def test_langchain_over_mcp():
    async def work():
        tools = {one.name: one for one in await line("LangChain").get_tools()}
        return await tools["execute_code"].ainvoke({"code": "6 * 7"})
    assert "42" in str(asyncio.run(work()))


def test_openai_agents_over_mcp():
    async def work():
        async with line("OpenAI") as mcp:
            return await mcp.call_tool("execute_code", {"code": "6 * 7"})
    assert "42" in asyncio.run(work()).content[0].text


def test_pydantic_ai_over_mcp():
    steps = iter([ToolCallPart("execute_code", {"code": "6 * 7"}), TextPart("done")])
    agent = pydantic_ai.Agent(FunctionModel(lambda messages, info: ModelResponse([next(steps)])), toolsets=[line("Pydantic AI")])
    assert "'result': 42" in str(agent.run_sync("go").all_messages())


def test_smolagents_over_mcp():
    with line("smolagents") as collection:
        tools = {one.name: one for one in collection.tools}
        assert '"result":42' in tools["execute_code"](code="6 * 7")


# ---- the examples ----

def test_the_examples(examples):
    assert set(os.listdir(examples)) == set(EXPECTED), os.listdir(examples)
    said = {}

    def work(name):
        with open(os.path.join(examples, name), encoding="utf-8") as file:
            program = file.read().replace(PLOT, DRAWN)
        with tempfile.TemporaryDirectory() as place:
            said[name] = subprocess.run([sys.executable, "-B", "-c", program], cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    threads = [threading.Thread(target=work, args=(name,)) for name in EXPECTED]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, ran in said.items():
        assert ran.returncode == 0 and all(words in ran.stdout for words in EXPECTED[name]), (name, ran.stdout)
    assert len(said) == len(EXPECTED)


def test_five_jobs_in_few_lines(examples):
    """As many as with E2B's library: 16, without blank lines and comments."""
    with open(os.path.join(examples, "jobs.py"), encoding="utf-8") as file:
        lines = [line for line in file if line.strip() and not line.startswith(("#", '"""'))]
    assert len(lines) <= 16, len(lines)


def put_into_path(directory, command):
    path = os.path.join(directory, "cloister")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nexec {shlex.join(command)} 2>/dev/null\n")
    os.chmod(path, 0o755)
    os.environ["PATH"] = directory + os.pathsep + os.environ["PATH"]


def main(binaries, examples):
    shop.publish()
    shop.INDEX.serve()
    with Cluster(binaries, env=shop.ENVIRONMENT, flags=shop.FLAGS) as cluster:
        put_into_path(cluster.directory, cluster.command("gateway"))
        command = [*cluster.command("gateway"), *FLAGS]
        os.environ["CLOISTER_COMMAND"] = shlex.join(command)
        with Sandbox(Server(command)) as sandbox, sandbox.session() as session:
            counts = cases.play(sys.modules[__name__], named={
                "server": Server(command), "sandbox": sandbox, "session": session, "examples": examples})
    cases.end(counts)


if __name__ == "__main__":
    main(*sys.argv[1:])
