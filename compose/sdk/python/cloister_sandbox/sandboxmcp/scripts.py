# SPDX-License-Identifier: Apache-2.0
"""The commands sandboxmcp and sandboxmcp-api: `cloister` under that name, from which it knows whose words it is to take."""

from __future__ import annotations

import os
import shutil
import sys
from typing import List

NOT_FOUND = 127
HOST, PORT = "127.0.0.1", "8000"


def _become(arguments: List[str]) -> None:
    program = shutil.which("cloister")
    if program is None:
        print("sandboxmcp: no cloister was found in PATH, and this command starts it: install cloister "
              "(compose/quickstart), or put its directory into PATH", file=sys.stderr)
        sys.exit(NOT_FOUND)
    os.execv(program, ["sandboxmcp", *arguments])


def main() -> None:
    """Every command and option of sandboxmcp; `sandboxmcp serve` is the MCP server."""
    _become(sys.argv[1:] or ["--help"])


def api() -> None:
    """The REST API, where SANDBOXMCP_API_HOST and _PORT say.  Keys are tokens: `cloister token add`."""
    host, port = (os.environ.get("SANDBOXMCP_API_" + name) or default for name, default in (("HOST", HOST), ("PORT", PORT)))
    _become(["serve", "--transport=http", "--rest", f"--listen={host}:{port}", *sys.argv[1:]])
