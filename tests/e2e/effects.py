#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Settings that no other test sees at work, see ../effects.txt: what a call shows under each, and not without it.

    effects.py BIN
"""

import base64
import datetime
import json
import os
import pwd
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from commands import Command  # noqa: E402
import daemons  # noqa: E402


def shows(pattern, tool="execute_code", **arguments):
    """Whether the result of this call has the pattern."""
    return lambda cluster: re.search(pattern, json.dumps(cluster.call(tool, arguments))) is not None


def python(pattern, code, **more):
    return shows(pattern, code=code, **more)


def at_most_half_a_core(cluster):
    """Of three runs. Daemons without the limit are not asked: on a busy machine no run gets more, either."""
    code = ("import time\nbegan = time.monotonic()\nwhile time.monotonic() < began + 1: pass\nprint(time.process_time())")
    runs = [cluster.call("execute_code", {"code": code, "timeout": 9, "resource_limits": {"max_cpu_seconds": 5}}) for _ in range(3)]
    return max(float(run["structuredContent"]["stdout"]) for run in runs) < 0.75


def session_lives(low, high):
    """Whether a new session is to expire within so many seconds."""
    def seen(cluster):
        made = cluster.call("create_session")["structuredContent"]
        cluster.call("terminate_session", {"session_id": made["session_id"]})
        return low <= datetime.datetime.fromisoformat(made["expires_at"].replace("Z", "+00:00")).timestamp() - time.time() <= high
    return seen


def one_session_only(cluster):
    made = [cluster.call("create_session") for _ in range(2)]
    for one in made:
        if not one["isError"]:
            cluster.call("terminate_session", {"session_id": one["structuredContent"]["session_id"]})
    return "session_limit" in str(made[1])


def one_at_once(cluster):
    """Whether a second program waits for the first."""
    client = cluster.client()
    code = "import time\nbegan = time.time()\ntime.sleep(0.7)\nprint(began, time.time())"
    runs = [client.begin("tools/call", {"name": "execute_code", "arguments": {"code": code}}) for _ in range(2)]
    first, second = sorted([float(n) for n in run.result()["structuredContent"]["stdout"].split()] for run in runs)
    return second[0] >= first[1]


def lost_with_the_vault(cluster):
    """Whether a secret is only in the vault's memory."""
    cluster.client().request("cloister/vault/add", {"name": "KEPT", "value": "c2VjcmV0LXNlY3JldA=="})
    cluster.restart("vault")
    return not cluster.client().request("cloister/vault/list")["secrets"]


def space_of(name):
    """Whether the client is in that namespace: its sessions are not those of a client that names none."""
    def seen(cluster):
        made = cluster.client().call("create_session")["structuredContent"]["session_id"]
        other = cluster.client(flags=["--namespace=" + name])
        return not other.call("sandbox_list_artifacts", {"session_id": made})["isError"]
    return seen


def logs_failed_calls(cluster):
    assert cluster.call("sandbox_list_artifacts", {"session_id": "sess_of_nobody"})["isError"]
    return '"level":"debug"' in cluster.log("gateway")


def imports_scipy(cluster):
    """Whether a program has to read the library itself: hundreds of milliseconds, or about one."""
    code = {"code": "import scipy.stats", "profile": "data_science"}
    return min(cluster.call("execute_code", code)["structuredContent"]["usage"]["cpu_ms"] for _ in range(3)) > 50


SLEEPS = python(r'"code": "timeout", "message": "[^"]*\b1.5 s', "import time\ntime.sleep(3)")
HOARDS = python(r'"out_of_memory", "message": "[^"]*limit of 67108864 bytes', "x = bytearray(200 << 20)")
FORKS = python(r'"too_many_processes", "message": "[^"]*limit of 20\b',
               "import os, time\nfor n in range(40):\n    if os.fork() == 0:\n        time.sleep(1)\n        os._exit(0)")
