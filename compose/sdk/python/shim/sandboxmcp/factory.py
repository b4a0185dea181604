# SPDX-License-Identifier: Apache-2.0
"""The factory of sandboxmcp."""

from cloister_sandbox.sandboxmcp.factory import SandboxFactory as SandboxFactory
