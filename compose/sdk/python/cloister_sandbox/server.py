# SPDX-License-Identifier: Apache-2.0
"""Which server to use: a URL, or a command that is started; from arguments, else from the environment."""

from __future__ import annotations

import os
import shlex
import shutil
import ssl
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Sequence, Union

from .errors import StartError
from .http import Http
from .stdio import Stdio
from .transport import Transport

# --result-bytes=0: results are whole; a server cuts them to what a chat client shows.
SERVE = ("serve", "--toolsets=core,monitor", "--result-bytes=0")


@dataclass
class Server:
    """command, or url with token and tls.  Without both: CLOISTER_URL with CLOISTER_TOKEN, else CLOISTER_COMMAND, else
    `cloister serve`, which starts the daemons if they do not run.  A command that is one word is a program's path."""

    command: Union[str, Sequence[str], None] = None
    url: Optional[str] = None
    token: Optional[str] = field(default=None, repr=False)
    env: Optional[Dict[str, str]] = None
    tls: Optional[ssl.SSLContext] = None

    def __post_init__(self) -> None:
        if self.command is not None and self.url is not None:
            raise ValueError("command and url exclude each other")
        if self.command is None and self.url is None:
            self.url = os.environ.get("CLOISTER_URL") or None
            self.token = self.token or os.environ.get("CLOISTER_TOKEN") or None
        if self.url is not None:
            self.transport()  # Refuses a wrong URL or token here, not at the first call.

    def transport(self) -> Transport:
        if self.url is not None:
            return Http(self.url, self.token, self.tls)
        return Stdio(self.words(), self.env)

    def words(self) -> List[str]:
        """The command with its arguments."""
        command = self.command if self.command is not None else os.environ.get("CLOISTER_COMMAND") or None
        if command is None:
            program = shutil.which("cloister")
            if program is None:
                raise StartError("no cloister was found: put it into PATH, or pass command=[...] or url=..., or set "
                                 "CLOISTER_COMMAND or CLOISTER_URL")
            return [program, *SERVE]
        words = shlex.split(command) if isinstance(command, str) else list(command)
        if not words:
            raise StartError("the command is empty")
        return [*words, *SERVE] if len(words) == 1 else words
