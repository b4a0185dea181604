# SPDX-License-Identifier: Apache-2.0
"""packages.py - finds packages that were mounted after the interpreter was started; loaded by driver.py then."""

import os
import sys

DIRECTORY = "/usr/local/lib/python{}.{}/dist-packages".format(*sys.version_info)


def place():
    """After the standard library and before the system's packages, where a new interpreter has it."""
    for at, path in enumerate(sys.path):
        if path.endswith(("/dist-packages", "/site-packages")):
            return at
    return len(sys.path)


def used(scope):
    """The libraries whose modules the program has names for: it keeps those."""
    kind = type(sys)
    return {value.__name__.partition(".")[0] for value in list(scope.values()) if isinstance(value, kind)}


def look(shadows, scope):
    if DIRECTORY not in sys.path:
        sys.path.insert(place(), DIRECTORY)
    for path in [path for path in sys.path_importer_cache if path.startswith("/usr/local/")]:
        del sys.path_importer_cache[path]
    names = {entry.partition(".")[0] for entry in os.listdir(DIRECTORY)} if os.path.isdir(DIRECTORY) else set()
    if shadows is None or not names & shadows.ahead:
        return
    # A library that is imported already may hold another one that the packages replace.
    libraries = {name.partition(".")[0] for name in shadows.ahead} - sys.stdlib_module_names
    for name in (libraries | names & shadows.ahead) - used(scope):
        shadows.forget(name)
