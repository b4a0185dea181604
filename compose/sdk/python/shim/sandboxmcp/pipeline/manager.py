# SPDX-License-Identifier: Apache-2.0
"""The pipeline of sandboxmcp."""

from cloister_sandbox.sandboxmcp.pipeline import SandboxPipeline as SandboxPipeline
