# SPDX-License-Identifier: Apache-2.0
"""Where sandboxmcp keeps its PIIRedactor."""

from cloister_sandbox.sandboxmcp.pii import PIIRedactor as PIIRedactor
