# SPDX-License-Identifier: Apache-2.0
"""Packages, which are mounted from other workspaces: a program reads them and can do nothing else with them (F)."""

import contextlib

USR_LOCAL, USER_BASE = 128, 130  # ORDER_USR_LOCAL, ORDER_USER_BASE
REFUSED = {"EACCES", "EROFS", "EPERM", "EBUSY", "EXDEV"}

MOUNTED = """
import glob
libc = ctypes.CDLL(None, use_errno=True)
def call(function, *words):
    if function(*words): raise OSError(ctypes.get_errno(), "")
"""


def make(box, name, code="open('shown/file', 'w').write(NAME)"):
    """A workspace whose `shown` is to be mounted; beside it is a file that must not be seen."""
    end = box.run(f"NAME = {name!r}\nos.chmod('/workspace', 0o711); open('beside', 'w').write(NAME)\nos.mkdir('shown')\n{code}", workspace=name)
    assert end.exit_code == 0, end.err


@contextlib.contextmanager
def made(box, *names, **more):
    for name in names:
        make(box, name, **more)
    try:
        yield
    finally:
        for name in names:
            box.drop(name)


def test_F23_packages_are_read_only(box):
    """F-23 (I4): no file of a package is written, made, removed, renamed, or given other attributes, also where it is writable for all."""
    with made(box, "a", code="open('shown/file', 'w').write('a'); os.mkdir('shown/lib'); os.chmod('shown/file', 0o777); os.chmod('shown', 0o777); os.chmod('shown/lib', 0o777)"):
        tries = box.tries(MOUNTED + """
for top in "/packages/5", "/usr/local":
    tell("read:" + top, open(top + "/file").read())
    attempt("write:" + top, open, top + "/file", "r+")
    attempt("truncate:" + top, os.truncate, top + "/file", 0)
    attempt("unlink:" + top, os.unlink, top + "/file")
    attempt("create:" + top, open, top + "/new", "x")
    attempt("directory:" + top, os.mkdir, top + "/lib/new")
    attempt("symlink:" + top, os.symlink, "/etc", top + "/lib/new")
    attempt("link:" + top, os.link, top + "/file", top + "/lib/new")
    attempt("link_out:" + top, os.link, top + "/file", "/workspace/new")
    attempt("rename:" + top, os.rename, top + "/file", top + "/new")
    attempt("rename_it:" + top, os.rename, top, top + "x")
    attempt("remove_it:" + top, os.rmdir, top)
    attempt("mode:" + top, os.chmod, top + "/file", 0o600)
    attempt("times:" + top, os.utime, top + "/file")
    attempt("attribute:" + top, os.setxattr, top + "/file", "user.x", b"x")
    attempt("fd:" + top, lambda: os.write(os.open("/proc/self/fd/%d" % os.open(top + "/file", os.O_RDONLY), os.O_WRONLY), b"x"))
attempt("create_beside", open, "/packages/new", "x")
attempt("directory_beside", os.mkdir, "/packages/200")
""", mounts=[["a", 5], ["a", USR_LOCAL]])
        assert tries.pop("read:/packages/5") == tries.pop("read:/usr/local") == "a"
        wrong = {name: got for name, got in tries.items() if got not in REFUSED and not (name.startswith("attribute") and got == "EOPNOTSUPP")}
        assert not wrong and len(tries) == 32, wrong
        assert box.run("print(open('shown/file').read(), os.listdir('shown'))", workspace="a").out in ("a ['file', 'lib']\n", "a ['lib', 'file']\n")


def test_F23_mounts_stay(box):
    """F-23 (I4, I12): a program cannot unmount, move, remount or cover them, or clone them as writable ones."""
    with made(box, "a"):
        tries = box.tries(MOUNTED + """
for path in b"/packages/0", b"/usr/local":
    name = path.decode()
    attempt("unmount:" + name, call, libc.umount2, path, 2)
    attempt("remount:" + name, call, libc.mount, None, path, None, 32, None)
    attempt("remount_bind:" + name, call, libc.mount, None, path, None, 32 | 4096, None)
    attempt("cover:" + name, call, libc.mount, b"/workspace", path, None, 4096, None)
    attempt("move:" + name, call, libc.mount, path, b"/tmp", None, 8192, None)
    attempt("clone:" + name, lambda: call(lambda *w: libc.syscall(*w) < 0, 428, -100, path, 1))
    attempt("attributes:" + name, lambda: call(libc.syscall, 442, -100, path, 0, b"\\0" * 8 + b"\\1" + b"\\0" * 23, 32))
attempt("own_namespace", call, libc.unshare, 0x20000 | 0x10000000)
flags = os.statvfs("/packages/0").f_flag, os.statvfs("/usr/local").f_flag
tell("flags", [bool(f & os.ST_RDONLY and f & os.ST_NOSUID and f & os.ST_NODEV) for f in flags])
tell("still", open("/packages/0/file").read() + open("/usr/local/file").read())
""", mounts=[["a", 0], ["a", USR_LOCAL]])
        assert (tries.pop("flags"), tries.pop("still")) == ("[True, True]", "aa"), tries
        wrong = {name: got for name, got in tries.items() if got not in ("EPERM", "ENOSYS", "ENOENT")}
        assert not wrong and len(tries) == 15, tries


