# SPDX-License-Identifier: Apache-2.0
"""Daemons of a build, some of which are compromised (stand_in.c, raw_peer.c), and requirements on the others."""

import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import daemons  # noqa: E402
import far  # noqa: E402

SESSION = "sess_1_0123456789abcdef0123456789abcdef"
SNAPSHOT = "01234567-89ab-4def-8123-456789abcdef"
# Every tool, with arguments that the gateway accepts; hostile.py compares them with the list.
CALLS = {
    "execute_code": {"code": "print(1)", "language": "python"},
    "run_sandbox_code": {"code": "print(1)"},
    "sandbox_run_python": {"code": "print(1)"},
    "install_package": {"packages": ["six"]},
    "create_session": {"ttl": 60},
    "terminate_session": {"session_id": SESSION},
    "sandbox_close_session": {},
    "bridge_data": {"session_id": SESSION, "key": "k", "data": {"a": 1}},
    "sandbox_upload_file": {"filename": "a.txt", "content_base64": "eA=="},
    "sandbox_read_artifact": {"path": "a.txt"},
    "sandbox_list_artifacts": {},
    "get_artifacts": {"request_id": "exec_0123456789abcdef0123456789abcdef"},
    "list_runtimes": {},
    "get_sandbox_info": {},
    "set_resource_limits": {"resource_limits": {"max_ram_mb": 64}},
    "sandbox_stats": {},
    "inspect_state": {},
    "create_state_snapshot": {},
    "restore_state_snapshot": {"snapshot_id": SNAPSHOT},
    "list_state_snapshots": {},
    "describe_state_snapshot": {"snapshot_id": SNAPSHOT},
    "delete_state_snapshot": {"snapshot_id": SNAPSHOT},
    "register_schema": {"name": "a", "schema": {"type": "object"}},
    "list_schemas": {},
    "remove_schema": {"name": "a"},
    "validate_code": {"code": "import os"},
    "validate_csv_data": {"csv_content": "a,b\n1,2\n"},
    "validate_json_data": {"data": {"a": 1}, "schema_name_or_dict": {"type": "object"}},
    "audit_execution": {"limit": 5},
    "follow_events": {"limit": 5},
    "request_egress": {"domain": "b.test"},
}
URIS = ("sandbox://status", "sandbox://logs", f"sandbox://artifacts/{SESSION}/a.txt", f"sandbox://artifacts/{SESSION}",
        f"sandbox://sessions/{SESSION}", f"sandbox://snapshots/{SNAPSHOT}", "sandbox://audit/exec_1",
        "sandbox://schemas", "sandbox://schemas/a")
# Arguments with completions, and their templates.
COMPLETED = {"session_id": "sandbox://sessions/{session_id}", "snapshot_id": "sandbox://snapshots/{snapshot_id}",
             "execution_id": "sandbox://audit/{execution_id}"}


class Taken(daemons.Cluster):
    """taken: each compromised daemon, with the tricks that it always plays, or "" for any; raw: below the bus."""

    def __init__(self, bin, tests, taken, seed, raw=False, **more):
        super().__init__(bin, **more)
        self.tests, self.taken, self.seed, self.raw = tests, dict(taken), seed, raw

    # The place of that daemon's endpoints, in the form of line.h.
    def place(self, _name):
        return self.run

    def command(self, name):
        if name not in self.taken:
            return super().command(name)
        if self.raw:
            return [os.path.join(self.tests, "raw_peer"), name, self.place(name), self.taken[name]]
        return [os.path.join(self.tests, "stand_in"), name, self.place(name), str(self.seed), *self.taken[name].split()]

    def mend(self, name):
        """Replaces it with the real daemon."""
        process = self.processes.pop(name)
        os.killpg(process.pid, signal.SIGKILL)  # it has its own session; some raw peers have several processes
        process.wait()
        del self.taken[name]
        self.restart(name)

    def stop(self, timeout=20):
        for name in self.taken:
            if name in self.processes:
                os.killpg(self.processes[name].pid, signal.SIGKILL)
                self.processes.pop(name).wait()
        return super().stop(timeout)


class FarTaken(Taken, far.Far):
    """The same over TCP: the compromised daemon has the real one's key."""

    def __init__(self, bin, tests, taken, seed, **more):
        super().__init__(bin, tests, taken, seed, **more)
        self.keys = os.path.join(self.directory, "keys")
        subprocess.run([os.path.join(bin, "cloister-keys"), self.keys], check=True, stdout=subprocess.DEVNULL)
        for name, flags in far.flags(self.keys).items():
            self.flags[name] = [*self.flags.get(name, []), *flags]

    def place(self, name):
        return far.place(self.flags, name) + "," + self.keys

    def _wait_ready(self, name, timeout):
        if name not in self.taken:
            super()._wait_ready(name, timeout)


def peak_mb(pid):
    """The peak memory of a process."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def well(log, process, most_mb, log_bytes):
    """It runs, no sanitizer reported a fault, and it used neither too much memory nor too much log."""
    assert process.poll() is None, (process.poll(), log[-3000:])
    fault = daemons.FAULTS.search(log) or ("cannot happen" in log and log.index("cannot happen"))
    assert not fault, log[-6000:]
    assert peak_mb(process.pid) < most_mb, peak_mb(process.pid)
    assert len(log) < log_bytes, len(log)
