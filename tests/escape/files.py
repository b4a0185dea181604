# SPDX-License-Identifier: Apache-2.0
"""The files that a program can see and reach (F): its root and its workspace, and nothing of the host."""

import ast
import glob
import os
import re
import time

import box as boxes

REFUSED = {"EACCES", "EROFS"}  # Landlock or the mount, whichever the kernel asks first


def only(tries, allowed):
    wrong = {name: got for name, got in tries.items() if got not in allowed}
    assert not wrong, wrong


def test_F01_no_canary_is_found(box):
    """F-01 (I1): a canary of the host is not found in any name, file, environment or argument."""
    word = box.canary  # also in the environment that box_run and so the builder were started with
    planted = [f"/root/{word}", f"/tmp/{word}", f"/var/tmp/{word}", f"/etc/{word}"]
    for path in planted:
        with open(path, "w", encoding="ascii") as file:
            file.write(word)
    try:
        out = box.run("""
found = []
for top, directories, names in os.walk("/"):
    directories[:] = [f for f in directories if os.path.join(top, f) != "/usr/share"]
    for name in names + directories:
        if WORD[::-1] in name: found.append(os.path.join(top, name))
    for name in names:
        path = os.path.join(top, name)
        if top.startswith("/usr") or not os.path.isfile(path): continue
        try: data = open(path, "rb").read(1 << 20)
        except OSError: continue
        if WORD[::-1].encode() in data: found.append(path)
found += [name for name, value in os.environ.items() if WORD[::-1] in value]
print("found", found)
""".replace("WORD", repr(word[::-1])), wall_ms=120000).out
    finally:
        for path in planted:
            os.unlink(path)
    assert out == "found []\n", out


def test_F02_host_is_absent(box):
    """F-02 (I1): the host's secrets, home directories, stores and devices do not exist."""
    names = ["/etc/shadow", "/etc/gshadow", "/etc/ssh", "/etc/sudoers", "/etc/machine-id", "/etc/fstab", "/root", "/home", "/var",
             "/boot", "/opt", "/srv", "/media", "/lost+found", "/var/lib", "/run/docker.sock", "/var/run/docker.sock",
             "/run/cloister", "/run/cloister-builder", "/var/lib/cloister", "/dev/vda", "/dev/sda", "/dev/mem", "/dev/kmem", "/dev/kvm",
             "/dev/fuse", "/dev/kmsg", "/dev/port", "/dev/vsock", "/dev/console", "/dev/tty0", "/dev/ttyS0", "/dev/hvc0", "/dev/userfaultfd", "/dev/loop0",
             "/dev/loop-control", "/dev/net/tun", "/old_root", "/.dockerenv"]
    tries = box.tries(f"for name in {names!r}: attempt(name, os.stat, name)")
    assert set(tries) == set(names)
    only(tries, {"ENOENT"})