PRINTS = python("output_truncated.*over 1000 bytes", "print('x' * 5000)")
LONG = python("code_too_large.*limit of 2000", "#" * 3000)
IMPORTS = python("policy_violation.*json", "import json")
IN_CONTAINER = python('"backend": "oci"', "1")
UPLOADS = shows("file_too_large.*limit of 1000 ", "sandbox_upload_file", filename="f", content_base64="QUFB" * 500)

# Setting of the executor, value, and what shows it.
DEFAULTS = [
    ("default_timeout", "1.5", SLEEPS),
    ("memory_mb", "64", HOARDS),
    ("cpu_cores", "0.5", at_most_half_a_core),
    ("cpu_seconds", "0.4", python("timeout.*0.4 s of processor time", "import time\nwhile time.process_time() < 0.9: pass")),
    ("processes", "20", FORKS),
    ("open_files", "40", python("its limit of 40 open files", "kept = [open('/dev/null') for n in range(100)]")),
    ("output_bytes", "1000", PRINTS),
    ("tmp_bytes", "1048576", python("disk_full.*limit of 1048576 bytes", "open('/tmp/big', 'wb').write(bytes(2 << 20))")),
    ("preimport_data_science", "json", imports_scipy),
    ("session_ttl", "120", session_lives(100, 120)),
    ("max_sessions", "1", one_session_only),
    ("usr_local", "true", python(r'"stdout": "True', "import os\nprint(os.listdir('/usr/local') != [])")),
]

# Cap of the executor, value, further flags, and a request beyond it.
CAPS = [
    ("max_timeout", "20", ["--default-timeout=10"], "timeout_seconds", 25),
    ("max_memory_mb", "600", [], "max_ram_mb", 700),
    ("max_cpu_cores", "0.5", ["--cpu-cores=0.5"], "max_cpu_cores", 0.75),
    ("max_cpu_seconds", "10", [], "max_cpu_seconds", 20),
    ("max_processes", "600", [], "max_processes", 700),
    ("max_open_files", "300", [], "max_open_files", 400),
    ("max_output_bytes", "2000000", [], "max_output_bytes", 3000000),
    ("max_workspace_mb", "300", [], "max_disk_mb", 400),
    ("max_workspace_files", "20000", [], "max_files", 30000),
]

# Variables of each replaced system, which say what the settings above say.
PYTHON_SANDBOX = [
    ("SANDBOX_TIMEOUT", "1.5", SLEEPS),
    ("SANDBOX_MAX_OUTPUT_SIZE", "1000", PRINTS),
    ("SANDBOX_DEFAULT_MEMORY_LIMIT", "64m", HOARDS),
    ("SANDBOX_ENABLE_NETWORK", "false", python("profile.*network", "1", profile="network")),
    ("SANDBOX_ENABLE_FILESYSTEM", "false", python("profile.*filesystem", "1", profile="filesystem")),
    ("SANDBOX_ENABLE_DATA_SCIENCE", "false", python("profile.*data_science", "1", profile="data_science")),
    ("SANDBOX_ALLOWED_IMPORTS", "math,time", IMPORTS),
    ("SANDBOX_LOG_LEVEL", "DEBUG", logs_failed_calls),
]
MCP_CODE_SANDBOX = [
    ("SANDBOX_MEMORY_LIMIT", "64m", HOARDS),
    ("SANDBOX_CPU_LIMIT", "0.5", at_most_half_a_core),
    ("SANDBOX_EXEC_TIMEOUT_S", "1.5", SLEEPS),
    ("SANDBOX_SESSION_TTL_M", "2", session_lives(100, 120)),
    ("SANDBOX_MAX_SESSIONS", "1", one_session_only),
    ("SANDBOX_MAX_UPLOAD_BYTES", "1000", UPLOADS),
    ("SANDBOX_MAX_OUTPUT_BYTES", "1000", PRINTS),
    ("SANDBOX_MAX_CODE_BYTES", "2000", LONG),
    ("SANDBOX_PYTHON", os.path.realpath("/usr/bin/python3"), python(r'"stdout": "/usr/bin/python3\.', "import sys\nprint(sys.executable)")),
]
SANDBOXMCP = [
    ("SANDBOXMCP_MAX_CONCURRENT", "1", one_at_once),
    ("SANDBOXMCP_VAULT", "memory", lost_with_the_vault),
    ("SANDBOXMCP_MAX_RAM_MB", "64", HOARDS),
    ("SANDBOXMCP_TIMEOUT", "1.5", SLEEPS),
]
CONTAINERS = [("SANDBOX_ENABLE_CONTAINER_MODE", "true"), ("SANDBOXMCP_BACKEND", "docker")]

