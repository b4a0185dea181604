#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts, rewrites, replaces and restores the audit log while other daemons keep checkpoints of it.

    checkpoints.py BIN
"""

import base64
import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402
import journal  # noqa: E402

CUT = 5
TRUNCATED, REWRITTEN, OTHER_KEY, BAD_SIGNATURE = 3, 4, 5, 6  # enum verify_verdict of auditd/verify.h


def log_of(cluster, state=None):
    return os.path.join(state or cluster.state, "auditd", "audit.log")


def auditd(cluster, *arguments):
    return subprocess.run([os.path.join(cluster.bin, "cloister-auditd"), *arguments], capture_output=True, text=True, check=False)


def verify(cluster, since, *more):
    return auditd(cluster, "--verify", log_of(cluster), "--since=" + since, *more)


def number_of(checkpoint):
    return int(checkpoint.splitlines()[1])


def run_code(cluster):
    result = cluster.call("execute_code", {"code": "print(1)"})
    assert not result.get("isError"), result
    return result["structuredContent"]


def newest(cluster):
    return cluster.call("get_sandbox_info", {"detail": False})["structuredContent"].get("audit_checkpoint")


def wait_for(condition, timeout=20):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def run_and_settle(cluster, runs=6):
    """Runs code until the executor has a checkpoint of all of it, then stops auditd; returns the checkpoint."""
    for _ in range(runs):
        run_code(cluster)
    wait_for(lambda: newest(cluster) is not None and not journal.spooled(os.path.join(cluster.state, "executor")))
    checkpoint = newest(cluster)
    cluster.kill("auditd")
    return checkpoint


def assert_does_not_start(cluster, *says):
    """Its sockets may exist before it has checked the log."""
    before = len(cluster.log("auditd"))
    with contextlib.suppress(RuntimeError):
        cluster.restart("auditd", timeout=10)
    assert cluster.processes.pop("auditd").wait(10) == 1
    said = cluster.log("auditd")[before:]
    assert all(text in said for text in says), said


@contextlib.contextmanager
def a_run(bin, **options):
    """Daemons, and the executor's last checkpoint of their log."""
    with daemons.Cluster(bin, **options) as cluster:
        yield cluster, run_and_settle(cluster)


def test_a_result_carries_what_openssl_verifies(bin):
    """Parses the note here, according to C2SP signed notes; openssl knows nothing of cloister."""
    if shutil.which("openssl") is None:
        raise cases.Skip("openssl is not installed")
    with daemons.Cluster(bin) as cluster, tempfile.TemporaryDirectory() as directory:
        run_and_settle(cluster)
        cluster.restart("auditd")
        checkpoint = run_code(cluster)["audit_checkpoint"]
        body, signatures = checkpoint.split("\n\n")
        body += "\n"
        origin, number, seal, when = body.splitlines()
        dash, name, signature = signatures.strip().split(" ")
        name_of_key, key_hash, key = auditd(cluster, "--public-key", "--state=" + cluster.state).stdout.strip().split("+", 2)
        key, signature = base64.b64decode(key), base64.b64decode(signature)
        assert (dash, name, name_of_key, key[0]) == ("—", origin, origin, 1)
        assert hashlib.sha256(name.encode() + b"\n" + key).hexdigest()[:8] == key_hash == signature[:4].hex()
        assert abs(int(when.split()[1]) / 1000 - time.time()) < 600

        def put(name, data):
            with open(os.path.join(directory, name), "wb") as file:
                file.write(data)
            return file.name

        spki = put("key.der", bytes.fromhex("302a300506032b6570032100") + key[1:])  # RFC 8410
        sealed = put("signature", signature[4:])
        for text, status in (body, 0), (body.replace(f"\n{number}\n", f"\n{number}1\n"), 1):
            openssl = subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", spki, "-rawin", "-in",
                                      put("text", text.encode()), "-sigfile", sealed], capture_output=True, check=False)
            assert openssl.returncode == status, (text, openssl)
        cluster.kill("auditd", signal.SIGTERM)
        links = list(journal._links(log_of(cluster)))  # pylint: disable=protected-access
        assert links[int(number) - 1][2] == base64.b64decode(seal)
        good = verify(cluster, checkpoint)
        assert good.returncode == 0 and f"since {number} holds" in good.stdout, good
        assert verify(cluster, "@" + put("note", checkpoint.encode())).returncode == 0


def test_a_cut_log_is_noticed(bin):
    with a_run(bin) as (cluster, checkpoint):
        whole = open(log_of(cluster), "rb").read()
        number = number_of(checkpoint)
        left = journal.cut(log_of(cluster), CUT)
        assert auditd(cluster, "--verify", log_of(cluster)).returncode == 0  # as a chain it is whole
        said = verify(cluster, checkpoint)
        assert said.returncode == TRUNCATED and f"{number} records, {number - left} are missing" in said.stderr, said
        assert_does_not_start(cluster, f"ends at record {left}, a checkpoint says {number}", f"--accept-loss={number}")
        with open(log_of(cluster), "wb") as log:
            log.write(whole)
        cluster.restart("auditd")
        assert verify(cluster, checkpoint).returncode == 0
        run_code(cluster)


