# SPDX-License-Identifier: Apache-2.0
"""What this server may lack, and what to do instead: one sentence for each."""

from __future__ import annotations

from typing import Dict

from .errors import NotSupported

HOST = "cloister gives programs and clients no access to the host: upload the files that a program needs"
WEB = "cloister has no tools for web pages: a program can fetch from its allowed_domains, or pass the text as a file"

SENTENCES: Dict[str, str] = {
    "SandboxMCPServer": "the server behind a URL serves MCP there: give clients the URL",
    "approve_egress": "this program may not answer for a person, who runs `cloister egress approve`; over HTTP a token with the "
                      "scope approve may",
    "audit_logger": "the server has the log: ask audit_log()",
    "backend": "cloister runs all programs: leave it out, or pass ProcessBackend()",
    "browser_fetch": WEB,
    "create_mcp_server": "cloister is the server: call SandboxMCPServer(sandbox).run()",
    "fetch_webpage": WEB,
    "get_preexec_fn": "the server sets the limits of processes: pass ResourceLimits with a request",
    "get_secrets": "the server gives no value back: programs read it from their environment, and list_keys() has the names",
    "host_exec": HOST,
    "host_file_copy": HOST,
    "host_file_list": HOST,
    "host_file_read": HOST,
    "host_file_write": HOST,
    "install_package": "the server installs packages of Python and Node only: ask the operator to install others, or use those of runtimes()",
    "list_host_access": HOST,
    "queue": "the server has the queue: pass max_concurrent_jobs",
    "request_egress": "this server cannot ask a person: its operator sets egress_domains",
    "request_host_access": HOST,
    "validate_code": "this server cannot check that language: run the program to see its errors",
    "web_search": WEB,
}


def lacking(what: str) -> NotSupported:
    return NotSupported(f"{what}: {SENTENCES.get(what, 'the server has no such tool; tools() returns those that it has')}")