# Keys of a flat YAML file of sandboxmcp.
KEYS = [
    ("max_concurrent_jobs", "1", one_at_once),
    ("vault", "memory", lost_with_the_vault),
    ("max_ram_mb", "64", HOARDS),
    ("max_cpu_cores", "0.5", at_most_half_a_core),
    ("timeout_seconds", "1.5", SLEEPS),
    ("max_processes", "20", FORKS),
    ("namespace", "prod", space_of("prod")),
]
KEYS_ALONE = [("memory_limit", "64m", HOARDS), ("default_backend", "docker", IN_CONTAINER)]

# Tool, other arguments, argument, value, and what shows it.
ARGUMENTS = [
    ("validate_csv_data", {"csv_content": "a,b;c\n1,2;3\n"}, "delimiter", ";", '"delimiter": ";"'),
    ("validate_csv_data", {"csv_content": "a\n1\n"}, "has_header", False, '"name": "column_1".*"has_header": false'),
    ("validate_csv_data", {"csv_content": "a\nx\ny\n", "type_constraints": {"a": "int"}}, "max_errors", 1, "2 errors in 2 rows, of which 1"),
    ("execute_code", {"code": "x = bytearray(200 << 20)"}, "resource_limits", {"max_ram_mb": 64}, "out_of_memory.*limit of 67108864 bytes"),
]


def check(world, rows, flags=None, env=None):
    """Each row is seen in a set of daemons that has them all, and not in the one that has none."""
    wrong = []
    with daemons.Cluster(world.bin, flags=flags, env=env) as cluster:
        wrong += [f"{name}={value} has no effect" for name, value, seen in rows if not seen(cluster)]
    wrong += [f"{name}: the same without it" for name, _, seen in rows if seen is not at_most_half_a_core and seen(world.plain)]
    assert not wrong, wrong


def flag(name, value):
    return f"--{name.replace('_', '-')}={value}"


def test_limits_that_no_call_names(world):
    check(world, DEFAULTS, {"executor": [flag(name, value) for name, value, _ in DEFAULTS]})


def test_caps_of_what_calls_may_ask(world):
    rows = [(name, value, python(rf"limit_exceeded.*{field}.*server's limit of {value}\b", "1", resource_limits={field: asked}))
            for name, value, _, field, asked in CAPS]
    rows.append(("max_session_ttl", "2000", shows("limit_exceeded.*2000", "create_session", ttl=3000)))
    flags = [flag(name, value) for name, value, _ in rows]
    check(world, rows, {"executor": [*flags, *(more for row in CAPS for more in row[2])]})


def test_other_forms_of_a_limit(world):
    rows = [("memory_limit", "64m", HOARDS), ("session_ttl_minutes", "2", session_lives(100, 120))]
    check(world, rows, {"executor": [flag(name, value) for name, value, _ in rows]})


def test_variables_of_replaced_systems(world):
    for rows in PYTHON_SANDBOX, MCP_CODE_SANDBOX, SANDBOXMCP:
        check(world, rows, env={name: value for name, value, _ in rows})


def test_variables_for_containers(world):
    needs_containers(world)
    for name, value in CONTAINERS:
        check(world, [(name, value, IN_CONTAINER)], env={name: value})