def test_a_rewritten_log_is_noticed(bin):
    """One record is changed, and all links after it are made anew."""
    with a_run(bin) as (cluster, checkpoint):
        changed = []

        def change(number, body):
            if b"execution.completed" in body and not changed:
                changed.append(number)
                return body.replace(b"execution.completed", b"execution.cancelled")
            return body

        journal.rewrite(log_of(cluster), change)
        assert changed and auditd(cluster, "--verify", log_of(cluster)).returncode == 0
        journal.read(log_of(cluster))
        said = verify(cluster, checkpoint)
        assert said.returncode == REWRITTEN and f"record {number_of(checkpoint)} has another hash" in said.stderr, said
        assert_does_not_start(cluster, f"record {number_of(checkpoint)} of ", "is not that of a checkpoint")


def test_keys_and_signatures_are_told_apart(bin):
    with a_run(bin) as (cluster, checkpoint), daemons.Cluster(bin, servers=("auditd",)) as other:
        key = auditd(other, "--public-key", "--state=" + other.state).stdout.strip()
        assert verify(cluster, checkpoint, "--key=" + key).returncode == OTHER_KEY
        number = number_of(checkpoint)
        assert verify(cluster, checkpoint.replace(f"\n{number}\n", f"\n{number - 1}\n")).returncode == BAD_SIGNATURE
        assert verify(cluster, "nonsense").returncode == BAD_SIGNATURE


def test_a_removed_log_and_key_are_noticed(bin):
    with a_run(bin) as (cluster, checkpoint):
        shutil.rmtree(os.path.join(cluster.state, "auditd"))
        assert_does_not_start(cluster, "ends at record 0, a checkpoint, signed by another key says " + str(number_of(checkpoint)))


def test_an_accepted_loss_is_recorded_and_over(bin):
    with a_run(bin) as (cluster, checkpoint):
        number = number_of(checkpoint)
        left = journal.cut(log_of(cluster), CUT)
        cluster.flags["auditd"] = [f"--accept-loss={number - 1}"]  # of another checkpoint
        assert_does_not_start(cluster, "--accept-loss=" + str(number))
        cluster.flags["auditd"] = [f"--accept-loss={number}"]
        cluster.restart("auditd")
        wait_for(lambda: b"audit.loss_accepted" in open(log_of(cluster), "rb").read())
        del cluster.flags["auditd"]
        cluster.restart("auditd")
        for _ in range(2):
            run_code(cluster)
        run_and_settle(cluster)
        cluster.restart("auditd")
        cluster.kill("auditd", signal.SIGTERM)
        records, _ = journal.read(log_of(cluster))
        accepted = [r for r in records if r.event["event"] == "audit.loss_accepted"]
        assert len(accepted) == 1 and accepted[0].daemon == "auditd", accepted
        assert f"{number} records" in accepted[0].event["detail"] and f"had {left}" in accepted[0].event["detail"], accepted
        # A second loss must be accepted separately.
        journal.cut(log_of(cluster), CUT)
        assert_does_not_start(cluster, "--accept-loss=")


def test_a_log_on_another_machine_is_noticed_by_its_first_batch(bin):
    """auditd cannot see the executor's state here: the checkpoint arrives with the events."""
    elsewhere = tempfile.mkdtemp(prefix="cloister-test-")
    os.chmod(elsewhere, 0o755)
    try:
        with daemons.Cluster(bin, flags={"auditd": ["--state=" + elsewhere]}) as cluster:
            checkpoint = run_and_settle(cluster)
            journal.cut(log_of(cluster, elsewhere), CUT)
            cluster.restart("auditd")
            run_code(cluster)
            assert cluster.processes.pop("auditd").wait(20) == 1
            assert f"a checkpoint says {number_of(checkpoint)}" in cluster.log("auditd")
            records, _ = journal.read(log_of(cluster, elsewhere))
            assert records[-1].daemon == "auditd", records[-1]
            assert journal.spooled(os.path.join(cluster.state, "executor")), "it was acknowledged"
            cluster.flags["auditd"].append(f"--accept-loss={number_of(checkpoint)}")
            cluster.restart("auditd")
            wait_for(lambda: not journal.spooled(os.path.join(cluster.state, "executor")))
            cluster.flags["auditd"].pop()
            cluster.restart("auditd")
            run_code(cluster)
            time.sleep(0.5)
            assert cluster.processes["auditd"].poll() is None, cluster.log("auditd")[-2000:]
    finally:
        shutil.rmtree(elsewhere)


def test_a_checkpoint_torn_by_a_power_loss_stops_nobody(bin):
    with a_run(bin) as (cluster, _):
        cluster.kill("executor")
        path = os.path.join(cluster.state, "executor", "audit.checkpoint")
        with open(path, "r+b") as kept:
            kept.write(bytes(40))
        cluster.restart("auditd")
        cluster.restart("executor")
        run_code(cluster)
        wait_for(lambda: newest(cluster) is not None)
        assert cluster.processes["auditd"].poll() is None


def test_state_that_was_restored_as_a_whole_starts(bin):
    """An older backup of the whole state: the checkpoints in it match the log in it."""
    with a_run(bin) as (cluster, _):
        cluster.kill("executor")
        backup = cluster.state + ".backup"
        subprocess.run(["cp", "-a", cluster.state, backup], check=True)
        cluster.restart("auditd")
        cluster.restart("executor")
        run_and_settle(cluster)
        cluster.kill("executor")
        subprocess.run(["cp", "-a", "--remove-destination", backup + "/.", cluster.state], check=True)
        shutil.rmtree(backup)
        cluster.restart("auditd")
        cluster.restart("executor")
        run_code(cluster)


def main():
    cases.run(sys.modules[__name__], sys.argv[1])


main()
