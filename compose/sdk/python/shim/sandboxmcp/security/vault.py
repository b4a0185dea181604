# SPDX-License-Identifier: Apache-2.0
"""Where sandboxmcp keeps its vaults."""

from cloister_sandbox.sandboxmcp.vault import EnvVault as EnvVault
from cloister_sandbox.sandboxmcp.vault import InMemoryVault as InMemoryVault