def test_F23_nothing_beside_them(box):
    """F-23 (I1): no way from a package to the rest of its workspace, or to that of another."""
    with made(box, "a", code="open('shown/file', 'w').write('a'); os.symlink('../beside', 'shown/up'); os.symlink('/workspace/beside', 'shown/there')"):
        tries = box.tries(MOUNTED + """
root = os.stat("/packages")
for top in "/packages/7", "/usr/local":
    parent = os.stat(top + "/..")
    tell("parent:" + top, (parent.st_dev, parent.st_ino) == ((root.st_dev, root.st_ino) if "pack" in top else (os.stat("/usr").st_dev, os.stat("/usr").st_ino)))
    fd = os.open(top, os.O_RDONLY)
    attempt("fd:" + top, os.open, "../beside", os.O_RDONLY, dir_fd=fd)
    os.chdir(top)
    attempt("working_directory:" + top, open, "../beside")
    attempt("far:" + top, open, "../../beside")
    for link in "up", "there": attempt(link + ":" + top, open, top + "/" + link)
    attempt("proc:" + top, open, f"/proc/self/fd/{fd}/../beside")
    attempt("handle:" + top, lambda: call(lambda *w: libc.syscall(*w) < 0, 303, fd, b"", ctypes.create_string_buffer(b"\\x80\\0\\0\\0", 136), ctypes.byref(ctypes.c_int()), 0x1000))
tell("own", os.listdir("/workspace"))
tell("in_mountinfo", [line for line in open("/proc/self/mountinfo") if "beside" in line])
""", mounts=[["a", 7], ["a", USR_LOCAL]])
        assert tries.pop("own") == "[]" and tries.pop("in_mountinfo") == "[]"
        assert {name: got for name, got in tries.items() if name.startswith("parent")} == {"parent:/packages/7": "True", "parent:/usr/local": "True"}, tries
        wrong = {name: got for name, got in tries.items() if not name.startswith("parent") and got not in ("ENOENT", "EPERM", "ENOSYS")}
        assert not wrong and len(tries) == 16, tries


def test_F23_other_sessions_have_their_own(box):
    """F-23, I5: two boxes at once, each with a package at the same place, and a third without one."""
    look = "import time\ntime.sleep(1)\nprint([open(p + '/file').read() if os.path.exists(p + '/file') else None for p in ('/packages/0', '/packages/1', '/usr/local')])"
    with made(box, "a", "b"):
        waiting = [box.begin(look, mounts=mounts) for mounts in ([["a", 0], ["a", USR_LOCAL]], [["b", 0], ["b", 1], ["b", USR_LOCAL]], [])]
        assert [one.end().out for one in waiting] == ["['a', None, 'a']\n", "['b', 'b', 'b']\n", "[None, None, None]\n"]


def test_F23_what_is_no_directory_is_not_mounted(box):
    """F-23, F-15 (I1): a link in the place of the directory is not followed; neither it nor a file is mounted."""
    for code in "os.rmdir('shown'); os.symlink('/etc', 'shown')", "os.rmdir('shown'); os.symlink('.', 'shown')", "os.rmdir('shown'); open('shown', 'w').write('x')", \
                "os.rmdir('shown')", "os.rmdir('shown'); os.mkfifo('shown')":
        with made(box, "a", code=code):
            end = box.begin("print(os.listdir('/packages/0'), os.listdir('/usr/local'))", mounts=[["a", 0], ["a", USR_LOCAL]]).end()
            assert getattr(end, "out", "") == "[] []\n", (code, vars(end))


