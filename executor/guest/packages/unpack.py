# SPDX-License-Identifier: Apache-2.0
"""unpack.py WHEEL - unpacks /packages/0/WHEEL into /workspace/shown, as below /usr/local. Runs in a box that has nothing but
this wheel and no network, so that a hostile one can harm only what carries its own hash."""

import compileall
import os
import py_compile
import re
import stat
import sys
import zipfile

ROOT = "/workspace/shown"


def check(archive):
    """The library would follow these names, and make a file of a link's target."""
    for entry in archive.infolist():
        parts = entry.filename.removesuffix("/").split("/")
        if {"", ".", ".."} & set(parts) or stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            sys.exit(f"{entry.filename!r} in this wheel is no file below its directory")


def unpack(wheel):
    sys.path.append("/usr/lib/python3/dist-packages")  # of an interpreter that is not the system's
    try:
        from installer import install
        from installer.destinations import SchemeDictionaryDestination
        from installer.sources import WheelFile
    except ImportError:
        sys.exit("installer is not installed on this server: its operator needs Debian's package python3-installer")

    library = "{}/lib/python{}.{}/dist-packages".format(ROOT, *sys.version_info)
    scheme = {"purelib": library, "platlib": library, "scripts": ROOT + "/bin", "data": ROOT, "headers": ROOT + "/include"}
    with zipfile.ZipFile("/packages/0/" + wheel) as archive:
        check(archive)
    with WheelFile.open("/packages/0/" + wheel) as source:
        install(source=source, destination=SchemeDictionaryDestination(scheme, sys.executable, "posix"),
                additional_metadata={"INSTALLER": b"cloister\n"})


def name_any_python():
    """Commands run by the Python that is first in PATH, that of the environment: packages are shared by environments."""
    own = f"#!{sys.executable}\n".encode()
    for name in os.listdir(ROOT + "/bin"):
        with open(f"{ROOT}/bin/{name}", "r+b") as script:
            text = script.read()
            if text.startswith(own):
                script.seek(0)
                script.write(b"#!/usr/bin/env python3\n" + text[len(own):])
                script.truncate()


def compile_all():
    """Boxes write no bytecode into packages; without it each import of pandas would take a second."""
    compileall.compile_dir(ROOT + "/lib", quiet=2, rx=re.compile("/tests?/"), stripdir=ROOT, prependdir="/usr/local",
                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)


os.umask(0o022)
os.chmod("/workspace", 0o711)
os.mkdir(ROOT)
unpack(sys.argv[1])
if os.path.isdir(ROOT + "/bin"):
    name_any_python()
if os.path.isdir(ROOT + "/lib"):
    compile_all()
