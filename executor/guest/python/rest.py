# SPDX-License-Identifier: Apache-2.0
"""rest.py - what an interpreter does that was started from its file and waits for a program, as those of images do.

A fork of a zygote finds all this done.
"""

import sys

REHEARSAL = b"import sys, os\nprint(1)\nname = [str(n) for n in range(2)]\nname\n"
TIMES = 2


def calm(number, milliseconds):
    """Does nothing arrive for so long? Programs must not find the module."""
    import select
    poll = select.poll()
    poll.register(number, select.POLLIN)
    quiet = not poll.poll(milliseconds)
    del sys.modules["select"]
    return quiet


def rehearse(driver, milliseconds):
    """Runs in advance what each program runs, unless one is there already."""
    if not calm(driver.control.number, milliseconds):
        return
    for _ in range(TIMES):
        driver.rehearse(REHEARSAL)
    driver.control.send(b"I", b"")
