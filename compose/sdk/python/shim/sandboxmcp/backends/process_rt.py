# SPDX-License-Identifier: Apache-2.0
"""Where sandboxmcp keeps its ProcessBackend."""

from cloister_sandbox.sandboxmcp.backend import ProcessBackend as ProcessBackend