def with_file(world, rows):
    path = os.path.join(world.directory, "config.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(f"{name}: {value}\n" for name, value, _ in rows))
    check(world, rows, env={"CLOISTER_CONFIG": path})


def test_keys_of_a_flat_file(world):
    with_file(world, KEYS)


def test_keys_for_containers(world):
    needs_containers(world)
    with_file(world, KEYS_ALONE)


def test_arguments(world):
    for tool, others, argument, value, pattern in ARGUMENTS:
        assert shows(pattern, tool, **{**others, argument: value})(world.plain), (tool, argument, value)
        assert not shows(pattern, tool, **others)(world.plain), f"{tool} {argument}: the same without it"


def test_cores_of_a_call(world):
    world.plain.call("set_resource_limits", {"resource_limits": {"max_cpu_cores": 0.5}})
    assert at_most_half_a_core(world.plain)
    world.plain.call("set_resource_limits", {"resource_limits": {"max_cpu_cores": 1}})


def test_records_and_events_of_a_session(world):
    """Each reader gets what it asks for and nothing else."""
    one, other = (world.plain.call("create_session", {"namespace": name})["structuredContent"]["session_id"] for name in ("blue", "green"))
    until = time.monotonic() + 10
    for tool, items, more in ("audit_execution", "entries", {}), ("follow_events", "events", {"after": "0"}):
        for filters, wanted, unwanted in [({"session_id": one}, one, other), ({"namespace": "green"}, other, one)]:
            text = ""
            while wanted not in text:  # the log is written later
                assert time.monotonic() < until, (tool, filters, text)
                text = json.dumps(world.plain.call(tool, {**more, **filters})["structuredContent"][items])
            assert unwanted not in text, (tool, filters, text)


def ask(client, domain, **more):
    return str(client.call("request_egress", {"domain": domain, **more}))


def within(seconds, seen):
    until = time.monotonic() + seconds
    while not (done := seen()) and time.monotonic() < until:
        time.sleep(0.1)
    return done


def request_of(text):
    return re.search("approve ([0-9a-f]{16})`", text)[1]


def asked_anew_without_an_answer(cluster):
    """Whether a question that nobody answered is over, so that the same call asks another one."""
    first = request_of(ask(cluster, "a.example.com"))
    return within(4, lambda: request_of(ask(cluster, "a.example.com")) != first)


def asked_again_after_a_denial(cluster):
    assert operator(cluster, "deny", request_of(ask(cluster, "m.example.com"))).returncode == 0
    assert "approval_denied" in ask(cluster, "m.example.com")
    return within(4, lambda: "approval_required" in ask(cluster, "m.example.com"))


def users_cannot_answer(cluster):
    """Whether a client's user who accepts has no effect."""
    client = cluster.client("2025-11-25", capabilities={"elicitation": {}})
    waiting = client.begin("tools/call", {"name": "request_egress", "arguments": {"domain": "b.example.com"}})
    if within(3, lambda: any(one["method"] == "elicitation/create" for one in client.notifications)):
        question = next(one for one in client.notifications if one["method"] == "elicitation/create")
        client.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"decision": "once"}}})
    return waiting.result().get("structuredContent", {}).get("approved") is not True


def one_too_many(setting, *domains):
    return lambda cluster: setting in [ask(cluster, domain) for domain in domains][-1]


def operator(cluster, *words):
    env = {**cluster.env, "CLOISTER_RUN": cluster.run, "CLOISTER_STATE": cluster.state}
    return subprocess.run([os.path.join(cluster.bin, "cloister"), "egress", *words], env=env, capture_output=True, text=True, check=False)


def session_is_approved_for(hours):
    def seen(cluster):
        session = cluster.call("create_session")["structuredContent"]["session_id"]
        asked = request_of(ask(cluster, "c.example.com", session_id=session))
        done = operator(cluster, "approve", asked, "--session")
        assert done.returncode == 0, done
        state = cluster.call("request_egress", {"domain": "c.example.com", "session_id": session})["structuredContent"]
        return abs(state["until_ms"] / 1000 - time.time() - hours * 3600) < 60
    return seen


def far_days_are_refused(cluster):
    day = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=10)
    return "namespace_days" in operator(cluster, "d.example.com", f"--until={day:%Y-%m-%d}").stderr


