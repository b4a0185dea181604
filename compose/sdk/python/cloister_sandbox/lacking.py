# SPDX-License-Identifier: Apache-2.0
"""What this server may lack, and what to do instead: one sentence for each."""

from __future__ import annotations

from typing import Dict

from .errors import NotSupported

_HOST = "cloister gives programs and clients no access to the host: upload the files that a program needs"
_WEB = "cloister has no tools for web pages: a program can fetch from its allowed_domains, or pass the text as a file"
_VAULT = "a person stores secrets, with `cloister vault add`; programs name them in env_secrets"

SENTENCES: Dict[str, str] = {
    "InMemoryVault": "secrets are kept by the server, not in this process: a person adds them with `cloister vault`",
    "NetworkGuard": "the server decides what programs reach, and this process cannot: ask its operator",
    "ResourceGuard": "the server enforces limits: pass ResourceLimits with a request, or to SandboxFactory.create()",
    "browser_fetch": _WEB,
    "fetch_webpage": _WEB,
    "host_exec": _HOST,
    "host_file_copy": _HOST,
    "host_file_list": _HOST,
    "host_file_read": _HOST,
    "host_file_write": _HOST,
    "install_package": "the server installs packages of Python and Node only: ask the operator to install others, or use those of runtimes()",
    "list_host_access": _HOST,
    "redact_pii": "this server does not redact output: do so where you show it",
    "request_egress": "a person allows domains with `cloister egress`; programs name them in allowed_domains of the tool execute_code",
    "request_host_access": _HOST,
    "validate_code": "this server cannot check that language: run the program to see its errors",
    "vault": _VAULT,
    "web_search": _WEB,
}


def lacking(what: str) -> NotSupported:
    return NotSupported(f"{what}: {SENTENCES.get(what, 'the server has no such tool; tools() returns those that it has')}")
