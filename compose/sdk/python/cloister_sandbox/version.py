# SPDX-License-Identifier: Apache-2.0
"""The version of this package, which is that of the server; as in pyproject.toml."""

VERSION = "0.2.0"