APPROVALS = [
    [("approval_timeout_s", "2", asked_anew_without_an_answer), ("denial_s", "1", asked_again_after_a_denial),
     ("answer_by_elicitation", "false", users_cannot_answer)],
    [("session_hours", "1", session_is_approved_for(1)), ("namespace_days", "3", far_days_are_refused),
     ("max_pending", "1", one_too_many("max_pending", "e.example.com", "f.example.com"))],
    [("max_records", "2", one_too_many("max_records", "g.example.com", "h.example.com", "i.example.com"))],
    [("max_all_records", "2", one_too_many("max_all_records", "j.example.com", "k.example.com", "l.example.com"))],
]


def test_approvals(world):
    for rows in APPROVALS:
        check(world, rows, {"approvald": [flag(name, value) for name, value, _ in rows]})


def secrets_are_refused(pattern, *sizes):
    def seen(cluster):
        client, why = cluster.client(), ""
        for i, size in enumerate(sizes):
            try:
                client.request("cloister/vault/add", {"name": f"S{i}", "value": base64.b64encode(b"x" * size).decode()})
            except daemons.RpcError as error:
                why = error.message
        return re.search(pattern, why) is not None
    return seen


def makes_no_key(cluster):
    """Whether the vault keeps its secrets with a key that is not its own."""
    cluster.client().request("cloister/vault/add", {"name": "SEALED", "value": "c2VjcmV0LXNlY3JldA=="})
    cluster.restart("vault")
    names = [one["name"] for one in cluster.client().request("cloister/vault/list")["secrets"]]
    return "SEALED" in names and not os.path.exists(os.path.join(cluster.state, "vault", "vault.key"))


def test_vault(world):
    key = os.path.join(world.directory, "key")
    with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
        file.write(base64.b64encode(os.urandom(32)))
    for rows in [[("key_file", key, makes_no_key)], [("max_secrets", "1", secrets_are_refused("you have 1 secrets", 9, 9))],
                 [("max_bytes", "65536", secrets_are_refused("the vault is full", 40000, 40000))]]:
        check(world, rows, {"vault": [flag(name, value) for name, value, _ in rows]})


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return file.read().split()


def second_check_is_refused(cluster):
    client = cluster.client()
    slow = client.begin("tools/call", {"name": "validate_code", "arguments": {"code": "x=[1]\n" * 140000, "profile": "open"}})
    time.sleep(0.1)
    refused = "queue_full" in str(client.call("validate_code", {"code": "1"}))
    slow.result()
    return refused


CHECKS = [
    [("workers", "1", lambda cluster: len(children_of(cluster.pid("validator"))) == 1), ("max_waiting_each", "1", second_check_is_refused)],
    [("max_memory_mb", "64", shows("limit_exceeded.*too large to parse", "validate_code", code="x=[1]\n" * 40000, profile="strict"))],
]


def test_validator(world):
    for rows in CHECKS:
        check(world, rows, {"validator": [flag(name, value) for name, value, _ in rows]})


def short_failures(cluster):
    return len(json.dumps(cluster.client().call("execute_code", {"code": "print('y' * 50000)\n1 / 0"}))) < 15000


def task_of(cluster):
    client = cluster.client(flags=["--task-after-ms=200"], capabilities={"extensions": {"io.modelcontextprotocol/tasks": {}}})
    return client, client.call("execute_code", {"code": "import time\ntime.sleep(1)"})


def waits_once_a_result_is_kept(cluster):
    """Whether the second call waits for its program, because the result of the first is all that may be kept."""
    client, task = task_of(cluster)
    assert within(10, lambda: client.request("tasks/get", {"taskId": task["taskId"]})["status"] == "completed"), task
    return task_of(cluster)[1]["resultType"] == "complete"


def tasks_end_soon(cluster):
    client, task = task_of(cluster)
    assert task["resultType"] == "task", task

    def gone():
        try:
            return client.request("tasks/get", {"taskId": task["taskId"]}) is None
        except daemons.RpcError as error:
            return "no such task" in error.message
    return within(5, gone)


