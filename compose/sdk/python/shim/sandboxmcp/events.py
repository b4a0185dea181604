# SPDX-License-Identifier: Apache-2.0
"""The events of sandboxmcp."""

from cloister_sandbox.sandboxmcp.events import *  # noqa: F401,F403
from cloister_sandbox.sandboxmcp.events import sandbox_event_bus as sandbox_event_bus
