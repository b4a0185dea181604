# SPDX-License-Identifier: Apache-2.0
"""The real daemons, started by root: what the kernel shows of each of their threads.

daemons.py BUILD CONFIG
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402
import peers  # noqa: E402
import users  # noqa: E402


# Connections with random bytes, some after a valid greeting; run as a given user.
NOISE = """
import random, socket, sys
random.seed(7)
greeting = b"\\xff" + bytes(8) + b"\\x7f\\x03\\x00NULL" + bytes(48)
for i in range(300):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(sys.argv[1])
        try:
            s.sendall(greeting * (i % 2) + random.randbytes(random.randrange(1, 600)))
        except OSError:
            pass
"""


PASSWORD = b"a-password-of-an-index"


def make_noise(endpoint, client, groups):
    user = "cloister-" + client
    who = {"user": users.uid(user), "group": users.gid(user), "extra_groups": [users.gid(name) for name in groups]}
    return subprocess.run(["/usr/bin/python3", "-c", NOISE, endpoint], stderr=subprocess.PIPE, check=False, **who)


def status(path):
    with open(path, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def parsers(cluster):
    return children(cluster, "validator")


# The validator's parser processes; secretd's keeper.
def children(cluster, name):
    pid = cluster.processes[name].pid
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return list(map(int, file.read().split()))


# For every thread, including ZeroMQ's and the parsers': name of the daemon, thread id, and its status in /proc.
def threads(cluster, gateway):
    pids = [(name, process.pid) for name, process in cluster.processes.items()]
    pids += [("gateway", gateway.process.pid)] + [("validator", pid) for pid in parsers(cluster)]
    pids += [("secretd", pid) for pid in children(cluster, "secretd")]
    for name, pid in pids:
        for task in os.listdir(f"/proc/{pid}/task"):
            yield name, task, status(f"/proc/{pid}/task/{task}/status")


def client_edges(name):
    return {f"cloister-{name}-{server}" for client, server in peers.EDGES if client == name}


def test_every_daemon_has_threads_of_zeromq(cluster, gateway, _):
    count = {}
    for name, _task, _status in threads(cluster, gateway):
        count[name] = count.get(name, 0) + 1
    assert set(count) == {"gateway", *daemons.SERVERS}, count
    assert all(n >= 3 for n in count.values()), count


def test_uid_and_gid_are_the_daemons_own(cluster, gateway, _):
    for name, task, shown in threads(cluster, gateway):
        user, group = users.uid("cloister-" + name), users.gid("cloister-" + name)
        assert shown["Uid"].split() == [str(user)] * 4, (name, task, shown["Uid"])
        assert shown["Gid"].split() == [str(group)] * 4, (name, task, shown["Gid"])


def test_groups_are_those_of_its_edges(cluster, gateway, _):
    for name, task, shown in threads(cluster, gateway):
        wanted = sorted(users.gid(edge) for edge in client_edges(name))
        assert sorted(map(int, shown["Groups"].split())) == wanted, (name, task, shown["Groups"])


def test_capabilities_are_empty(cluster, gateway, _):
    for name, task, shown in threads(cluster, gateway):
        for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert int(shown[kind], 16) == 0, (name, task, kind, shown[kind])


def test_no_privilege_can_come(cluster, gateway, _):
    for name, task, shown in threads(cluster, gateway):
        assert shown["NoNewPrivs"] == "1", (name, task)


def test_seccomp_filters_every_thread(cluster, gateway, config):
    if config == "Sanitize":
        raise cases.Skip("sanitizers cannot live under seccomp")
    for name, task, shown in threads(cluster, gateway):
        assert shown["Seccomp"] == "2", (name, task)


# Besides stdin, stdout and stderr; and no writable memory is shared with another parser process.
def test_a_parser_has_one_socket_and_its_parent(cluster, _gateway, _config):
    found = parsers(cluster)
    assert len(found) == 2, found
    shared = []
    for pid in found:
        fds = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd") if int(fd) > 2]
        assert len(fds) == 1 and fds[0].startswith("socket:"), fds
        assert os.listdir(f"/proc/{pid}/task") == [str(pid)], pid
        with open(f"/proc/{pid}/maps", encoding="ascii") as maps:
            shared += [line.split()[4] for line in maps if " rw-s " in line]
    assert len(set(shared)) == len(shared) == 2, shared


# Besides a socket to the daemon, and a pipe for its own processes.
def test_the_keeper_of_credentials_has_two_ends_of_a_pipe(cluster, _gateway, _config):
    keeper, = children(cluster, "secretd")
    fds = sorted(os.readlink(f"/proc/{keeper}/fd/{fd}").split(":")[0] for fd in os.listdir(f"/proc/{keeper}/fd") if int(fd) > 2)
    assert fds == ["pipe", "pipe", "socket"], fds
    assert os.listdir(f"/proc/{keeper}/task") == [str(keeper)], keeper


# Only the keeper knows them, which no process of its user can look into.
def test_credentials_are_in_the_keeper_only(cluster, _gateway, _config):
    keeper, = children(cluster, "secretd")
    assert PASSWORD in memory(keeper)
    assert PASSWORD not in memory(cluster.processes["secretd"].pid)
    as_secretd = {"user": users.uid("cloister-secretd"), "group": users.gid("cloister-secretd"), "extra_groups": []}
    done = subprocess.run(["/bin/cat", f"/proc/{keeper}/mem"], capture_output=True, check=False, **as_secretd)
    assert b"denied" in done.stderr, done


# All that is readable of a process.
def memory(pid):
    found = []
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps, open(f"/proc/{pid}/mem", "rb", 0) as file:
        for line in maps:
            begin, end = (int(at, 16) for at in line.split()[0].split("-"))
            if " rw" in line and end - begin < 1 << 28:
                file.seek(begin)
                with contextlib.suppress(OSError):
                    found.append(file.read(end - begin))
    return b"".join(found)


def edges_of(cluster):
    return [name for name in os.listdir(cluster.run) if os.path.isdir(os.path.join(cluster.run, name))]


def test_an_operators_socket_is_its_users_alone(cluster, _gateway, _config):
    sockets = sorted(name for name in os.listdir(cluster.run) if name.endswith(".sock"))
    assert sockets == ["approvald.sock", "auditd.sock", "vault.sock"], sockets
    for name in sockets:
        socket = os.stat(os.path.join(cluster.run, name))
        assert oct(socket.st_mode) == "0o140600" and socket.st_uid == os.geteuid(), (name, socket)


def test_a_directory_lets_only_its_pair_in(cluster, _gateway, _config):
    for name in edges_of(cluster):
        client, _, server = name.partition("-")
        directory = os.stat(os.path.join(cluster.run, name))
        assert oct(directory.st_mode) == "0o42710", (name, oct(directory.st_mode))
        assert directory.st_uid == users.uid("cloister-" + server), name
        assert directory.st_gid == users.gid(f"cloister-{client}-{server}"), name
        endpoint = os.stat(os.path.join(cluster.run, name, "1"))
        assert oct(endpoint.st_mode) == "0o140660", (name, oct(endpoint.st_mode))
        assert endpoint.st_gid == directory.st_gid, name


def test_a_state_directory_is_its_daemons_alone(cluster, _gateway, _config):
    """But the policies are the operator's, and two daemons read them."""
    policies = os.stat(os.path.join(cluster.state, "policies"))
    assert (policies.st_uid, policies.st_mode & 0o7777) == (0, 0o755), policies
    for name in set(os.listdir(cluster.state)) - {"policies"}:
        directory = os.stat(os.path.join(cluster.state, name))
        assert directory.st_uid == users.uid("cloister-" + name), name
        assert directory.st_mode & 0o7777 == 0o700, (name, oct(directory.st_mode))


