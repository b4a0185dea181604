#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Boots an emulated machine with Debian's kernel and cgroup 2, and runs checks.py in it.

    run.py BUILD [PLACE...]

PLACE is a name in places.py; none: all.  Its last line is that of checks.py: N passed, N failed, N skipped.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
QEMU = "qemu-system-x86_64"
PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"
BOOT_S = 480
MEMORY_MB = 2048
# No device but a serial line.  -cpu max: with what the kernel's bpf compiler and glibc can use.
MACHINE = [QEMU, "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", str(MEMORY_MB), "-nic", "none", "-nodefaults",
           "-display", "none", "-no-reboot", "-serial", "stdio"]
COMMAND_LINE = "console=ttyS0 quiet panic=-1 mitigations=off"

from image import Image  # noqa: E402


def skip(why):
    print("skipped:", why)
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(77)


def users():
    """/etc/passwd and /etc/group with the daemons' users, and an ordinary one."""
    rows = subprocess.run([os.path.join(ROOT, "compose", "sysusers")], capture_output=True, text=True, check=True).stdout
    passwd, groups, members = {"root": 0, "nobody": 65534, "user": 1000}, {"root": 0, "nogroup": 65534, "user": 1000}, {}
    for number, line in enumerate(rows.splitlines(), 100):
        kind, name, more = line.split()[:3]
        if kind == "u":
            passwd[name] = groups[name] = number
        elif kind == "g":
            groups[name] = number
        else:
            members.setdefault(more, []).append(name)
    return ("".join(f"{name}:x:{uid}:{groups.get(name, 65534)}::{'/root' if uid == 0 else '/home/' + name}:/bin/sh\n" for name, uid in passwd.items()),
            "".join(f"{name}:x:{gid}:{','.join(members.get(name, []))}\n" for name, gid in groups.items()))


def make_image(build, path, only):
    image = Image()
    for name in os.listdir(programs := os.path.join(build, "bin")):
        if name.startswith(("cloister", "_zygote", "box_run")):
            image.add(os.path.join(programs, name), "/machine/bin/" + name)
    for name in "/usr/bin/" + PYTHON, "/usr/bin/bash", "/etc/nsswitch.conf", "/etc/ld.so.cache", "/etc/ssl/certs/ca-certificates.crt":
        image.add(name)
    image.link("/usr/bin/python3", PYTHON)
    image.add_tree("/usr/lib/" + PYTHON, ("test", "idlelib", "lib2to3", "tkinter", "turtledemo", "ensurepip", "distutils", "pydoc_data", "dist-packages"))
    for name in "/usr/lib/locale/C.utf8", "/usr/lib/file", "/usr/share/misc":
        image.add_tree(name)
    image.add_libraries()
    passwd, groups = users()
    for name, text in ("/etc/passwd", passwd), ("/etc/group", groups), ("/etc/hosts", "127.0.0.1 localhost\n"):
        image.put(name, text)
    for part in "machine", "support", "escape":
        for name in os.listdir(os.path.join(ROOT, "tests", part)):
            if name.endswith(".py"):
                image.add(os.path.join(ROOT, "tests", part, name), f"/machine/tests/{part}/{name}")
    with open(os.path.join(HERE, "init"), encoding="utf-8") as file:
        image.put("/init", file.read(), 0o755)
    image.put("/checks", f"exec /usr/bin/python3 -B /machine/tests/machine/checks.py /machine/bin {shlex.join(only)}\n")
    image.write(path)


def boot(kernel, image):
    """Its output by the serial line, as it comes; the status that init reports, or None."""
    command = [*MACHINE, "-kernel", kernel, "-initrd", image, "-append", COMMAND_LINE]
    status, totals = None, None
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as child:
        watch = threading.Timer(BOOT_S, child.kill)
        watch.start()
        for line in child.stdout:
            line = line.rstrip("\r\n")
            if found := re.fullmatch(r"machine: ended with (\d+)", line):
                status = int(found[1])
            elif re.fullmatch(r"\d+ passed, \d+ failed, \d+ skipped", line):
                totals = line
            else:
                print(line, flush=True)
        watch.cancel()
    return status, totals


def main():
    build = os.path.abspath(sys.argv[1])
    directory = os.path.join(build, "machine")
    os.makedirs(directory, exist_ok=True)
    for program in QEMU, "busybox":
        if shutil.which(program) is None:
            skip(f"{program} is not installed; compose/install-deps --tests installs it")
    kernel = subprocess.run([os.path.join(HERE, "kernel"), directory], capture_output=True, text=True, check=False)
    if kernel.returncode != 0:
        skip(f"no kernel of Debian's: {kernel.stderr.strip()}")
    image = os.path.join(directory, "initramfs")
    began = time.monotonic()
    make_image(build, image, sys.argv[2:])
    print(f"image of {os.path.getsize(image) >> 20} MB made in {time.monotonic() - began:.1f} s", flush=True)
    status, totals = boot(kernel.stdout.strip(), image)
    os.unlink(image)
    print(f"machine ran for {time.monotonic() - began:.0f} s" + ("" if status is not None else f"; it did not end within {BOOT_S} s"))
    print(totals or "0 passed, 1 failed, 0 skipped")
    sys.exit(0 if status == 0 and totals else 1)


main()
