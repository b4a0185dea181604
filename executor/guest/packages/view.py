# SPDX-License-Identifier: Apache-2.0
"""view.py NUMBER... - makes /workspace/shown a tree of links to /packages/NUMBER, one name after the other: what programs see
at /usr/local. A directory that only one package has is one link; one that several have is made here, and has links."""

import os
import sys

ROOT, SYSTEM = "/workspace/shown", "/usr/lib/python3/dist-packages"
LIBRARY = "lib/python{}.{}/dist-packages".format(*sys.version_info)
covered = []  # packages for which covers_system() was true
OWN = {"", "bin", "lib", os.path.dirname(LIBRARY), LIBRARY}  # directories here, whoever has them


def collides(name):
    print(f"two of these packages have a file {name}", file=sys.stderr)
    os._exit(4)


def covers_system(name):
    """A regular package of the system would win over a namespace package of that name, although it comes later."""
    return os.path.dirname(name) == LIBRARY and os.path.exists(f"{SYSTEM}/{os.path.basename(name)}/__init__.py")


def link(name, sources):
    """Makes that name of the tree from the packages that have it."""
    directories = [source for source in sources if os.path.isdir(f"{source}/{name}")]
    regular = any(os.path.exists(f"{source}/{name}/__init__.py") for source in directories)
    lacking = bool(directories) and not regular and covers_system(name)
    if len(sources) == 1 and name not in OWN and not lacking:
        os.symlink(f"{sources[0]}/{name}", f"{ROOT}/{name}")
        return
    if len(directories) < len(sources):
        collides(name)
    os.mkdir(f"{ROOT}/{name}")
    merge(name, directories)
    if lacking:
        open(f"{ROOT}/{name}/__init__.py", "x").close()
        covered.append(os.path.basename(name))


def import_first(names):
    """A .pth of the system may make its package at the start of an interpreter; that of /usr/local is read before it."""
    with open(f"{ROOT}/{LIBRARY}/before_the_system.pth", "x") as file:
        file.writelines(f"import {name}\n" for name in names if name.isidentifier())


def merge(name, sources):
    parts = {}
    for source in sources:
        for part in os.listdir(f"{source}/{name}"):
            parts.setdefault(part, []).append(source)
    for part in sorted(parts, key=lambda part: (part == "__pycache__", part)):  # so that a collision names the source
        link(f"{name}/{part}".lstrip("/"), parts[part])


os.umask(0o022)
os.chmod("/workspace", 0o711)
os.mkdir(ROOT)
merge("", [f"/packages/{number}" for number in sys.argv[1:]])
if covered:
    import_first(covered)
