# SPDX-License-Identifier: Apache-2.0
"""The same daemons on different machines: TCP with CURVE, each in its jail, none with a socket in a directory.

tcp.py BUILD CONFIG
"""

import os
import random
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import far as over_tcp  # noqa: E402
import users  # noqa: E402

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00CURVE" + bytes(47)


def test_a_program_runs(_cluster, gateway, _config):
    result = gateway.call("execute_code", {"code": "print(6 * 7)", "profile": "strict"})
    assert result["structuredContent"]["stdout"] == "42\n", result


def test_no_endpoint_is_in_a_directory(cluster, _gateway, _config):
    left = sorted(name for name in os.listdir(cluster.run) if not name.endswith(".settings"))
    assert left == ["approvald.sock", "auditd.sock", "vault.sock"], left


def test_every_thread_is_filtered(cluster, gateway, config):
    if config == "Sanitize":
        raise cases.Skip("sanitizers cannot live under seccomp")
    for process in [*cluster.processes.values(), gateway.process]:
        for task in os.listdir(f"/proc/{process.pid}/task"):
            with open(f"/proc/{process.pid}/task/{task}/status", encoding="utf-8") as status:
                assert "\nSeccomp:\t2\n" in status.read(), (process.args, task)


# From any host in the network.
def test_noise_on_every_port(cluster, gateway, _config):
    for name, process in cluster.processes.items():
        listen = next(flag for flag in cluster.flags[name] if flag.startswith("--listen="))
        for i in range(300):
            with socket.create_connection(("127.0.0.1", int(listen.rpartition(":")[2]))) as noise:
                try:
                    noise.sendall(GREETING * (i % 2) + random.randbytes(random.randrange(1, 600)))
                except OSError:
                    pass
        assert process.poll() is None, cluster.log(name)[-1000:]
    assert not gateway.call("execute_code", {"code": "print(1)"})["isError"]
    end = time.monotonic() + 5
    for name in cluster.processes:
        while '"text":"refused"' not in cluster.log(name):
            assert time.monotonic() < end, name
            time.sleep(0.01)


def test_a_daemon_that_was_killed_is_found_again(cluster, gateway, _config):
    cluster.restart("validator")
    result = gateway.call("validate_code", {"code": "print(1)"})
    assert not result["isError"], result


# A daemon that binds lists interfaces and sets options; one that only connects has fewer permissions.
def test_all_end_when_asked(cluster, _gateway, _config):
    statuses = cluster.stop()
    assert set(statuses.values()) == {0}, statuses


if __name__ == "__main__":
    users.need_root_and_users()
    programs = os.path.join(sys.argv[1], "bin")
    far = over_tcp.Far(programs)
    subprocess.run([os.path.join(programs, "cloister-keys"), far.directory + "/keys"], check=True,
                   stdout=subprocess.DEVNULL)
    far.flags = over_tcp.flags(far.directory + "/keys")
    with far as started:
        cases.run(sys.modules[__name__], started, started.client(), sys.argv[2])
