#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Settings that no other test sees at work, see ../effects.txt: what a call shows under each, and not without it.

    effects.py BIN
"""

import datetime
import json
import os
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402


def shows(pattern, tool="execute_code", **arguments):
    """Whether the result of this call has the pattern."""
    return lambda cluster: re.search(pattern, json.dumps(cluster.call(tool, arguments))) is not None


def python(pattern, code, **more):
    return shows(pattern, code=code, **more)


def at_most_half_a_core(cluster):
    """Of three runs, because on a busy machine one may get less than is its own."""
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
    wrong += [f"{name}: the same without it" for name, _, seen in rows if seen(world.plain)]
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
    assert not at_most_half_a_core(world.plain)


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