def test_F23_devices_and_bits(box):
    """F-11, F-18: what a package holds beside files and directories is of no use."""
    code = "import stat\nopen('shown/file', 'w').write('#!/bin/sh\\nid -u\\n'); os.chmod('shown/file', 0o4755); os.mkfifo('shown/fifo'); import socket; socket.socket(socket.AF_UNIX).bind('shown/socket')"
    with made(box, "a", code=code):
        tries = box.tries(MOUNTED + """
import socket, subprocess
tell("uid", subprocess.run(["/packages/0/file"], capture_output=True, text=True).stdout.strip() == str(os.getuid()))
attempt("socket", socket.socket(socket.AF_UNIX).connect, "/packages/0/socket")
attempt("fifo", os.open, "/packages/0/fifo", os.O_WRONLY | os.O_NONBLOCK)
""", mounts=[["a", 0]])
        assert tries.pop("uid") == "True", tries
        assert tries["socket"] in ("ECONNREFUSED", "EACCES", "EPERM") and tries["fifo"] in ("ENXIO", "EROFS", "EACCES"), tries


def test_F23_later_statements_of_a_session(box):
    """F-23: a session that gets packages while it lives has the same walls; a later mount covers the earlier one."""
    with made(box, "a", "b"):
        session = {"session": True, "workspace": "s", "start": "warm"}
        assert box.begin("fd = os.open('/packages/0', os.O_RDONLY); print(os.listdir('/packages/0'))", **session).end().out == "[]\n"
        assert box.begin("print(open('/packages/0/file').read())", mounts=[["a", 0]], **session).end().out == "a\n"
        end = box.begin("print(open('/packages/0/file').read(), os.listdir(fd), os.listdir('/packages/0'))\ntry: open('/packages/0/file', 'r+')\nexcept OSError as e: print(e.errno in (13, 30))",
                        mounts=[["b", 0]], **session).end()
        assert end.out == "b [] ['file']\nTrue\n", end.out
        box.drop("s")


def test_F24_what_programs_install_stays_in_their_box(box):
    """F-24 (I1, I4, I5): /user/base is written, has bounds of its own and no devices, and leads nowhere; no other box has it."""
    waiting = box.begin("import time\ntime.sleep(2)\nprint(os.listdir('/user/base'))", mounts=[[None, USER_BASE]])
    tries = box.tries(MOUNTED + """
import subprocess
open("/user/base/file", "w").write("#!/bin/sh\\nid -u\\n"); os.chmod("/user/base/file", 0o4755)
tell("uid", subprocess.run(["/user/base/file"], capture_output=True, text=True).stdout.strip() == str(os.getuid()))
flags = [os.statvfs(path).f_flag for path in ("/user/base", "/user/index")]
tell("flags", [bool(f & os.ST_NOSUID and f & os.ST_NODEV) for f in flags] + [bool(f & os.ST_RDONLY) for f in flags])
os.symlink("/etc/passwd", "/user/base/link"); os.symlink("/user/index", "/user/base/up")
attempt("device", os.mknod, "/user/base/device", 0o20666, os.makedev(1, 3))
attempt("through_link", open, "/user/base/link", "a")
attempt("through_directory", open, "/user/base/up/new", "w")
attempt("beside", open, "/user/new", "w")
attempt("directory_beside", os.mkdir, "/user/new")
attempt("index", open, "/user/index/new", "w")
attempt("link_in", os.link, "/usr/bin/env", "/user/base/env")
attempt("link_out", os.link, "/user/base/file", "/workspace/file")
attempt("rename_out", os.rename, "/user/base/file", "/user/file")
attempt("remove_it", os.rmdir, "/user/base")
attempt("replace_it", os.rename, "/user/base", "/user/other")
attempt("unmount", call, libc.umount2, b"/user/base", 2)
attempt("remount", call, libc.mount, None, b"/user/index", None, 32, None)
attempt("bytes", lambda: open("/user/base/big", "wb").write(bytes(512 << 20)))
""", mounts=[[None, USER_BASE]])
    assert (tries.pop("uid"), tries.pop("flags")) == ("True", "[True, True, False, True]"), tries
    assert tries.pop("bytes") == "ENOSPC" or tries == {}, tries
    wrong = {name: got for name, got in tries.items() if got not in REFUSED}
    assert not wrong and len(tries) == 13, tries
    assert waiting.end().out == "['lib']\n"  # the driver's own
    tries = box.tries(MOUNTED + """
for path in "/user/new", "/user/base/new", "/user/index/new": attempt(path, open, path, "w")
tell("list", os.listdir("/user/base"))
""")
    assert tries.pop("list") == "[]" and set(tries.values()) <= REFUSED, tries
