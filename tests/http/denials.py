#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A denial is recorded exactly once, whichever daemon is killed meanwhile. denials.py BIN"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from daemons import Cluster  # noqa: E402
from gateway import Gateway, call, soon  # noqa: E402


def token(cluster, name, *flags):
    done = subprocess.run([os.path.join(cluster.bin, "cloister"), "token", "add", name, f"--state={cluster.state}", *flags],
                          check=True, capture_output=True, text=True)
    return {"Authorization": "Bearer " + done.stdout.strip()}


def serve(cluster):
    return Gateway(cluster.bin, ["--toolsets=all"], cluster, anonymous=False)


def denied(gateway, who, times=1):
    for _ in range(times):
        assert gateway.post(call("execute_code", {"code": "1"}), who).status == 403


# The details that auditd has recorded, the latest first.
def recorded(gateway, who):
    reply = gateway.post(call("audit_execution", {"event": "auth.denied"}), who)
    result = reply.json["result"]
    return [] if result["isError"] else [entry["event"]["detail"] for entry in result["structuredContent"]["entries"]]


def spool(cluster):
    folder = os.path.join(cluster.state, "gateway")
    return sum(os.path.getsize(os.path.join(folder, name)) for name in ("spool.0", "spool.1"))


def test_none_is_lost_while_auditd_is_away(cluster, reader):
    cluster.kill("auditd")
    with serve(cluster) as gateway:
        denied(gateway, reader, 3)
        assert spool(cluster) > 0
        cluster.restart("auditd")
        soon(lambda: len(recorded(gateway, reader)) == 3, "the records")
        soon(lambda: spool(cluster) == 0, "the spool is empty")


def test_none_is_lost_with_the_gateway(cluster, reader):
    cluster.kill("auditd")
    gateway = serve(cluster).__enter__()
    denied(gateway, reader, 2)
    gateway.process.kill()
    gateway.process.wait()
    cluster.restart("auditd")
    with serve(cluster) as gateway:
        soon(lambda: len(recorded(gateway, reader)) == 5, "the records")
        soon(lambda: spool(cluster) == 0, "the spool is empty")
        assert len(recorded(gateway, reader)) == 5, "each once"


# A second gateway on the same directory works without the spool, and takes it once it is free.
def test_two_gateways(cluster, reader):
    first = serve(cluster).__enter__()
    with serve(cluster) as second:
        for gateway in (first, second):
            denied(gateway, reader)
        soon(lambda: len(recorded(second, reader)) == 7, "the records of both")
        assert first.end() == 0
        cluster.kill("auditd")
        denied(second, reader)
        assert spool(cluster) > 0
        cluster.restart("auditd")
        soon(lambda: len(recorded(second, reader)) == 8, "the record")


def main():
    with Cluster(os.path.abspath(sys.argv[1])) as cluster:
        reader = token(cluster, "reader", "--scopes=read,monitor")
        counts = cases.play(sys.modules[__name__], named={"cluster": cluster, "reader": reader})
    cases.end(counts)


if __name__ == "__main__":
    main()
