# SPDX-License-Identifier: Apache-2.0
"""The interfaces of sandboxmcp that a program may implement."""

from cloister_sandbox.sandboxmcp.absent import name_of
from cloister_sandbox.sandboxmcp.bases import BaseCodeValidator as BaseCodeValidator
from cloister_sandbox.sandboxmcp.bases import BaseVault as BaseVault


def __getattr__(name: str) -> object:
    raise name_of(__name__, name)
