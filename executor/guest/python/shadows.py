# SPDX-License-Identifier: Apache-2.0
"""shadows.py - lets files of the workspace replace modules that a zygote imported in advance; loaded by driver.py there."""

import os
import sys


class Shadows:
    """Drops a preimported module if the workspace has a file of its name, so that the file is found, as at a cold start."""

    def __init__(self, ahead):
        self.ahead, self.seen = ahead, None

    def look(self):
        try:
            changed = os.stat(".").st_mtime_ns
            if changed != self.seen:
                self.seen = changed
                self.drop(os.listdir("."))
        except OSError:
            pass

    def expect(self, source):
        """Drops modules of the standard library whose files the source names: it may write these before it imports them."""
        parts = source.replace("'", '"').split('.py"')
        names = {part[max(part.rfind('"'), part.rfind("/")) + 1:] for part in parts[:-1]}
        for name in names & self.ahead & sys.stdlib_module_names:
            self.forget(name)

    def forget(self, name):
        for other in [m for m in self.ahead if m == name or m.startswith(name + ".")]:
            self.ahead -= {other}
            sys.modules.pop(other, None)

    def drop(self, entries):
        for entry in entries:
            name = entry.split(".", 1)[0]
            if name in self.ahead and (entry == name + ".py" or os.path.exists(os.path.join(entry, "__init__.py"))):
                self.forget(name)