# Log lines of a server about a client.
def refusals(cluster, server, client):
    return len(re.findall(rf'"text":"(?:refused|malformed)","peer":"{client}"', cluster.log(server)))


def wait_for_more(cluster, server, client, before):
    end = time.monotonic() + 5
    while refusals(cluster, server, client) == before:
        assert time.monotonic() < end, (server, client, cluster.log(server)[-1000:])
        time.sleep(0.01)


# From the permitted client, from another daemon, and from root: no harm, but the messages are counted and logged.
def test_noise_on_every_endpoint(cluster, gateway, _):
    for edge in edges_of(cluster):
        client, _dash, server = edge.partition("-")
        endpoint, before = os.path.join(cluster.run, edge, "1"), refusals(cluster, server, client)
        done = make_noise(endpoint, client, [f"cloister-{edge}"])
        assert done.returncode == 0, (edge, done.stderr)
        wait_for_more(cluster, server, client, before)
        stranger = make_noise(endpoint, "auditd" if server != "auditd" else "validator", [])
        assert b"PermissionError" in stranger.stderr, (edge, stranger.stderr)
        subprocess.run(["/usr/bin/python3", "-c", NOISE, endpoint], check=True)
        assert cluster.processes[server].poll() is None, cluster.log(server)[-1000:]
    assert not gateway.call("execute_code", {"code": "print(1)"})["isError"]


# All of the above held while the daemons served requests.
def test_they_work_in_there(cluster, gateway, _):
    result = gateway.call("validate_code", {"code": "print(1)", "language": "python"})
    assert not result.get("isError"), result
    for name in daemons.SERVERS:
        assert cluster.processes[name].poll() is None, cluster.log(name)


# No process in the jail can start a daemon. The starter does, and the new one is in its jail.
def test_a_parser_that_dies_takes_the_validator_along(cluster, gateway, _config):
    one, other = parsers(cluster)
    os.kill(one, signal.SIGKILL)
    assert cluster.processes["validator"].wait(10) == 1, cluster.log("validator")[-1000:]
    assert "a worker process has ended" in cluster.log("validator")
    assert not os.path.exists(f"/proc/{other}/exe"), other
    cluster.restart("validator")
    assert not gateway.call("validate_code", {"code": "print(1)"}).get("isError")
    left = parsers(cluster)
    cluster.kill("validator", signal.SIGKILL)
    end = time.monotonic() + 5
    while any(os.path.exists(f"/proc/{pid}/exe") for pid in left):
        assert time.monotonic() < end, left
        time.sleep(0.01)
    cluster.restart("validator")


def test_a_keeper_that_dies_takes_secretd_along(cluster, _gateway, _config):
    keeper, = children(cluster, "secretd")
    os.kill(keeper, signal.SIGKILL)
    assert cluster.processes["secretd"].wait(10) == 1, cluster.log("secretd")[-1000:]
    assert "keeps the credentials has ended" in cluster.log("secretd")
    cluster.restart("secretd")
    assert len(children(cluster, "secretd")) == 1


def test_they_end_when_asked(cluster, _gateway, _config):
    assert set(cluster.stop().values()) == {0}


if __name__ == "__main__":
    users.need_root_and_users()
    programs = os.path.join(sys.argv[1], "bin")
    with tempfile.NamedTemporaryFile() as netrc, contextlib.ExitStack() as inside:
        netrc.write(b"machine index.test login me password " + PASSWORD)
        netrc.flush()
        started = inside.enter_context(daemons.Cluster(programs, flags={"secretd": ["--credentials=" + netrc.name]}))
        client = started.client()
        client.call("validate_code", {"code": "1"})  # a gateway that answers is in its jail
        cases.run(sys.modules[__name__], started, client, sys.argv[2])
