# SPDX-License-Identifier: Apache-2.0
"""Where sandboxmcp keeps its NetworkGuard."""

from cloister_sandbox.sandboxmcp.egress import NetworkGuard as NetworkGuard
