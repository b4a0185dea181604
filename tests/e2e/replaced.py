#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Settings of the replaced systems: each one takes effect, or one line of the gateway's log says what to use instead.

    replaced.py BIN

The lists are written from the documentation and the sources of these systems, not from the tables.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import peers  # noqa: E402

# Name, value, and the daemon and its line of --print-settings; None: a warning.
VARIABLES = [
    # python-sandbox
    ("SANDBOX_TIMEOUT", "11", "executor", "default_timeout: 11"),
    ("SANDBOX_MAX_OUTPUT_SIZE", "4096", "executor", "output_bytes: 4096"),
    ("SANDBOX_ENABLE_NETWORK", "false", "executor", "enable_network: false"),
    ("SANDBOX_ENABLE_FILESYSTEM", "false", "executor", "enable_filesystem: false"),
    ("SANDBOX_ENABLE_DATA_SCIENCE", "false", "executor", "enable_data_science: false"),
    ("SANDBOX_ALLOWED_IMPORTS", "math,json", "executor", "allowed_imports: 'math,json'"),
    ("SANDBOX_ENABLE_CONTAINER_MODE", "true", "executor", "container: true"),
    ("SANDBOX_CONTAINER_IMAGE", "python-sandbox:latest", None, None),
    ("SANDBOX_DEFAULT_MEMORY_LIMIT", "128m", "executor", "memory_limit: '128m'"),
    ("SANDBOX_API_TOKEN", "secret-0123456789", None, None),
    # mcp-code-sandbox
    ("SANDBOX_IMAGE", "llm-sandbox:latest", None, None),
    ("SANDBOX_MEMORY_LIMIT", "256m", "executor", "memory_limit: '256m'"),
    ("SANDBOX_CPU_LIMIT", "0.5", "executor", "cpu_cores: 0.5"),
    ("SANDBOX_EXEC_TIMEOUT_S", "12", "executor", "default_timeout: 12"),
    ("SANDBOX_SESSION_TTL_M", "9", "executor", "session_ttl_minutes: 9"),
    ("SANDBOX_MAX_SESSIONS", "10", "executor", "max_sessions: 10"),
    ("SANDBOX_MAX_UPLOAD_BYTES", "1000", "executor", "max_upload_bytes: 1000"),
    ("SANDBOX_MAX_OUTPUT_BYTES", "102400", "executor", "output_bytes: 102400"),
    ("SANDBOX_MAX_CODE_BYTES", "102400", "executor", "max_code_bytes: 102400"),
    ("SANDBOX_MAX_ARTIFACT_READ_BYTES", "1000", None, None),
    ("SANDBOX_HTTP_HOST", "127.0.0.1", None, None),
    ("SANDBOX_HTTP_PORT", "8080", None, None),
    ("SANDBOX_LOG_LEVEL", "DEBUG", "gateway", "log_level: 'debug'"),
    ("SANDBOX_LOG_LEVEL", "WARNING", "executor", "log_level: 'warn'"),
    ("SANDBOX_LOG_FILE", "logs/sandbox.log", None, None),
    ("SANDBOX_LOG_FORMAT", "json", None, None),
    # sandboxmcp
    ("SANDBOXMCP_BACKEND", "docker", "executor", "container: true"),
    ("SANDBOXMCP_MAX_CONCURRENT", "3", "executor", "max_concurrent: 3"),
    ("SANDBOXMCP_NETWORK", "true", None, None),
    ("SANDBOXMCP_HOST_ACCESS", "true", None, None),
    ("SANDBOXMCP_HOST_AUTO_APPROVE", "true", None, None),
    ("SANDBOXMCP_VAULT", "memory", "vault", "backends: 'memory'"),
    ("SANDBOXMCP_AUDIT", "sqlite", None, None),
    ("SANDBOXMCP_MAX_RAM_MB", "300", "executor", "memory_mb: 300"),
    ("SANDBOXMCP_TIMEOUT", "13", "executor", "default_timeout: 13"),
    ("SANDBOXMCP_SQLITE_PATH", "x.db", None, None),
    ("SANDBOXMCP_IMAGE", "python:3.11-slim", None, None),
    ("SANDBOXMCP_API_HOST", "0.0.0.0", None, None),
    ("SANDBOXMCP_API_PORT", "8000", None, None),
    ("SANDBOXMCP_API_KEYS", "secret-0123456789", None, None),
    ("SANDBOXMCP_API_CORS_ORIGINS", "*", None, None),
    ("SANDBOXMCP_CORS_ORIGINS", "*", None, None),
]

