# SPDX-License-Identifier: Apache-2.0
"""The cost of processes according to the kernel: processor time, memory, descriptors and other resources.

Processes that end during the measurement are skipped.
"""

import glob
import os

TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def read(*path):
    try:
        with open(os.path.join("/proc", *map(str, path)), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def children(pid):
    """All current descendants of a process."""
    found = []
    for task in glob.glob(f"/proc/{pid}/task/*/children"):
        for child in read(task[len("/proc/"):]).split():
            found += [int(child), *children(child)]
    return found


def name(pid):
    return read(pid, "cmdline").replace("\0", " ").strip()


def cpu_ms(pids):
    """Processor time of processes and of the children that they have waited for."""
    total = 0
    for pid in pids:
        fields = read(pid, "stat").rpartition(") ")[2].split()
        total += sum(int(ticks) for ticks in fields[11:15])
    return total * TICK_MS


def page_faults():
    """Page faults of the whole machine since boot: pages written for the first time, copied after a fork, or mapped."""
    with open("/proc/vmstat", encoding="ascii") as counters:
        return next(int(line.split()[1]) for line in counters if line.startswith("pgfault "))


def rss(pid):
    return int((read(pid, "statm").split() or "00")[1]) * PAGE


def pss(pid):
    """Memory, with shared pages divided by the number of processes that share them."""
    return sum(int(line.split()[1]) << 10 for line in read(pid, "smaps_rollup").splitlines() if line.startswith("Pss:"))


def own(pid):
    """Private memory."""
    return sum(int(line.split()[1]) << 10 for line in read(pid, "smaps_rollup").splitlines() if line.startswith("Private_"))


def descriptors(pid):
    try:
        return os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return []


def namespace(pid, kind):
    try:
        return os.readlink(f"/proc/{pid}/ns/{kind}")
    except OSError:
        return None


def network_namespaces(pids):
    """The namespaces that any of the processes is in or has a descriptor of."""
    held = {namespace(pid, "net") for pid in pids}
    for pid in pids:
        for fd in descriptors(pid):
            try:
                held.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
            except OSError:
                pass
    return {one for one in held if one and one.startswith("net:")}


def mounts(pid):
    return len(read(pid, "mountinfo").splitlines())


def cgroups(pid):
    """Directories next to the cgroups of this process, in every hierarchy."""
    total = 0
    for line in read(pid, "cgroup").splitlines():
        _, kinds, path = line.split(":", 2)
        for top in {kinds.replace("name=", ""), *kinds.split(","), "unified" if not kinds else "", "" if not kinds else kinds}:
            directory = os.path.join("/sys/fs/cgroup", top, os.path.dirname(path).strip("/"))
            if os.path.dirname(path) != "/" and os.path.isdir(directory):
                total += sum(1 for entry in os.scandir(directory) if entry.is_dir())
                break
    return total
