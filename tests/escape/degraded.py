# SPDX-License-Identifier: Apache-2.0
"""Hosts with fewer features (I9, I10): without a required layer nothing runs; a missing optional layer is reported."""

import contextlib
import shutil

import box as boxes
import mutations

ORDINARY = 54321
ALWAYS = ("mount namespace", "pid namespace", "network namespace", "ipc namespace", "uts namespace", "read-only root", "private /tmp",
          "rlimits", "no capabilities", "no_new_privs", "seccomp")


@contextlib.contextmanager
def host(box, *prefix, user=ORDINARY):
    """Sandboxes on a host that the command has changed; the path of box_run is appended to the command."""
    made = boxes.Box(box.source, box.probe, user=user, prefix=prefix)
    try:
        yield made
    finally:
        made.stop()


def as_inner_root(script):
    """Root of a new user namespace: the only way to change a host's features without changing this host."""
    return "unshare", "-Urm", "sh", "-c", script + '; exec "$0"'


def lacks(made, names):
    end = made.run("import os; print(os.getuid())")
    missing = {m.split(":")[0] for m in end.isolation["missing"]}
    assert names <= missing and not missing & set(ALWAYS), end.isolation
    assert set(ALWAYS) <= set(end.isolation["layers"]), end.isolation
    assert end.isolation["layers"] == made.isolation["layers"], "another box has other layers"
    assert (end.how, end.out) == ("exited", "1000\n"), (end.how, end.out, end.err)


def is_refused(made, words):
    end = made.begin("print(1)").end()
    assert end.error == "isolation_unavailable" and words in end.text, vars(end)
    assert made.isolation["layers"] == [], made.isolation


def test_I9_no_user_namespaces(box):
    """I9: a user who may not create namespaces gets no sandbox; the error names the settings that allow it."""
    with host(box, *as_inner_root("echo 0 > /proc/sys/user/max_user_namespaces")) as made:
        is_refused(made, "user.max_user_namespaces")


def test_I9_root_without_power(box):
    """I9: root without the capabilities for sandboxes or for a uid map gets an error with the alternative."""
    with host(box, "setpriv", "--bounding-set=-all", "--inh-caps=-all", user=None) as made:
        is_refused(made, "start as an ordinary user")


def test_I10_root_without_sys_admin(box):
    """I10: root in a plain container makes sandboxes with a user namespace, and reports that they share a uid."""
    with host(box, "setpriv", "--bounding-set=-sys_admin", "--inh-caps=-all", user=None) as made:
        lacks(made, {"own uid"})


def test_I10_root_of_few_uids(box):
    """I10: root of a user namespace that lacks the uids of boxes does the same."""
    with host(box, *as_inner_root(":")) as made:
        lacks(made, {"own uid"})


def test_I10_masked_proc(box):
    """I10: if the host's /proc is masked, as in a container, a sandbox has no /proc; it never sees the host's."""
    with host(box, *as_inner_root("mount -t tmpfs none /proc/sys")) as made:
        lacks(made, {"own uid", "private /proc"})
        assert made.tries("tell('proc', os.listdir('/proc'))") == {"proc": "[]"}


def test_I10_one_user_namespace_only(box):
    """I10: with one level of user namespaces, sandboxes have no user namespace of their own."""
    with host(box, *as_inner_root("echo 1 > /proc/sys/user/max_user_namespaces")) as made:
        lacks(made, {"own uid", "user namespace"})


def test_I11_groups_that_stay(box):
    """I11: supplementary groups that an ordinary user cannot drop are reported."""
    with host(box, "setpriv", "--reuid=54321", "--regid=54321", "--groups=4,20", user=None) as made:
        lacks(made, {"own uid", "no supplementary groups"})


def test_I10_no_new_privs(box):
    """I10: an executor started with no_new_privs, like a service, makes complete sandboxes."""
    with host(box, "setpriv", "--no-new-privs") as made:
        lacks(made, {"own uid"})


def test_I10_no_watches(box):
    """I10: a builder whose user has used up the epoll watches ends the sandbox that it cannot watch, and nothing else."""
    directory = mutations.made_without(box, "watches")
    made = boxes.Box(directory, box.probe)
    try:
        ends = [made.begin("print(1)").end() for _ in range(40)]
        good = [end for end in ends if getattr(end, "out", "") == "1\n"]
        assert 0 < len(good) < len(ends) and made.process.poll() is None, (len(good), [vars(end) for end in ends[:4]])
        boxes.until(lambda: made.alive() == [])
    finally:
        made.stop()
        shutil.rmtree(directory)


def test_I10_low_hard_limits(box):
    """I10: stricter inherited limits stay, for root and others; only the limit of core files is required."""
    low = "--memlock=65536", "--sigpending=500", "--stack=4194304", "--data=4000000000", "--fsize=1000000000", "--nofile=900"
    for user in None, ORDINARY:
        with host(box, "prlimit", *low, user=user) as made:
            assert made.tries("""
import resource
for name in "MEMLOCK", "SIGPENDING", "STACK", "FSIZE", "CORE": tell(name, resource.getrlimit(getattr(resource, "RLIMIT_" + name)))
""") == {"MEMLOCK": "(65536, 65536)", "SIGPENDING": "(500, 500)", "STACK": "(4194304, 4194304)", "FSIZE": "(1000000000, 1000000000)",
         "CORE": "(1, 1)"}
        with host(box, "prlimit", "--core=0", user=user) as made:
            is_refused(made, "RLIMIT_CORE cannot be set to 1: Operation not permitted; start this daemon with a hard limit at least as high")
