# SPDX-License-Identifier: Apache-2.0
"""The signer of sandboxmcp."""

from cloister_sandbox.sandboxmcp.signer import ArtifactSigner as ArtifactSigner
