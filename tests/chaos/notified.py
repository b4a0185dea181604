#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The parent of a daemon is busy and its notification socket is full: it receives the readiness notification nevertheless.

    notified.py BIN
"""

import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402


def fill(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as crowd:
        crowd.setblocking(False)
        crowd.connect(path)
        try:
            while True:
                crowd.send(b"STATUS=crowd")
        except BlockingIOError:
            pass


def words(listener, seconds):
    heard, end = [], time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        listener.settimeout(left)
        try:
            heard += listener.recv(512).decode().split("\n")
        except TimeoutError:
            break
    return [word for word in heard if word != "STATUS=crowd"]


def test_ready_is_said_until_it_is_heard(bin):
    cluster = daemons.Cluster(bin, servers=("validator",))
    path = os.path.join(cluster.folder, "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(path)
        os.chmod(path, 0o666)
        fill(path)
        cluster.env["NOTIFY_SOCKET"] = path
        with cluster:
            end = time.monotonic() + 20
            while '"text":"ready"' not in cluster.log("validator"):
                assert time.monotonic() < end, cluster.log("validator")
                time.sleep(0.01)
            assert "READY=1" in words(listener, 3)
            cluster.kill("validator", 15)
            last = words(listener, 1)
            assert "STOPPING=1" in last and "READY=1" not in last[last.index("STOPPING=1"):], last


def main():
    cases.run(sys.modules[__name__], sys.argv[1])


main()
