# SPDX-License-Identifier: Apache-2.0
"""The attempts of a sandbox, made in containers: every row of attempts.txt from every runtime, every call of probe.c, and
the tests of sandboxes except those on how a sandbox is built.

attempts_oci.txt names the rows with another result, and why.
"""

import importlib
import inspect
import os
import re

import attempts
import box as boxes
import kernel
import oci

HERE = os.path.dirname(os.path.abspath(__file__))
# Debian's gVisor refuses a flag of statx() that ls has: it lists nothing at all, which would prove nothing.
UNABLE = {("runsc", "shell"): {"list"}}
# Calls that gVisor's own kernel carries out: on namespaces, filters and attributes that the host's never hears of.
GVISORS_OWN = {"socket_netlink", "unshare_user", "unshare_mount", "unshare_time", "clone_NEWNS", "clone_NEWUSER", "clone_NEWCGROUP", "clone_PARENT",
               "clone_high_NEWUSER", "prctl_ptracer", "prlimit_core", "seccomp_allow", "sync", "int80_getpid", "int80_socketcall", "clone_FILES", "clone_PTRACE",
               # It does nothing for these and says that it did.
               "attach_filter", "mmap_huge", "mmap_huge_1g", "madvise_mergeable", "madvise_unmergeable", "madvise_hwpoison",
               "madvise_soft_offline", "membarrier_global", "membarrier_global_expedited", "membarrier_register_global"}
# gVisor makes up the directory that this lies in with cgroup 2, and none of those that it lies in with version 1.
OF_VERSION_2 = "F-10.cgroup.procs", "/sys/fs/cgroup/cgroup.procs"
# Test modules of sandboxes, by kind; they accept a Contained too.
SAME = "kernel", "files", "processes", "resources", "state", "sane"
# Tests on how a sandbox is built or counted, and the test that shows the same for containers.
OTHER = {
    "test_K00_table_of_calls": "test_calls, of each runtime", "test_K00_control": "it needs no container",
    "test_K19_pipes_do_not_write_files": "a file of another user is opened there", "test_F02_host_is_absent": "their /dev is made by the runtime",
    "test_F11_terminals": "their devpts is made by the runtime; sane has a terminal",
    "test_F02_root_is_what_it_should_be": "their /dev is made by the runtime", "test_F03_no_other_root": "answers of chroot differ",
    "test_F04_proc_shows_own_processes_only": "rows F-04",
    "test_F04_proc_has_nothing_of_the_machine": "crun and runc show no such files, gVisor its own", "test_F09_nothing_else_is_writable": "test_root_is_read_only",
    "test_F14_links_out": "rows F-14, F-15", "test_P01_fork_bomb": "test_processes_end_at_their_limit: the runtime's processes count",
    "test_P01_thread_bomb": "test_processes_end_at_their_limit", "test_P07_no_tracing": "its own child's memory opens",
    "test_P08_init_cannot_be_killed": "their init passes an interrupt on to the program, which so interrupts itself",
    "test_P14_ends_are_told_exactly": "an init stands between, and tells 128 and the signal", "test_P15_zombies": "the runtime's processes count",
    "test_R01_memory": "test_memory_ends_at_its_limit: the runtime's memory counts", "test_R05_processor": "its first process is found otherwise",
    "test_R16_memory_that_swings": "its first process is found otherwise",
    "test_X06_uids_are_not_reused_at_once": "its first process is found otherwise", "test_I5_side_by_side": "its init is seen, as pid 1",
}


def exceptions(container):
    with open(os.path.join(HERE, "attempts_oci.txt"), encoding="ascii") as file:
        rows = [re.split(r"\s{2,}", line.strip(), maxsplit=3) for line in file if line.strip() and line[0] != "#"]
    assert all(len(row) == 4 for row in rows), rows
    return {name: set(answers.split(",")) for containers, name, answers, _ in rows if container in containers.split(",")}


def able(container, runtime, action):
    language = "c" if runtime == "static C" else attempts.RUNTIMES[runtime][0]
    return attempts.able(runtime, action) and action not in UNABLE.get((container, language), ())


def check(contained, runtime, otherwise):
    """Returns the wrong results; removes from `otherwise` the exceptions that were needed."""
    with attempts.host("/workspace") as things:
        got = attempts.run(contained, runtime, things)
        assert os.path.exists(f"/proc/{things['sleeper']}"), "the stranger was killed"
    wrong = {}
    for name, action, _, expected in attempts.table():
        if not able(contained.runtime, runtime, action) or got.get(name) in attempts.OWN.get((runtime, name), expected):
            continue
        if got.get(name) in exceptions(contained.runtime).get(name, ()):
            otherwise.discard(name)
        else:
            wrong[name] = (got.get(name), expected)
    return wrong


def test_attempts(box):
    """Every row of attempts.txt from every runtime in each container, with no unnecessary exception."""
    for contained in oci.each(box):
        unused = set(exceptions(contained.runtime))
        assert unused <= {row[0] for row in attempts.table()}
        wrong = {runtime: found for runtime in attempts.RUNTIMES if (found := check(contained, runtime, unused))}
        assert not wrong, f"{contained.runtime}: (got, expected): {wrong}"
        if not os.path.exists(OF_VERSION_2[1]):
            unused.discard(OF_VERSION_2[0])
        assert not unused, f"{contained.runtime} answers these as a box does: {unused}"


def test_attempts_control(box):
    """I26: outside, as root, the same rows have other results."""
    attempts.test_control(box)


def test_calls(box):
    """K-01..K-18: each call of probe.c has the result of a sandbox, or is handled by gVisor itself."""
    for contained in oci.each(box):
        contained.put(contained.probe, "calls")
        got = kernel.verdicts(contained.run("os.execv('./probe', ['probe'])", workspace="calls", wall_ms=60000).out)
        contained.drop("calls")
        assert len(got) > 330, f"only {len(got)} calls were tried"
        if contained.runtime == "runsc":
            wrong = {name for name, answer in got.items() if answer == "done" and not name.startswith("let_")} - GVISORS_OWN
        else:
            wrong = kernel.wrong(got)
        assert not wrong, f"{contained.runtime}: (got, expected): {wrong}"


def of_boxes():
    """(name, test): the tests of SAME that apply to containers too."""
    tests = [test for kind in SAME for test in inspect.getmembers(importlib.import_module(kind), inspect.isfunction) if test[0].startswith("test_")]
    assert set(OTHER) <= {name for name, _ in tests}, set(OTHER) - {name for name, _ in tests}
    return [test for test in tests if test[0] not in OTHER]


def test_of_boxes(box):
    """The boxes' tests in a container of the first runtime that shares this kernel; crun and runc get the same configuration."""
    contained = next((c for c in oci.each(box) if c.runtime != "runsc"), None)
    if contained is None:
        raise oci.cases.Skip("there is no runtime but gVisor's")
    failed = {}
    for name, test in of_boxes():
        try:
            test(contained)
        except Exception as error:  # pylint: disable=broad-except
            failed[name] = f"{type(error).__name__}: {error}"[:1000]
        boxes.until(lambda: not contained.alive())
    assert not failed, failed
