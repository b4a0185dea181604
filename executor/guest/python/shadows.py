# SPDX-License-Identifier: Apache-2.0
"""shadows.py - files of the workspace before modules that were imported ahead of the program; read by driver.py in a zygote."""

import os
import sys


class Shadows:
    """A module that a zygote imported ahead gives way to a file of its name in the workspace, as at a cold start."""

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

    def drop(self, entries):
        self.ahead = set(self.ahead)
        for entry in entries:
            name = entry.split(".", 1)[0]
            if name in self.ahead and (entry == name + ".py" or os.path.exists(os.path.join(entry, "__init__.py"))):
                for other in [m for m in self.ahead if m == name or m.startswith(name + ".")]:
                    self.ahead.discard(other)
                    sys.modules.pop(other, None)
