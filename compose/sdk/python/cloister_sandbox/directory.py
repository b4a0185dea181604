# SPDX-License-Identifier: Apache-2.0
"""Local directories that are uploaded or downloaded: bounded, and without following symbolic links in them.

Names that come from the server are not trusted: nothing is written outside of the chosen directory.
"""

from __future__ import annotations

import os
import stat
from typing import List, Tuple

from .errors import ProtocolError

# Absent on Windows, where there is nothing to replace them.
FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

# In a part of a name.
BARRED = {"\0", os.sep, os.altsep or os.sep}


def check(files: int, size: int, max_files: int, max_bytes: int) -> None:
    if files > max_files:
        raise ValueError(f"the directory has more than {max_files} files (max_files)")
    if size > max_bytes:
        raise ValueError(f"the directory has more than {max_bytes} bytes (max_bytes)")


def files_under(top: str, max_files: int, max_bytes: int) -> List[Tuple[str, str]]:
    """Path and name, relative to `top` with "/", of each regular file.  Raises ValueError if it has too many."""
    found, size = [], 0  # type: List[Tuple[str, str]], int
    for directory, below, names in os.walk(top, onerror=_fail):
        below.sort()
        for name in sorted(names):
            path = os.path.join(directory, name)
            about = os.lstat(path)
            if stat.S_ISREG(about.st_mode):
                found.append((path, _sendable(os.path.relpath(path, top).replace(os.sep, "/"))))
                size += about.st_size
                check(len(found), size, max_files, max_bytes)
    return found


def _fail(error: OSError) -> None:
    raise error


def _sendable(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"a name that is not UTF-8 cannot be sent: {name!r}") from error
    return name


def read(path: str, most: int) -> bytes:
    """Raises ValueError if it has grown over `most` bytes, or is no regular file any more."""
    with os.fdopen(os.open(path, os.O_RDONLY | FLAGS), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"{path} is no regular file any more")
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"{path} has grown over the limit (max_bytes)")
    return content


def write(top: str, name: str, content: bytes) -> None:
    """Writes top/name, and makes the directories that it needs."""
    parts = name.split("/")
    if os.path.splitdrive(name)[0] or any(part in ("", ".", "..") or set(part) & BARRED for part in parts):
        raise ProtocolError(f"the server sent {name[:200]!r} as the name of a file of a workspace")
    os.makedirs(_directory(top, parts[:-1]), exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | FLAGS
    with os.fdopen(os.open(os.path.join(top, *parts), flags, 0o666), "wb") as file:
        file.write(content)


def _directory(top: str, parts: List[str]) -> str:
    path = top
    for part in parts:
        path = os.path.join(path, part)
        if os.path.islink(path):
            raise ValueError(f"{path} is a symbolic link, which is not followed")
    return path
