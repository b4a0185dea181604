# SPDX-License-Identifier: Apache-2.0
"""Each layer is necessary (I26, I27): a builder that omits one, and denies it, fails the tests named here.

The builder is tests/cloister-builder-without (without.c); the shipped builder has no such switch.
"""

import os
import shutil
import signal
import tempfile

import box as boxes
import files
import kernel
import posture
import processes
import resources
import session

# The omitted layer, and the tests that must fail; REFUSED: no sandbox is made at all, because the builder reads the layer
# back from the kernel (I9).
REFUSED = "isolation_unavailable"
TABLE = {
    "seccomp": [kernel.test_K00_table_of_calls, kernel.test_N11_every_family, kernel.test_K15_own_filter, kernel.test_K22_handler_of_sigsys],
    "landlock": [session.test_P07_programs_of_one_box],
    "cgroup": [posture.test_I15_cgroup, resources.test_R01_memory, processes.test_P01_fork_bomb],
    "user namespace": [posture.test_I12_namespaces, posture.test_I9_isolation_is_told],
    "private proc": [files.test_F04_proc_shows_own_processes_only, files.test_F03_no_other_root],
    "rlimits": [posture.test_I15_surroundings, resources.test_R10_descriptors],
    # A program that was started by exec has lost them; its pid 1, which makes no exec, has them.
    "descriptors": [posture.test_I13_descriptors],
    "look at locks": [resources.test_R16_locks_of_files],
    "capabilities": REFUSED,
    "seccomp program": REFUSED,
}


def made_without(box, layer):
    """A directory with box_run and that builder."""
    directory = tempfile.mkdtemp(prefix="cloister-escape-")
    os.chmod(directory, 0o755)
    for name in "box_run", "cloister-init", "cloister-csv", "_zygote.so":
        shutil.copy(os.path.join(box.source, name), directory)
    shutil.copy(os.path.join(os.path.dirname(box.probe), "cloister-builder-without"), os.path.join(directory, "cloister-builder"))
    with open(os.path.join(directory, "without"), "w", encoding="ascii") as file:
        file.write(layer)
    return directory


def notices(test, box):
    try:
        test(box)
    except Exception:  # pylint: disable=broad-except
        return True
    return False


def check(box, layer):
    directory = made_without(box, layer)
    changed = boxes.Box(directory, box.probe)
    try:
        if TABLE[layer] is REFUSED:
            end = changed.begin("print(1)").end()
            assert getattr(end, "error", None) == REFUSED, vars(end)
            return
        blind = [test.__name__ for test in TABLE[layer] if not notices(test, changed)]
        assert not blind, f"without {layer} these still pass: {blind}"
    finally:
        changed.stop()
        shutil.rmtree(directory)


def test_without_seccomp(box):
    """I27: seccomp left out is noticed."""
    check(box, "seccomp")


def test_without_landlock(box):
    """I27: landlock left out is noticed."""
    check(box, "landlock")


def test_without_cgroup(box):
    """I27: cgroup left out is noticed."""
    check(box, "cgroup")


def test_without_user_namespace(box):
    """I27: user namespace left out is noticed."""
    check(box, "user namespace")


def test_without_private_proc(box):
    """I27: private proc left out is noticed."""
    check(box, "private proc")


def test_without_rlimits(box):
    """I27: rlimits left out is noticed."""
    check(box, "rlimits")


def test_without_descriptors(box):
    """I27: descriptors left out is noticed."""
    check(box, "descriptors")


def test_without_the_look_at_locks(box):
    """I26: uncounted file locks are noticed."""
    check(box, "look at locks")


def test_without_capabilities(box):
    """I27: capabilities left out is noticed."""
    check(box, "capabilities")


def test_control(box):
    """With nothing omitted, that builder passes all tests; the shipped builder ignores the file."""
    directory = made_without(box, "nothing")
    whole = boxes.Box(directory, box.probe)
    try:
        for tests in TABLE.values():
            for test in tests if tests is not REFUSED else ():
                test(whole)
    finally:
        whole.stop()
        shutil.rmtree(directory)
    with open(os.path.join(box.source, "cloister-builder"), "rb") as file:
        assert b"/without" not in file.read()


def test_without_the_seccomp_program(box):
    """I27: no sandbox is made if the loaded filter program is not the one in force."""
    check(box, "seccomp program")


def test_a_silent_zygote_is_not_waited_for(box):
    """I20: a zygote that hangs is killed, and its waiting program starts from the file; the limit here is a twentieth."""
    directory = made_without(box, "patience")
    hasty = boxes.Box(directory, box.probe)
    try:
        hasty.run("pass", start="warm")
        for pid in hasty.zygotes():
            os.kill(pid, signal.SIGSTOP)
        end = hasty.run("print(1)", start="warm")
        assert (end.out, end.warm) == ("1\n", False), vars(end)
        assert not hasty.zygotes()
    finally:
        hasty.stop()
        shutil.rmtree(directory)


def test_a_silent_zygote_holds_no_box(box):
    """I8, I20: the builder does not wait for it either when its fork has ended; the sandbox ends only after its status is read."""
    directory = made_without(box, "patience")
    hasty = boxes.Box(directory, box.probe)
    try:
        hasty.run("pass", start="warm")
        alive = hasty.begin("import time; time.sleep(1); print(1)", start="warm", wall_ms=60000)
        hasty.inmates()
        for pid in hasty.zygotes():
            os.kill(pid, signal.SIGSTOP)
        end = alive.end()  # when nothing of its box is left
        assert (end.out, end.warm) == ("1\n", True), vars(end)
    finally:
        hasty.stop()
        shutil.rmtree(directory)
