# SPDX-License-Identifier: Apache-2.0
"""Hashes of files, and signatures with a key that two parties share."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Dict, List, Union

from .models import Artifact


def _signature(data: bytes, key: Union[str, bytes]) -> str:
    return hmac.new(key.encode() if isinstance(key, str) else key, data, hashlib.sha256).hexdigest()


class ArtifactSigner:
    @staticmethod
    def sign(name: str, data: bytes) -> Artifact:
        """With its SHA-256 only, as in sandboxmcp: that detects changes, and proves no origin."""
        return Artifact.from_bytes(name, data)

    @staticmethod
    def verify(artifact: Artifact, expected_hash: str) -> bool:
        return artifact.verify(expected_hash)

    @staticmethod
    def hash_content(content: str) -> str:
        return hashlib.sha256(content.encode()).hexdigest()

    @staticmethod
    def sign_result_artifacts(artifacts: List[Artifact]) -> Dict[str, str]:
        """SHA-256 by name."""
        return {artifact.name: artifact.sha256 for artifact in artifacts}

    @staticmethod
    def sign_hmac(name: str, data: bytes, key: Union[str, bytes]) -> Artifact:
        artifact = Artifact.from_bytes(name, data)
        artifact.signature = _signature(data, key)
        return artifact

    @staticmethod
    def verify_hmac(artifact: Artifact, key: Union[str, bytes]) -> bool:
        """In constant time; False without a signature."""
        expected = _signature(base64.b64decode(artifact.content_b64), key)
        return hmac.compare_digest(artifact.signature.encode(), expected.encode())
