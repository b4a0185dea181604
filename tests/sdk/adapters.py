#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""adapters.py BIN WORK: installs the frameworks from pip's index, the SDK's wheel beside them, and runs adapters_cases.py there.

Without an index that answers, it is skipped.
"""

import os
import re
import subprocess
import sys

import wheels

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(wheels.ROOT, "tests", "support"))
import tools  # noqa: E402
from daemons import skip  # noqa: E402

FRAMEWORKS = ("langchain==1.5.2", "langchain-core==1.8.3", "langchain-mcp-adapters==0.3.2", "openai-agents==0.24.0",
              "pydantic-ai-slim[mcp]==2.68.0", "smolagents[mcp]==1.26.0")
# What no test may do: ask a model, or report to anybody.
ENVIRONMENT = {"OPENAI_AGENTS_DISABLE_TRACING": "1", "LANGSMITH_TRACING": "false", "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
# With no version at all, whatever pip says of the connection.
NO_ANSWER = re.compile(r"\(from versions: none\)|NewConnectionError|NameResolutionError|ReadTimeoutError|HTTP error 50\d")


def installed():
    """A Python that has the frameworks."""
    try:
        return tools.python(*FRAMEWORKS)[0]
    except SystemExit as failed:
        if NO_ANSWER.search(str(failed.code)):
            skip("pip's index does not answer")
        raise


def main(binaries, work):
    if sys.version_info < (3, 10):
        skip("the frameworks need Python 3.10")
    python = installed()
    sdk = os.path.join(work, "sdk")
    wheel = wheels.build(os.path.join(work, "wheels"), wheels.SOURCE)
    wheels.run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--upgrade", "--target", sdk, *wheel)
    done = subprocess.run([python, "-B", os.path.join(HERE, "adapters_cases.py"), binaries, os.path.join(wheels.SOURCE, "examples")],
                          env={**os.environ, **ENVIRONMENT, "PYTHONPATH": sdk}, stdin=subprocess.DEVNULL, timeout=300, check=False)
    sys.exit(done.returncode)


main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
