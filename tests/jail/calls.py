#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The system calls in the objects of each daemon, held against the list of its jail.

    calls.py BUILD CONFIG

A call that is not listed kills the daemon, and a test meets it only if it reaches that branch: as another user, after a rare
error.  So this reads the machine code: each function of the daemon and of common/ that calls such a function of libc must be
in outside.txt, whose functions run only before the jail or in a process with another list.
"""

import collections
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import cases  # noqa: E402
import peers  # noqa: E402

# Functions of libc whose system call has another name.  The value is what the list must have.
ALIASES = {
    "creat": "openat", "fopen": "openat", "open": "openat", "opendir": "openat", "fdopendir": "getdents64", "readdir": "getdents64",
    "getgrnam": "openat", "getpwnam": "openat", "getpwuid": "openat", "getaddrinfo": "openat", "glob": "openat",
    "fstatat": "newfstatat", "lstat": "newfstatat", "stat": "newfstatat", "fstatvfs": "fstatfs", "statvfs": "statfs",
    "recv": "recvfrom", "send": "sendto", "eventfd": "eventfd2", "signalfd": "signalfd4", "pipe": "pipe2", "waitpid": "wait4",
    "posix_spawn": "vfork", "getifaddrs": "sendto", "gethostname": "uname", "sleep": "clock_nanosleep", "usleep": "clock_nanosleep",
    "nanosleep": "clock_nanosleep", "raise": "tgkill", "sysconf": "sysinfo", "getline": "read",
}
# The vDSO answers; and socket(2) has its own rules in common/jail/seccomp.c.
NEVER = {"clock_gettime", "gettimeofday", "time", "socket", "syscall"}


def numbers():
    with open("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", encoding="ascii") as table:
        return set(re.findall(r"__NR_(\w+)", table.read()))


def listed(peer):
    """What the list of a daemon has; None: of one with a directory, for common/."""
    common = r"^(?!FILES)" if peer and peer.state == "NO_STATE" else "^"
    calls = set()
    for path, begin in ("common/jail/syscalls.def", common), (f"{peer.directory}/syscalls.def" if peer else "", "^"):
        if os.path.isfile(os.path.join(ROOT, path)):
            with open(os.path.join(ROOT, path), encoding="utf-8") as table:
                calls |= set(re.findall(begin + r"(?:OPTION\(\w+, |[A-Z_]+\()(\w+)", table.read(), re.M))
    return calls


def excused():
    """(object, function) of each row, with its reason."""
    with open(os.path.join(HERE, "outside.txt"), encoding="utf-8") as table:
        rows = [line.split(":", 1) for line in table if line.strip() and not line.startswith("#")]
    assert all(len(row) == 2 and row[1].strip() for row in rows), rows
    return {tuple(names.split()): reason.strip() for names, reason in rows}


def calls_of(path, known):
    """function -> system calls, of one object."""
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    function, found = None, collections.defaultdict(set)
    for line in text.splitlines():
        if begin := re.match(r"^[0-9a-f]+ <([^>]+)>:$", line):
            function = re.sub(r"\.(constprop|isra|part|cold).*", "", begin[1])
        elif target := re.search(r"R_X86_64_PLT32\s+(\w+)[-+]|R_X86_64_GOTPCRELX?\s+(\w+)[-+]", line):
            name = re.sub(r"^__|(_chk|_2)$", "", target[1] or target[2])
            call = ALIASES.get(name, name)
            if call in known and name not in NEVER:
                found[function].add(call)
    return found


def objects(build, directory, target):
    for path in sorted(glob.glob(f"{build}/{directory}/CMakeFiles/{target}.dir/**/*.c.o", recursive=True)):
        yield os.path.join(directory, path.rsplit(".dir/", 1)[1][:-2]), path


def names_of(path, kinds):
    text = subprocess.run(["nm", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    return set(re.findall(rf"^\w+ [{kinds}] (\w+)$", text, re.M))


def parts_of(build):
    """Objects, and what they may call.  The linker takes only some objects of the builder's library into the executor."""
    yield objects(build, "common", "common"), listed(None)
    for peer in peers.PEERS.values():
        for target in peer.name, "cloister-" + peer.name:
            yield objects(build, peer.directory, target), listed(peer)
    linked = names_of(f"{build}/bin/cloister-executor", "T")
    borrowed = [each for each in objects(build, "executor/builder", "builder") if names_of(each[1], "T") & linked]
    yield borrowed, listed(peers.PEERS["executor"])


def unlisted(build):
    """(file, function), calls: what the list of that daemon lacks."""
    known = numbers()
    for files, allowed in parts_of(build):
        files = list(files)
        assert len(allowed) > 40 and files, allowed
        for file, path in files:
            for function, calls in sorted(calls_of(path, known).items()):
                if calls - allowed:
                    yield (file, function), calls - allowed


def test_every_call_is_listed_or_made_outside(build):
    rows, found = excused(), dict(unlisted(build))
    assert len(found) > 20, found
    missing = {where: calls for where, calls in found.items() if where not in rows}
    assert not missing, f"calls that kill a daemon in its jail, unless outside.txt can say why not: {missing}"
    stale = set(rows) - set(found)
    assert not stale, f"rows of outside.txt that excuse nothing: {stale}"


if __name__ == "__main__":
    if sys.argv[2] != "Release":
        print("skipped: sanitizers call more")
        sys.exit(77)
    cases.run(sys.modules[__name__], sys.argv[1])