def test_results_and_tasks(world):
    check(world, [("error_bytes", "5000", short_failures)], {"gateway": ["--error-bytes=5000"]})
    check(world, [("task_ttl_ms", "1500", tasks_end_soon)], {"executor": ["--task-ttl-ms=1500"]})
    check(world, [("task_bytes", "1", waits_once_a_result_is_kept)], {"executor": ["--task-bytes=1"]})


def ends_although_a_program_runs(cluster):
    waiting = cluster.client().begin("tools/call", {"name": "execute_code", "arguments": {"code": "import time\nprint(1, flush=True)\ntime.sleep(5)"}}, progress=True)
    assert within(5, lambda: waiting.progress)
    began = time.monotonic()
    cluster.kill("executor", signal.SIGTERM)
    took = time.monotonic() - began
    cluster.restart("executor")
    return took < 3


def runs_as(name):
    def seen(cluster):
        with open(f"/proc/{cluster.pid('validator')}/status", encoding="ascii") as file:
            return f"Uid:\t{pwd.getpwnam(name).pw_uid}\t" in file.read()
    return seen


def spool_is_full(cluster):
    """Whether runs are refused, of which auditd, which is away, has not had the events."""
    cluster.kill("auditd")
    refused = any("the spool is full" in str(cluster.call("execute_code", {"code": "1"})["content"]) for _ in range(150))
    cluster.restart("auditd")
    return refused


def test_every_daemon(world):
    check(world, [("spool_bytes", "65536", spool_is_full)], {"executor": ["--spool-bytes=65536"]})
    check(world, [("drain_ms", "500", ends_although_a_program_runs)], {"executor": ["--drain-ms=500"]})
    if os.geteuid() == 0:
        check(world, [("user", "nobody", runs_as("nobody"))], {"validator": ["--user=nobody"]})


def test_an_instance_has_its_name(world):
    place = os.path.join(world.plain.run, daemons.SERVERS["validator"])
    command = [*world.plain.command("validator"), "--instance=second"]
    assert not os.path.exists(os.path.join(place, "second"))
    with open(os.devnull, "wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=world.plain.env)
    try:
        assert within(10, lambda: os.path.exists(os.path.join(place, "second"))), os.listdir(place)
    finally:
        daemons.Cluster.end(process, 10)


def test_one_that_does_not_stop_is_killed_in_time(world):
    cloister = Command(world.bin)
    cloister.env["CLOISTER_SUPERVISOR_STOP_S"] = "1"
    try:
        assert cloister("up").returncode == 0
        status = json.loads(cloister("status", "--json").stdout)
        os.kill(next(one["pid"] for one in status["daemons"] if one["name"] == "validator"), signal.SIGSTOP)
        began = time.monotonic()
        assert cloister("down").returncode == 0
        assert 0.5 < time.monotonic() - began < 8, time.monotonic() - began
    finally:
        cloister.close()


def test_in_the_foreground(world):
    cloister = Command(world.bin)
    process = subprocess.Popen([cloister.program, "up", "--foreground"], env=cloister.env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert "text" in json.loads(process.stderr.readline())  # it logs there
        assert within(20, lambda: json.loads(cloister("status", "--json").stdout).get("pid") == process.pid), cloister("status").stdout
        process.terminate()
        assert process.wait(30) == 0
    finally:
        daemons.Cluster.end(process, 10)
        process.stderr.close()
        cloister.close()


def needs_containers(world):
    if not python('"backend": "oci"', "1", use_container=True)(world.plain):
        raise cases.Skip("no containers here")


class World:
    """A set of daemons without any setting, and a directory that all daemons can read."""

    def __init__(self, bin, plain, directory):
        self.bin, self.plain, self.directory = bin, plain, directory


def main():
    with tempfile.TemporaryDirectory(prefix="cloister-effects-") as directory, daemons.Cluster(sys.argv[1]) as plain:
        os.chmod(directory, 0o755)
        counts = cases.play(sys.modules[__name__], World(sys.argv[1], plain, directory))
    cases.end(counts)


if __name__ == "__main__":
    main()
