# SPDX-License-Identifier: Apache-2.0
"""smolagents: `CodeAgent(tools=[...], model=model, executor=Executor(session))` runs the agent's own code in boxes, and
`ToolCallingAgent(tools=[run_code(session)], model=model)` has a tool.

The executor runs the source of the agent's tools in the box, too, as smolagents does with every remote executor.
"""

from __future__ import annotations

import io
from typing import Any, Dict, List, Sequence

from PIL import Image
from smolagents import AgentLogger, LogLevel, Tool
from smolagents.local_python_executor import CodeOutput
from smolagents.remote_executors import RemotePythonExecutor
from smolagents.utils import AgentError

from ..result import Result
from ..sandbox import Session
from .runner import CODE, DESCRIPTION, MOST, NAME, Runner, shortened, text_of

PICTURES = ("PNG", "JPEG", "GIF", "WEBP")
# A server shortens errors, and so the answer that smolagents raises as one; a file is whole.
ANSWER = ".final_answer"
KEEP = f"""
def _keeping(tool):
    def final_answer(*arguments, **named):
        try:
            return tool(*arguments, **named)
        except BaseException as error:
            if type(error).__name__ == {RemotePythonExecutor.FINAL_ANSWER_EXCEPTION!r}:
                with open("/workspace/{ANSWER}", "w") as file:
                    file.write(error.value)
            raise
    return final_answer
final_answer = _keeping(final_answer)
"""


class Executor(RemotePythonExecutor):  # type: ignore[misc]
    """packages: installed at first.  most: characters of what is printed.  options: those of Session.run()."""

    def __init__(self, session: Session, packages: Sequence[str] = (), *, most: int = MOST, **options: Any) -> None:
        super().__init__(list(packages), AgentLogger(level=LogLevel.OFF))
        self._session, self._most, self._options = session, most, options
        # final_answer uses these two if they are there.
        self.installed_packages = [*self.install_packages(list(packages)), "PIL", "numpy"]

    def install_packages(self, additional_imports: List[str]) -> List[str]:
        if additional_imports:
            self._session.run("pass", packages=additional_imports).check()
        return additional_imports

    def send_tools(self, tools: Dict[str, Tool]) -> None:
        super().send_tools(tools)
        if "final_answer" in tools:
            self.run_code_raise_errors(KEEP)

    def run_code_raise_errors(self, code: str) -> CodeOutput:
        result = self._session.run(code, **self._options)
        failed = result.raw.get("error") or {}
        if str(failed.get("type")).rpartition(".")[2] == self.FINAL_ANSWER_EXCEPTION:
            answer = self._session.read(ANSWER).decode()
            return CodeOutput(self._deserialize_final_answer(answer), shortened(result.stdout, self._most), True)
        if not result.success:
            raise AgentError(shortened(text_of(result), self._most), self.logger)
        return CodeOutput(_value(result), shortened(_logs(result), self._most), False)


def run_code(session: Session, **options: Any) -> Tool:
    runner = Runner(session, **options)

    class RunCode(Tool):  # type: ignore[misc]
        name, description = NAME, DESCRIPTION
        inputs = {"code": {"type": "string", "description": CODE}}
        output_type = "string"

        def forward(self, code: str) -> str:
            return runner.run(code).text
    return RunCode()


def _value(result: Result) -> Any:
    """A picture, which the program may have written to harm Pillow: in few formats, and decoded only where it is used."""
    if result.images:
        return Image.open(io.BytesIO(result.images[0].data), formats=PICTURES)
    return result.result


def _logs(result: Result) -> str:
    files = [f"new file: {one.filename}, {one.size} bytes" for one in result.artifacts]
    return "\n".join(part for part in [result.stdout, result.stderr, *files] if part)