# Keys of sandboxmcp's flat YAML file: the arguments of SandboxFactory.create().
KEYS = [
    ("default_backend", "docker", "executor", "container: true"),
    ("max_concurrent_jobs", "3", "executor", "max_concurrent: 3"),
    ("enable_network", "false", None, None),
    ("allowed_domains", "[api.example.com]", None, None),
    ("enable_host_access", "false", None, None),
    ("host_auto_approve", "false", None, None),
    ("host_allowed_commands", "[ls]", None, None),
    ("host_blocked_commands", "[rm]", None, None),
    ("vault", "memory", "vault", "backends: 'memory'"),
    ("audit", "sqlite", None, None),
    ("redact_pii", "true", None, None),
    ("max_ram_mb", "300", "executor", "memory_mb: 300"),
    ("max_cpu_cores", "2", "executor", "cpu_cores: 2"),
    ("timeout_seconds", "13", "executor", "default_timeout: 13"),
    ("max_processes", "20", "executor", "processes: 20"),
    ("namespace", "prod", "gateway", "namespace: 'prod'"),
    ("namespace", "default", "gateway", "namespace: ''"),
    ("sqlite_path", "sandboxmcp.db", None, None),
    ("image", "python:3.11-slim", None, None),
    ("memory_limit", "256m", "executor", "memory_limit: '256m'"),
    ("cpu_period", "100000", None, None),
    ("cpu_quota", "50000", None, None),
    ("network_mode", "none", None, None),
    ("hardened", "true", None, None),
    ("workspace_path", "/tmp/x", None, None),
]


class Programs:
    """The programs, with an environment that has no setting."""

    def __init__(self, bin):
        self.bin, self.temporary = os.path.abspath(bin), tempfile.TemporaryDirectory(prefix="cloister-replaced-")
        self.directory = self.temporary.name
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("CLOISTER_", "SANDBOX"))}
        self.flags = ["--run=" + os.path.join(self.directory, "run"), "--state=" + os.path.join(self.directory, "state")]

    def config(self, text):
        path = os.path.join(self.directory, "config.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return "--config=" + path

    def run(self, program, *flags, **env):
        return subprocess.run([os.path.join(self.bin, program), *self.flags, *flags], env={**self.env, **env}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)

    def settings(self, daemon, *flags, **env):
        done = self.run("cloister-" + daemon, "--print-settings", *flags, **env)
        assert done.returncode == 0, done
        return [line.strip() for line in done.stdout.splitlines()]

    def warnings(self, *flags, **env):
        """(setting, advice) of each line that the gateway logs at its start."""
        done = self.run("cloister-gateway", *flags, **env)
        lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
        return [(line["setting"], line["instead"]) for line in lines if "instead" in line], done


def check(programs, name, value, daemon, line, flags, env):
    found, done = programs.warnings(*flags, **env)
    if line is None:
        assert [setting for setting, _ in found] == [name] and len(found[0][1]) > 20, (name, found, done)
        assert "secret-" not in done.stderr, done
        return
    assert found == [], (name, found)
    shown = programs.settings(daemon, *flags, **env)
    assert line in shown, (name, value, line)
    # A namespace of "default" is the same as none.
    assert line not in programs.settings(daemon) or value == "default", (name, "is the default")


def test_every_variable(programs):
    for name, value, daemon, line in VARIABLES:
        check(programs, name, value, daemon, line, [], {name: value})


def test_every_key_of_a_flat_file(programs):
    for name, value, daemon, line in KEYS:
        check(programs, name, value, daemon, line, [programs.config(f"{name}: {value}\n")], {})


def test_other_values(programs):
    assert "container: false" in programs.settings("executor", SANDBOXMCP_BACKEND="process")
    refused = programs.run("cloister-executor", "--print-settings", SANDBOXMCP_BACKEND="podman")
    assert refused.returncode == 2 and "podman" in refused.stderr, refused
    refused = programs.run("cloister-executor", "--print-settings", programs.config("max_ram: 3\n"))
    assert refused.returncode == 2 and "max_ram" in refused.stderr, refused


def test_one_file_serves_all_programs(programs):
    """A flat file may have sections of daemons, too; every daemon and the command accept all of it."""
    flag = programs.config("".join(f"{name}: {value}\n" for name, value, _, _ in KEYS if value != "default") +
                           "executor:\n  max_waiting: 7\n")
    for daemon in (*peers.RESIDENT, "gateway"):
        programs.settings(daemon, flag)
    assert "max_waiting: 7" in programs.settings("executor", flag)
    found, _ = programs.warnings(flag)
    assert sorted(setting for setting, _ in found) == sorted({name for name, _, daemon, _ in KEYS if daemon is None}), found


def test_up_warns_too(programs):
    env = {"SANDBOX_API_TOKEN": "secret-0123456789"}
    flags = ["up", "--foreground", "--state=/proc/none"]  # it warns, and then cannot start
    up = subprocess.run([os.path.join(programs.bin, "cloister"), *flags], env={**programs.env, **env}, capture_output=True,
                        text=True, timeout=60, check=False)
    assert up.returncode != 0 and up.stderr.count("SANDBOX_API_TOKEN") == 1 and "cloister token add" in up.stderr, up
    assert "secret-" not in up.stderr, up


def test_help_lists_the_variables(programs):
    shown = programs.run("cloister-executor", "--help").stdout
    listed = set(re.findall(r"\b(SANDBOX(?:MCP)?_[A-Z_]+)", shown))
    assert {name for name, _, daemon, _ in VARIABLES if daemon == "executor"} <= listed, listed


def main():
    cases.run(sys.modules[__name__], Programs(sys.argv[1]))


main()
