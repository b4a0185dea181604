# SPDX-License-Identifier: Apache-2.0
"""invocation.py - the arguments of a program, and its standard input, which becomes a file without a name."""

import os
import sys


def take(kind, payload):
    if kind == b"G":
        sys.argv.append(payload.decode())
        return
    path = f"{os.environ.get('TMPDIR', '/tmp')}/.stdin"
    with open(path, "wb") as file:
        file.write(payload)
    number = os.open(path, os.O_RDONLY)
    os.unlink(path)
    os.dup2(number, 0)
    os.close(number)
