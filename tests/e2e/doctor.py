#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`cloister doctor` on this machine: with daemons and without, for people and programs, and its exit status.

    doctor.py BIN
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from commands import Command  # noqa: E402

OF_DAEMONS = {"layers", "python", "node", "shell", "data_science", "daemons", "build"}


def examined(cloister, *flags, env=None):
    """The rows by name, and the exit status."""
    ran = subprocess.run([cloister.program, "doctor", "--json", *flags], env={**cloister.env, **(env or {})}, capture_output=True, check=False, timeout=60)
    told = json.loads(ran.stdout)
    rows = {row["name"]: row for row in told["checks"]}
    for state in "ok", "weaker", "missing", "unchecked":
        assert told[state] == sum(row["state"] == state for row in rows.values()), told
    for row in rows.values():
        bad = row["state"] in ("weaker", "missing")
        assert row["found"] and bad == ("remedy" in row) == ("effect" in row) and (not bad or row["remedy"]), row
    assert ran.returncode == (told["missing"] > 0) and not ran.stderr, ran
    return rows, ran.returncode


def test_without_daemons_it_starts_none(cloister):
    rows, status = examined(cloister)
    assert status == 0 and {name for name, row in rows.items() if row["state"] == "unchecked"} - {"own_uids"} == OF_DAEMONS, rows
    assert cloister("status").returncode == 3 and not os.path.exists(cloister.env["CLOISTER_STATE"])


def test_daemons_say_what_they_know(cloister):
    assert cloister("up").returncode == 0
    rows, status = examined(cloister)
    root = os.geteuid() == 0
    assert status == 0 and not any(row["state"] == "unchecked" for row in rows.values()), rows
    assert all(rows[name]["state"] == "ok" for name in ("kernel", "python", "shell", "settings", "daemons", "build")), rows
    assert rows["own_uids"]["state"] == ("ok" if root else "weaker"), rows["own_uids"]
    listed = json.loads(cloister("call", "get_sandbox_info", "--json").stdout)["isolation"]
    assert all(name.split(":")[0] in rows["layers"]["found"] for name in listed["missing"]), (rows["layers"], listed)
    assert rows["layers"]["state"] == ("weaker" if listed["missing"] else "ok"), rows["layers"]


def test_a_person_sees_columns(cloister):
    whole, brief = cloister("doctor").stdout.decode().splitlines(), cloister("doctor", "--brief").stdout.decode().splitlines()
    assert all(re.match(r"(ok|weaker|missing|unchecked) +[a-z_]+ +\S| {27}\S|\d+ ok, \d+ weaker, 0 missing", line) for line in whole), whole
    rows = [line for line in whole if not line.startswith(" ")][:-1]
    assert len({re.match(r"\S+ +\S+ +", line).end() for line in rows}) == 1, rows
    assert set(brief) <= set(whole) and brief[-1] == whole[-1] and not any(line.startswith("ok ") for line in brief), brief


def test_another_build_is_named(cloister):
    copy = os.path.join(cloister.directory, "other")
    shutil.copytree(os.path.dirname(cloister.program), copy, ignore=shutil.ignore_patterns("bench_*", "box_*", "*fixtures"))
    other = subprocess.run([os.path.join(copy, "cloister"), "doctor", "--json"], env=cloister.env, capture_output=True, check=False, timeout=60)
    row = next(row for row in json.loads(other.stdout)["checks"] if row["name"] == "build")
    assert row["state"] == "weaker" and cloister.program in row["found"] and row["remedy"] == "cloister down", row


def test_a_setting_that_is_refused_is_missing(cloister):
    config = cloister.program_file("executor: {nonsense: 1}\n", "bad.yaml")
    rows, status = examined(cloister, "--config=" + config)
    assert status == 1 and rows["settings"]["state"] == "missing" and "executor" in rows["settings"]["found"], rows["settings"]


def test_the_port_is_free_or_ours_or_not(cloister):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        there = "127.0.0.1:%d" % taken.getsockname()[1]
        env = {"CLOISTER_GATEWAY_LISTEN": there}
        rows, status = examined(cloister, env=env)
        assert status == 0 and rows["port"]["state"] == "weaker" and there in rows["port"]["found"], rows["port"]
    assert examined(cloister, env=env)[0]["port"]["found"].endswith("is free")
    token = subprocess.run([cloister.program, "token", "add", "one", "--expires=2020-01-01"], env=cloister.env, capture_output=True, check=False)
    assert token.returncode == 0, token
    server = subprocess.Popen([cloister.program, "serve", "--transport=http", "--listen=" + there], env=cloister.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            rows = examined(cloister, env=env)[0]
            if rows["port"]["found"].endswith("by cloister"):
                break
            time.sleep(0.1)
        assert rows["port"]["state"] == "ok" and "by cloister" in rows["port"]["found"], rows["port"]
        assert rows["tokens"]["state"] == "weaker" and "one ended 2020-01-01" in rows["tokens"]["found"], rows["tokens"]
    finally:
        server.terminate()
        server.wait(30)


def test_remedies_work(cloister):
    """Those that change no machine: the command in PATH, and the entry of a client."""
    home = os.path.join(cloister.directory, "home")
    os.makedirs(os.path.join(home, "bin"))
    env = {"HOME": home, "PATH": os.path.join(home, "bin") + ":" + os.environ["PATH"], "XDG_CONFIG_HOME": os.path.join(home, ".config")}
    os.symlink(cloister.program, os.path.join(home, "bin", "cloister"))
    assert examined(cloister, env=env)[0]["command"]["state"] == "ok"
    row = examined(cloister, env=env)[0]["clients"]
    assert row["state"] == "weaker" and "cursor" in row["found"], row
    remedy = row["remedy"].replace("CLIENT", "cursor").split()
    assert remedy[0] == "cloister" and subprocess.run([cloister.program, *remedy[1:]], env={**cloister.env, **env}, capture_output=True, check=False).returncode == 0
    row = examined(cloister, env=env)[0]["clients"]
    assert (row["state"], row["found"]) == ("ok", "cursor"), row


def test_wrong_usage(cloister):
    for wrong in ["--nonsense"], ["word"], ["--json=1"]:
        ran = cloister("doctor", *wrong)
        assert ran.returncode == 2 and ran.stderr and not ran.stdout, ran
    assert b"--brief" in cloister("doctor", "--help").stdout


def main():
    cloister = Command(sys.argv[1])
    try:
        cases.run(sys.modules[__name__], cloister)
    finally:
        cloister.close()


main()
