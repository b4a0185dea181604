# SPDX-License-Identifier: Apache-2.0
"""Where sandboxmcp keeps its CodeValidator."""

from cloister_sandbox.sandboxmcp.validator import CodeValidator as CodeValidator