def test_F02_root_is_what_it_should_be(box):
    """F-02, I14: the root holds these names and no other."""
    tops = {"cloister", "dev", "etc", "mnt", "node_modules", "packages", "proc", "run", "sandbox", "sys", "tmp", "user", "usr", "workspace"}
    tops |= {name for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32") if os.path.lexists("/" + name)}
    tries = box.tries("for d in '/', '/dev', '/etc', '/run', '/sys': tell(d, ' '.join(sorted(os.listdir(d))))")
    assert tries["/run"] == "cpuinfo loadavg meminfo processors stat uptime" and tries["/sys"] == "devices", tries
    assert set(tries["/"].split()) == tops, tries["/"]
    assert tries["/dev"] == "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero", tries["/dev"]
    made = {"gitconfig", "group", "hosts", "ld.so.cache", "nsswitch.conf", "passwd", "resolv.conf", "ssl"}
    bound = {"alternatives", "fonts", "matplotlibrc", "mime.types", "protocols", "services"}
    assert made <= set(tries["/etc"].split()) <= made | bound, tries["/etc"]


def test_F02_the_sites_own_directories_are_empty(box):
    """F-02 (I1): /usr/local and /usr/src, where a site keeps its own programs and configuration, exist but are empty."""
    assert os.listdir("/usr/local"), "there is nothing to be hidden"
    tries = box.tries("""
for d in '/usr/local', '/usr/src': tell(d, os.listdir(d) if os.path.exists(d) else [])
attempt('mkdir', os.mkdir, '/usr/local/x')
attempt('unmount', lambda: ctypes.CDLL(None, use_errno=True).umount2(b'/usr/local', 2) and os.listdir('/usr/local/bin'))
""")
    assert tries == {"/usr/local": "[]", "/usr/src": "[]", "mkdir": "EROFS", "unmount": "ENOENT"}, tries


def test_F02_they_are_shown_where_a_setting_wants_them(box):
    """F-02: an operator may show /usr/local, or name a program in it."""
    for arguments in ("show", "/usr/local", "--"), ("runtime", "x", ".x", "/usr/local/bin/x", "--"):
        other = boxes.Box(box.source, box.probe, user=box.user, arguments=arguments)
        seen = other.tries("for d in '/usr/local', '/usr/src': tell(d, bool(os.path.exists(d) and os.listdir(d)))")
        other.stop()
        assert seen == {"/usr/local": "True", "/usr/src": "False"}, (arguments, seen)


def test_F03_no_other_root(box):
    """F-03: every path upwards leads to the sandbox's own root."""
    tries = box.tries("""
root = os.stat("/")
for path in "/..", "/../../..", "/proc/self/root", "/proc/self/root/..", "/proc/self/cwd/..", "/proc/thread-self/root":
    st = os.stat(path)
    tell(path, (st.st_dev, st.st_ino) == (root.st_dev, root.st_ino))
attempt("init_root", os.stat, "/proc/1/root")
os.chdir("/workspace")
for _ in range(100): os.chdir("..")
tell("up", os.getcwd())
attempt("chroot", os.chroot, "/workspace")
""")
    assert tries.pop("init_root") == "ENOENT" and tries.pop("up") == "/" and tries.pop("chroot") == "EPERM", tries
    only(tries, {"True"})


def test_F04_proc_shows_own_processes_only(box):
    """F-04 (I1, I14): /proc shows the sandbox's own processes without its pid 1, and no kernel files."""
    tries = box.tries("""
names = os.listdir("/proc")
tell("others", sorted(n for n in names if not n.isdigit() and n not in ("self", "thread-self")))
tell("pids", sorted(n for n in names if n.isdigit()) == [str(os.getpid())])
for name in "sys", "kcore", "kallsyms", "keys", "sysrq-trigger", "timer_list", "kmsg", "mounts/x", "version", "interrupts", "net/unix", \
            "1/environ", "1/mem", "1/fd", "1/maps", "1/cmdline", "1/cwd", "1/exe", "sys/kernel/core_pattern", "locks", "cmdline":
    attempt(name, open, "/proc/" + name)
for name in "mem", "oom_score_adj", "coredump_filter", "comm", "attr/current", "uid_map", "setgroups", "loginuid", "clear_refs":
    attempt("self/" + name, open, "/proc/self/" + name, "r+")
""")
    assert tries.pop("others") == "[]" and tries.pop("pids") == "True", tries
    only({n: got for n, got in tries.items() if not n.startswith("self/")}, {"ENOENT", "ENOTDIR"})
    only({n: got for n, got in tries.items() if n.startswith("self/")}, REFUSED | {"ENOENT"})


def test_F04_proc_has_nothing_of_the_machine(box):
    """F-04, X-05: of what the host's /proc tells of the machine there are five files, which say nothing that the host's say."""
    names = [name for name in os.listdir("/proc") if not name.isdigit() and name not in ("self", "thread-self")]
    own = {"meminfo", "stat", "cpuinfo", "uptime", "loadavg"}
    tries = box.tries(f"""
for name in {names!r}: attempt(name, os.lstat, "/proc/" + name)
tell("text", [open("/proc/" + name).read() for name in ("loadavg", "stat", "meminfo", "uptime")])
attempt("chmod", os.chmod, "/proc/meminfo", 0o777)
attempt("replace", os.replace, "/proc/meminfo", "/proc/stat")
attempt("unmount", lambda: ctypes.CDLL(None, use_errno=True).umount2(b"/proc/meminfo", 2) and os.listdir("/usr/local/bin"))
""")
    load, stat, memory, uptime = ast.literal_eval(tries.pop("text"))
    assert (tries.pop("chmod"), tries.pop("unmount")) == ("EROFS", "ENOENT") and tries.pop("replace") in ("EBUSY", "EROFS", "EXDEV"), tries
    only({n: got for n, got in tries.items() if n not in own}, {"ENOENT"})
    only({n: got for n, got in tries.items() if n in own}, {"done"})
    assert load == "0.00 0.00 0.00 1/1 1\n" and re.match(r"cpu  0 0 0 [0-9]+ 0 0 0 0 0 0\ncpu0 0 0 0 [0-9]+ 0 0 0 0 0 0\n", stat), (load, stat)
    assert memory.startswith("MemTotal: 262144 kB\nMemFree: 253952 kB\n"), memory
    assert abs(float(uptime.split()[0]) - time.clock_gettime(time.CLOCK_BOOTTIME)) < 60, uptime  # a program has that clock


def test_F05_interpreter_cannot_be_replaced(box):
    """F-05 (I4): the running program's file cannot be written, renamed, removed or linked over."""
    tries = box.tries("""
for name in "/proc/self/exe", sys.executable, "/usr/lib/python3.11/os.py", "/cloister/python/driver.py":
    attempt("write:" + name, open, name, "r+b")
attempt("unlink", os.unlink, sys.executable)
attempt("rename", os.rename, "/cloister/python/driver.py", "/cloister/python/x")
attempt("link", os.link, "/usr/bin/env", "/workspace/env")
attempt("chmod", os.chmod, "/usr/bin/env", 0o777)
attempt("utime", os.utime, "/usr/bin/env")
""")
    assert tries.pop("link") in ("EXDEV", "EPERM", "EACCES"), tries
    # A file that is missing in another version of Python would prove nothing; none of these may be missing.
    only(tries, REFUSED | {"EPERM"})


def test_F06_descriptors(box):
    """F-06, P-09, N-07 (I13): descriptors 0 to 3 and no other; none of them leads out."""
    tries = box.tries("""
import stat
for fd in range(1024):
    try: mode = os.fstat(fd).st_mode
    except OSError: continue
    kind = [n for n in ("REG", "DIR", "CHR", "FIFO", "SOCK") if getattr(stat, "S_IS" + n)(mode)][0]
    tell(fd, kind)
    attempt(f"beneath{fd}", os.open, "../../etc", os.O_RDONLY, dir_fd=fd)
""")
    kinds = {name: got for name, got in tries.items() if name.isdigit()}
    assert kinds == {"0": "CHR", "1": "FIFO", "2": "FIFO", "3": "SOCK"}, kinds
    only({n: got for n, got in tries.items() if n.startswith("beneath")}, {"ENOTDIR"})


def test_F09_nothing_else_is_writable(box):
    """F-09 (I4, I14): of all directories, only /tmp and the workspace are writable."""
    tries = box.tries("""
import stat
for top, directories, _ in os.walk("/"):
    if top.startswith(("/usr/share/", "/usr/lib/", "/usr/src", "/proc/")): directories[:] = []
    try: os.close(os.open(os.path.join(top, "cloister-escape"), os.O_CREAT | os.O_WRONLY)); tell(top, "done")
    except OSError as error: tell(top, errno.errorcode[error.errno])
""", wall_ms=120000)
    assert {name for name, got in tries.items() if got == "done"} == {"/tmp", "/workspace"}, tries
    only({n: got for n, got in tries.items() if got != "done"}, REFUSED | {"ENOENT"})
    assert not glob.glob("/usr/**/cloister-escape") and not os.path.exists("/cloister-escape")


def test_F10_no_cgroup_to_reach(box):
    """F-10 (I6): no cgroup file system, no release_agent; its own group appears as the root."""
    tries = box.tries("""
tell("groups", sorted({line.rstrip().split(":")[2] for line in open("/proc/self/cgroup")}))
tell("mounts", [l for l in open("/proc/self/mountinfo") if " - cgroup" in l or " - sysfs" in l])
for name in "/sys/fs/cgroup", "/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/memory/release_agent": attempt(name, os.stat, name)
""")
    assert tries.pop("groups") == "['/']" and tries.pop("mounts") == "[]", tries
    only(tries, {"ENOENT"})


def test_F11_devices(box):
    """F-11: no device node can be made; the existing ones are harmless and cannot be changed."""
    tries = box.tries("""
import stat
attempt("char", os.mknod, "/workspace/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
attempt("block", os.mknod, "/workspace/disk", stat.S_IFBLK | 0o666, os.makedev(254, 0))
attempt("socket", os.mknod, "/workspace/sock", stat.S_IFSOCK | 0o666)
attempt("fifo", os.mkfifo, "/workspace/fifo")
attempt("chmod", os.chmod, "/dev/null", 0)
attempt("remove", os.unlink, "/dev/null")
tell("zero", open("/dev/zero", "rb").read(4) == bytes(4))
attempt("full", lambda: os.write(os.open("/dev/full", os.O_WRONLY), b"x"))
attempt("null", lambda: os.write(os.open("/dev/null", os.O_WRONLY), b"x"))
""")
    assert tries == {"char": "EPERM", "block": "EPERM", "socket": "EPERM", "fifo": "done", "chmod": tries["chmod"],
                     "remove": tries["remove"], "zero": "True", "full": "ENOSPC", "null": "done"}, tries
    only({"chmod": tries["chmod"], "remove": tries["remove"]}, REFUSED | {"EPERM"})


def test_F11_terminals(box):
    """F-11 (I5): a sandbox sees only its own pseudo-terminals; their number and their ioctls are limited."""
    code = """
import fcntl, termios
tell("at_first", os.listdir("/dev/pts"))
try:
    open("/dev/tty", "w")
except OSError as e:
    tell("controlling", errno.errorcode[e.errno])
pairs = []
try:
    while len(pairs) < 100: pairs.append(os.openpty())
except OSError as e:
    tell("bound", f"{len(pairs)} {errno.errorcode[e.errno]}")
for name, request in {"push": 0x5412, "linux": 0x541c, "console": 0x541d, "discipline": 0x5423, "peer": 0x5441}.items():
    attempt(name, fcntl.ioctl, pairs[0][1], request, bytes(8))
"""
    hosts = set(os.listdir("/dev/pts"))
    other = box.begin("import os, time; pairs = [os.openpty() for _ in range(8)]; time.sleep(600)", wall_ms=600000)
    try:
        program = box.inmates()[0][1]
        boxes.until(lambda: sum("pts" in str(boxes.link(f"/proc/{program}/fd/{n}")) for n in range(64)) >= 8)
        tries = box.tries(code)
        assert set(os.listdir("/dev/pts")) == hosts, "they are in the host's /dev/pts"
    finally:
        other.kill()
    assert tries.pop("at_first") == "['ptmx']" and tries.pop("controlling") == "ENXIO" and tries.pop("bound") == "32 ENOSPC", tries
    only(tries, {"EPERM"})


def test_F14_links_out(box):
    """F-14, F-15: links lead into the sandbox, or nowhere; a file of the host cannot be linked in."""
    tries = box.tries("""
os.chdir("/workspace")
for name, target in {"shadow": "/etc/shadow", "up": "../../../../root", "fd": "/proc/self/fd/0", "loop": "loop", "host": "/proc/1/root/etc"}.items():
    os.symlink(target, name)
    attempt(name, os.stat, name)
attempt("hard", os.link, "/etc/passwd", "hard")
attempt("hard_fd", os.link, "/proc/self/exe", "hard2", follow_symlinks=True)
fd = os.open("/usr/bin/env", os.O_RDONLY)
attempt("empty_path", lambda: ctypes.CDLL(None, use_errno=True).linkat(fd, b"", -100, b"/workspace/e", 0x1000) and (_ for _ in ()).throw(OSError(ctypes.get_errno(), "")))
""")
    assert {n: tries[n] for n in ("shadow", "up", "fd", "loop", "host")} == \
        {"shadow": "ENOENT", "up": "ENOENT", "fd": "done", "loop": "ELOOP", "host": "ENOENT"}, tries
    only({n: tries[n] for n in ("hard", "hard_fd", "empty_path")}, {"EXDEV", "EPERM", "EACCES", "ENOENT"})


def test_F18_attributes(box):
    """F-18: privileged attributes and flags are refused; whatever a program creates in the workspace can be removed."""
    tries = box.tries("""
os.chdir("/workspace")
open("f", "w").close()
for name in "trusted.x", "security.capability": attempt(name, os.setxattr, "f", name, b"x")
attempt("tmpfile", os.open, ".", os.O_TMPFILE | os.O_RDWR)
attempt("chown", os.chown, "f", 0, 0)
import fcntl
attempt("flags", fcntl.ioctl, os.open("f", os.O_RDONLY), 0x40086602, b"\\x10\\0\\0\\0\\0\\0\\0\\0")
os.mkdir("deep"); os.chdir("deep")
for _ in range(2000): os.mkdir("d"); os.chdir("d")
os.chdir("/workspace"); os.mkdir("closed"); os.chmod("closed", 0)
""")
    assert tries["tmpfile"] == "done" and tries["flags"] == "EPERM" and tries["chown"] in ("EPERM", "EINVAL"), tries
    only({n: tries[n] for n in ("trusted.x", "security.capability")}, {"EPERM", "EOPNOTSUPP", "EINVAL"})


def test_F22_shared_inodes_carry_no_signals(box):
    """F-22 (I5): no lock by flock, lease, notification or watch on a file that other sandboxes see too."""
    tries = box.tries("""
import fcntl
fd = os.open("/usr/bin/env", os.O_RDONLY)
attempt("flock", fcntl.flock, fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
attempt("lease", fcntl.fcntl, fd, 1024, fcntl.F_RDLCK)
attempt("notify", fcntl.fcntl, os.open("/usr/bin", os.O_RDONLY), 1026, 1)
attempt("write_lock", fcntl.lockf, fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
libc = ctypes.CDLL(None, use_errno=True)
for name, number in {"inotify": 294, "fanotify": 300}.items():
    libc.syscall(number, 0, 0); tell(name, errno.errorcode[ctypes.get_errno()])
own = os.open("/workspace/f", os.O_RDWR | os.O_CREAT)
attempt("own_lock", fcntl.lockf, own, fcntl.LOCK_EX | fcntl.LOCK_NB)
""")
    assert tries == {"flock": "ENOSYS", "lease": "EPERM", "notify": "EPERM", "write_lock": "EBADF", "inotify": "ENOSYS",
                     "fanotify": "EPERM", "own_lock": "done"}, tries
