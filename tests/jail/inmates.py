# SPDX-License-Identifier: Apache-2.0
"""The result of each operation that no daemon may perform: the process is killed, or gets the expected error.

inmates.py BUILD CONFIG
"""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import far as over_tcp  # noqa: E402
import peers  # noqa: E402
import users  # noqa: E402

DAEMONS, WITH_STATE = tuple(peers.PEERS), tuple(peers.WITH_STATE)
KILLED = -signal.SIGSYS
# In no daemon's list.
ALWAYS = ("bpf", "datagram", "dumpable", "exec", "fork", "inet", "io_uring", "keyctl", "mount", "namespace", "packet",
          "ptrace", "realtime", "root", "thread_exec")
# Options of permitted calls; the gateway may call setsockopt.
OPTIONS = ("filter", "huge", "mergeable", "owner", "peer")


def attempt(build, daemon, what, flags=(), **popen):
    with tempfile.TemporaryDirectory(prefix="cloister-inmate-") as directory:
        os.chmod(directory, 0o755)
        command = [os.path.join(build, "tests", "inmate-" + daemon), "--attempt=" + what, "--run=" + directory + "/run",
                   "--state=" + directory + "/state", "--drain-ms=0", *flags]
        if "user" in popen:
            os.chown(directory, popen["user"], popen["group"])
        done = subprocess.run(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=20, check=False, **popen)
        return done.returncode, done.stderr.decode()


# Each daemon's attempts, and the expected results.
def expect(build, what, wanted, daemons=DAEMONS, **popen):
    wrong = []
    for daemon in daemons:
        status, log = attempt(build, daemon, what, **popen)
        if '"seccomp":"in force"' not in log:
            wrong.append(f"{daemon}: never came into its jail: {log}")
        elif status != wanted:
            wrong.append(f"{daemon}: {what} ended with {status}, expected is {wanted}: {log}")
    assert not wrong, "\n".join(wrong)


def test_what_kills_every_daemon(build):
    for what in ALWAYS:
        expect(build, what, KILLED, [name for name in DAEMONS if (name, what) != ("egress", "inet")])


def test_only_egress_may_leave_this_machine(build):
    expect(build, "inet", 0, ("egress",))


def test_options_kill_every_daemon(build):
    for what in OPTIONS:
        expect(build, what, KILLED)


# A daemon with TCP may set socket options, but none that takes a program.
def test_options_kill_over_tcp(build):
    with tempfile.TemporaryDirectory(prefix="cloister-inmate-") as directory:
        keys = os.path.join(directory, "keys")
        subprocess.run([os.path.join(build, "bin", "cloister-keys"), keys], check=True, stdout=subprocess.DEVNULL)
        for daemon, flags in over_tcp.flags(keys).items():
            expect(build, "nodelay", 0, (daemon,), flags=flags)
            for what in OPTIONS:
                expect(build, what, KILLED, (daemon,), flags=flags)


def test_a_thread_can_be_made(build):
    expect(build, "thread", 0)


def test_clone3_is_unknown_so_that_libc_falls_back(build):
    expect(build, "clone3", errno.ENOSYS)


def test_own_state_can_be_written(build):
    expect(build, "state", 0, WITH_STATE)


def test_no_other_file_can_be_opened(build):
    for what in ("passwd", "shadow", "tmp", "out_of_state"):
        expect(build, what, errno.EACCES, WITH_STATE)


def test_the_validator_finds_no_file(build):
    for what in ("passwd", "shadow", "tmp"):
        expect(build, what, errno.ENOENT, ("validator",))
        expect(build, what, errno.ENOENT, ("validator",), flags=("--confined",))


# Besides the calls that kill every daemon: it may not even open the bus's sockets.
def test_what_kills_a_parser(build):
    for what in (*ALWAYS, "abstract"):
        expect(build, what, KILLED, ("validator",), flags=("--confined",))


def test_abstract_sockets_of_others_are_out_of_reach(build):
    with socket.socket(socket.AF_UNIX) as outside:
        outside.bind("\0cloister-inmate")
        outside.listen()
        expect(build, "abstract", errno.EPERM)


# An ordinary user gets the layers that do not need root; the others are reported as not in force.
def test_an_ordinary_user_is_jailed(build):
    nobody = {"user": users.uid("nobody"), "group": users.gid("nogroup"), "extra_groups": []}
    if not os.access(build, os.X_OK) or subprocess.run(["/usr/bin/test", "-x", build], check=False, **nobody).returncode:
        raise cases.Skip("the build directory is not open to an ordinary user")
    expect(build, "exec", KILLED, **nobody)
    expect(build, "shadow", errno.EACCES, WITH_STATE, **nobody)
    _, log = attempt(build, "auditd", "thread", **nobody)
    layers = next(json.loads(line) for line in log.splitlines() if '"text":"jail"' in line)
    assert layers["own_uid"] == "not in force", layers
    for layer in ("capabilities_empty", "no_new_privs", "landlock", "seccomp"):
        assert layers[layer] == "in force", layers


if __name__ == "__main__":
    users.need_root_and_users()
    if sys.argv[2] == "Sanitize":
        users.skip("sanitizers cannot live under seccomp and Landlock")
    cases.run(sys.modules[__name__], sys.argv[1])
