# SPDX-License-Identifier: Apache-2.0
"""Where sandboxmcp keeps its InMemoryVault."""

from cloister_sandbox.sandboxmcp.guards import InMemoryVault as InMemoryVault
