# SPDX-License-Identifier: Apache-2.0
"""The import name sandboxmcp: cloister_sandbox.sandboxmcp has the code."""

from cloister_sandbox.sandboxmcp import *  # noqa: F401,F403
from cloister_sandbox.sandboxmcp import __all__ as __all__
from cloister_sandbox.sandboxmcp.absent import explain
from cloister_sandbox.version import VERSION as __version__  # noqa: F401

explain("sandboxmcp")
