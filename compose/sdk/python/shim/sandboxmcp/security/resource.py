# SPDX-License-Identifier: Apache-2.0
"""Where sandboxmcp keeps its ResourceGuard."""

from cloister_sandbox.sandboxmcp.guards import ResourceGuard as ResourceGuard
