# SPDX-License-Identifier: Apache-2.0
"""Writes an initramfs with this machine's programs and libraries, all of them root's.

    image = Image(); image.add("/usr/bin/python3"); image.put("/init", text, 0o755); image.write(path)
"""

import os
import re
import shutil
import stat
import subprocess

LINKS = {"/bin": "usr/bin", "/sbin": "usr/sbin", "/lib": "usr/lib", "/lib64": "usr/lib64"}  # as of a merged /usr
DIRECTORIES = ("/dev", "/proc", "/sys", "/run", "/tmp", "/root", "/home", "/var/lib", "/var/tmp", "/mnt", "/etc", "/usr/sbin", "/usr/local", "/usr/src")
APPLETS = ("mount", "umount", "chroot", "poweroff", "mkdir", "cat", "ls", "ln", "chown", "ip", "dmesg", "ps", "sleep", "rm", "setsid")


def libraries(paths):
    """The shared libraries of programs, with the loader."""
    told = subprocess.run(["ldd", *paths], capture_output=True, text=True, check=False).stdout
    return sorted(set(re.findall(r"^\s+(?:\S+ => )?(/\S+) \(0x", told, re.M)))


class Image:
    """Paths of the image, and what each is."""

    def __init__(self):
        self.entries, self.programs = {}, []
        for path in DIRECTORIES:
            self._parents(path + "/.")
        for path, target in LINKS.items():
            self.link(path, target)
        self.add(shutil.which("busybox") or "/usr/bin/busybox", "/usr/bin/busybox")
        for name in ("sh", *APPLETS):
            self.link("/usr/bin/" + name, "busybox")

    def _parents(self, path):
        while (path := os.path.dirname(path)) != "/":
            self.entries.setdefault(path, (stat.S_IFDIR | 0o755, b""))

    @staticmethod
    def _merged(path):
        top, _, rest = path[1:].partition("/")
        return f"/{LINKS['/' + top]}/{rest}" if "/" + top in LINKS else path

    def put(self, path, content, mode=0o644):
        path = self._merged(path)
        self._parents(path)
        self.entries[path] = (stat.S_IFREG | mode, content.encode() if isinstance(content, str) else content)

    def link(self, path, target):
        self._parents(path)
        self.entries[path] = (stat.S_IFLNK | 0o777, target.encode())

    def add(self, path, name=None):
        """A file; a link is followed."""
        with open(path, "rb") as file:
            content = file.read()
        self.put(name or path, content, 0o755 if os.access(path, os.X_OK) else 0o644)
        if content[:4] == b"\x7fELF":
            self.programs.append(path)

    def add_tree(self, top, left_out=()):
        for directory, names, files in os.walk(top):
            names[:] = [name for name in names if name not in left_out]
            for name in files:
                if os.path.isfile(path := os.path.join(directory, name)):
                    self.add(path)

    def add_libraries(self):
        """What the programs so far are linked with."""
        for path in libraries(self.programs):
            self.add(path)

    def write(self, path):
        """In the form that the kernel unpacks (newc)."""
        with open(path, "wb") as file:
            for number, (name, (mode, content)) in enumerate(sorted(self.entries.items()), 1):
                self._entry(file, name[1:], (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0), content)
            self._entry(file, "dev/console", (0x7ffffffe, stat.S_IFCHR | 0o600, 0, 0, 1, 0, 0, 0, 0, 5, 1), b"")
            self._entry(file, "TRAILER!!!", (0,) * 11, b"")

    @staticmethod
    def _entry(file, name, fields, content):
        head = b"070701" + b"".join(b"%08X" % field for field in (*fields, len(name) + 1, 0)) + name.encode() + b"\0"
        file.write(head + b"\0" * (-len(head) % 4) + content + b"\0" * (-len(content) % 4))
