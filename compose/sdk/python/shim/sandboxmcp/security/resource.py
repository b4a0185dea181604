# SPDX-License-Identifier: Apache-2.0
"""Where sandboxmcp keeps its ResourceGuard."""

from cloister_sandbox.sandboxmcp.resource import ResourceGuard as ResourceGuard
