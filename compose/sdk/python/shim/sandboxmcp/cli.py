# SPDX-License-Identifier: Apache-2.0
"""The console scripts of sandboxmcp."""

from cloister_sandbox.sandboxmcp.scripts import api as api
from cloister_sandbox.sandboxmcp.scripts import main as main
