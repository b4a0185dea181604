# SPDX-License-Identifier: Apache-2.0
"""Where sandboxmcp keeps its SandboxMCPServer."""

from cloister_sandbox.sandboxmcp.mcp_server import SandboxMCPServer as SandboxMCPServer
from cloister_sandbox.sandboxmcp.mcp_server import create_mcp_server as create_mcp_server
