# SPDX-License-Identifier: Apache-2.0
"""lent.py - secrets as variables of the environment, for one run."""

import os


def lend(lent, payload):
    """lent: by name, what the environment had before, or None."""
    name, value = payload.split(b"\n", 1)
    lent.setdefault(name, os.environb.get(name))
    os.environb[name] = value


def done(lent, status):
    """Restores the environment after a statement, whatever the program did to it. Returns the payload of DONE."""
    for name, before in list(lent.items()):
        try:
            if before is None:
                os.environb.pop(name, None)
            else:
                os.environb[name] = before
        except BaseException:
            pass
    lent.clear()
    return str(status).encode()
