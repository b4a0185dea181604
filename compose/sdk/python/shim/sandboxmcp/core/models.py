# SPDX-License-Identifier: Apache-2.0
"""The models of sandboxmcp."""

from cloister_sandbox.sandboxmcp.models import *  # noqa: F401,F403
