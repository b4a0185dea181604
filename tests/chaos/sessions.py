#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions of two principals while the executor and its builder are killed: files survive and stay separate, running
programs are lost and reported as lost, and no resource grows.

    sessions.py BIN ASKER
"""

import contextlib
import fcntl
import itertools
import os
import pwd
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import index  # noqa: E402
import journal  # noqa: E402
import registry  # noqa: E402
import users  # noqa: E402
from household import children, household, wait_for  # noqa: E402
from keeper import Asker, Refused  # noqa: E402

ROUNDS, ROUNDS_MORE = 20, 5  # the supervisor waits longer after each failure of a daemon
LOST = "interpreters of this session were lost"
# Codes that a call may get while one executor ends and the next starts.
AWAY = {"unavailable"}


# None: only root may read it for a process that is not dumpable.
def entries(directory):
    try:
        return len(os.listdir(directory))
    except PermissionError:
        return None


def lines(path):
    try:
        with open(path, encoding="utf-8") as file:
            return len(list(file))
    except PermissionError:
        return None


class House:
    """Daemons under a supervisor, and a client that uses the gateway's name and acts for any principal."""

    def __init__(self, home, asker):
        self.home = home
        with open(os.path.join(home.directory, "asker.log"), "ab") as log:
            self.asker = Asker([asker, "--run=" + home.run, "--state=" + home.state, "--connect-wait-ms=20000"], home.env,
                               log, **home.identity)

    def ask(self, message, request, principal):
        """Repeats the request while no executor answers."""
        end = time.monotonic() + 30
        while True:
            try:
                return self.asker.ask(message, request, principal=principal)
            except Refused as refused:
                if refused.code not in AWAY or time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def run(self, code, session, principal):
        reply = self.ask("execute_code", {"code": code, "session_id": session}, principal)
        return reply.get("stdout", "") + reply.get("stderr", ""), " ".join(reply.get("notes", []))

    def refusal(self, message, request, principal):
        try:
            reply = self.ask(message, request, principal)
        except Refused as refused:
            return refused.code
        raise AssertionError(f"{message} was answered: {reply}")

    def layers(self):
        """The sandbox slot that each builder tries first."""
        return self.ask("get_sandbox_info", {"detail": False}, "ann")["isolation"]

    def executor(self):
        return self.home.wait_ready() and self.home.daemon("executor")["pid"]

    def builder(self):
        """The processes below the one that waits for their end."""
        return children(children(self.executor())[0])[0]

    def counts(self):
        """Descriptors of the processes that keep resources, and mounts of the builder."""
        supervisor, executor, builder = self.home.status()["pid"], self.executor(), self.builder()
        return [*(entries(f"/proc/{pid}/fd") for pid in (supervisor, executor, builder)), lines(f"/proc/{builder}/mountinfo")]


@contextlib.contextmanager
def house(bin, asker, user=None, env=None):
    with household(bin, user) as home:
        home.env.update(env or {})
        assert home.cloister("up").returncode == 0
        home.wait_ready()
        there = House(home, asker)
        try:
            yield there
        finally:
            there.asker.close()


def kill_executor(there):
    os.kill(there.executor(), signal.SIGKILL)


def kill_builder(there):
    os.kill(there.builder(), signal.SIGKILL)


def kill_both(there):
    executor, builder = there.executor(), there.builder()
    os.kill(executor, signal.SIGSTOP)  # otherwise it might see the builder's end, and exit first
    os.kill(builder, signal.SIGKILL)
    os.kill(executor, signal.SIGKILL)


def kill_keeper(there):
    os.kill(children(there.executor())[0], signal.SIGKILL)


def ask_to_end(there):
    os.kill(there.executor(), signal.SIGTERM)


DEATHS = (kill_executor, kill_builder, kill_both, kill_keeper, ask_to_end)


def kill_egress(there):
    os.kill(there.home.daemon("egress")["pid"], signal.SIGKILL)


def die(there, death):
    daemon = "egress" if death is kill_egress else "executor"
    before = there.home.wait_ready() and there.home.daemon(daemon)["pid"]
    death(there)
    wait_for(lambda: there.home.daemon(daemon).get("pid") not in (None, before), f"the next {daemon}")


def settled(there):
    """The counts after they are stable for a while: sandboxes made ahead come and go."""
    last, since = there.counts(), time.monotonic()
    while time.monotonic() - since < 0.5:
        time.sleep(0.05)
        counts = there.counts()
        if counts != last:
            last, since = counts, time.monotonic()
    return last


def groups(there):
    """The cgroup directories of all its sandboxes, one per hierarchy."""
    directory, links = f"/proc/{there.builder()}/fd", []
    for fd in os.listdir(directory):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            links.append(os.readlink(os.path.join(directory, fd)))
    return {path for path in links if os.path.basename(path).startswith("cloister-")}


def take(path):
    """Takes the lock like a builder; returns the descriptor."""
    os.mkdir(path)
    held = os.open(path, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return held


def check_files_stay(bin, asker, user, rounds):
    with house(bin, asker, user) as there:
        sessions = {who: there.ask("create_session", {}, who)["session_id"] for who in ("ann", "bob")}
        for who, session in sessions.items():
            out, _ = there.run(f"open('whose', 'w').write('{who}'); x = 1; print(x)", session, who)
            assert out == "1\n", out
        base, layers = None, there.layers()
        for turn in range(rounds):
            die(there, DEATHS[turn % len(DEATHS)])
            assert there.layers() == layers, (turn, there.layers(), layers)
            for who, session in sessions.items():
                # The first program after a restart gets a note. It has the files but no earlier variables.
                out, notes = there.run("print(open('whose').read()); print('x' in globals())", session, who)
                assert out == f"{who}\nFalse\n", (turn, out)
                assert LOST in notes, (turn, notes)
                out, notes = there.run(f"x = {turn}; open('turn', 'a').write('{turn} '); print(open('turn').read())",
                                       session, who)
                assert out == " ".join(map(str, range(turn + 1))) + " \n", (turn, out)
                assert LOST not in notes, notes
                other = "bob" if who == "ann" else "ann"
                assert there.refusal("sandbox_list_artifacts", {"session_id": session}, other) == "not_found"
            base = base or settled(there)
        after = settled(there)
        assert after == base, f"descriptors of supervisor, executor, builder; mounts: {base} before, {after} after"
        events = [r.event for r in journal.read(os.path.join(there.home.state, "auditd", "audit.log"))[0]]
        resumed = [e["session_id"] for e in events if e["event"] == "session.resumed"]
        assert {s: resumed.count(s) for s in sessions.values()} == dict.fromkeys(sessions.values(), rounds), resumed
        for who, session in sessions.items():
            there.ask("terminate_session", {"session_id": session}, who)
        die(there, kill_executor)
        for who, session in sessions.items():
            assert there.refusal("sandbox_list_artifacts", {"session_id": session}, who) == "session_expired"
        print(f"{rounds} restarts; descriptors of supervisor, executor, builder, and mounts: {base}, then {after}")


def test_files_stay(bin, asker):
    check_files_stay(bin, asker, None, ROUNDS)


def test_files_stay_with_an_ordinary_user(bin, asker):
    if os.getuid() != 0:
        raise cases.Skip("only root can become an ordinary user; the case before was that")
    check_files_stay(bin, asker, pwd.getpwnam("nobody").pw_uid, ROUNDS_MORE)


def test_sessions_end_when_the_groups_are_gone(bin, asker):
    """A builder that cannot see the lock of a slot may take its groups between two builders, and gives the same uids
    then. The next builder uses other groups and other uids; workspaces that belong to the old ones are dropped."""
    if os.getuid() != 0:
        raise cases.Skip("only root may look at what a builder holds")
    with house(bin, asker) as there:
        session = there.ask("create_session", {}, "ann")["session_id"]
        there.run("open('whose', 'w').write('ann')", session, "ann")
        before, executor, supervisor = groups(there), there.executor(), there.home.status()["pid"]
        os.kill(supervisor, signal.SIGSTOP)
        try:
            os.kill(executor, signal.SIGKILL)
            wait_for(lambda: not any(map(os.path.exists, before)), "the end of its groups")
            held = {path: take(path) for path in before}
        finally:
            os.kill(supervisor, signal.SIGCONT)
        wait_for(lambda: there.home.daemon("executor").get("pid") not in (None, executor), "the next executor")
        refused = there.refusal("sandbox_list_artifacts", {"session_id": session}, "ann")
        session = there.ask("create_session", {}, "ann")["session_id"]
        out, _ = there.run("print('again')", session, "ann")
        after = groups(there)
        for path, fd in held.items():
            os.rmdir(path)
            os.close(fd)
        assert refused == "session_expired", refused
        assert out == "again\n" and len(after) == len(before) and not after & before, (out, before, after)


def served_shop():
    """An index, and the environment of daemons that use it."""
    shop = index.Index()
    shop.serve()
    return shop, {"PIP_INDEX_URL": f"http://index.test:{shop.port}/simple", "PIP_EXTRA_INDEX_URL": "",
                  "npm_config_registry": f"http://index.test:{shop.port}/npm/",
                  "CLOISTER_EGRESS_RESOLVER": f"{index.HOST}:{shop.dns_port}", "CLOISTER_EGRESS_ALLOWED_NETWORKS": f"{index.HOST}/32"}


def check_packages(there, shop, session, turn, death):
    """An installation during which everything ends; then the session has its files, and no package or all of them."""
    package = f"fresh{turn}"
    shop.add(index.wheel(package, "1.0", {f"{package}.py": ""}, requires=["base"]))
    with shop.holds(f"/files/{package}-1.0-py3-none-any.whl" if turn % 2 else f"/simple/{package}/") as held:
        running = there.asker.begin("install_package", {"packages": [package], "session_id": session}, principal="ann")
        assert held.wait(20)
        if turn > 1:
            held.release()
            time.sleep(0.1 * turn)
        die(there, death)
    with contextlib.suppress(Refused):
        there.asker.wait(running)
    code = "import importlib.util as u; print(open('whose').read(), [n for n in ('base', 'hello', '{}') if u.find_spec(n)])"
    out, notes = there.run(code.format(package), session, "ann")
    assert out == "ann []\n" and LOST in notes and "Its packages are lost, too" in notes, (death.__name__, out, notes)
    there.ask("install_package", {"packages": [package], "session_id": session}, "ann")
    out, _ = there.run(code.format(package), session, "ann")
    assert out == f"ann ['base', '{package}']\n", (death.__name__, out)


def test_packages_are_whole_or_gone(bin, asker):
    """The files of a session outlive an executor; its packages do not, and are installed again."""
    shop, env = served_shop()
    shop.add(index.wheel("base", "1.0", {"base.py": ""}))
    with house(bin, asker, env=env) as there:
        session = there.ask("create_session", {}, "ann")["session_id"]
        there.run("open('whose', 'w').write('ann')", session, "ann")
        there.ask("install_package", {"packages": ["base"], "session_id": session}, "ann")
        for turn, death in enumerate(DEATHS):
            check_packages(there, shop, session, turn, death)


# What is in the tree, and what a program gets that requires all of it.
TREE = """
import os, subprocess
print(open('whose').read(), [name for name in sorted(os.listdir('/node_modules')) if name[0] != '.'],
      subprocess.run(['node', '-p', 'require("{0}")'], capture_output=True, text=True).stdout.strip())
"""


def check_tree(there, shop, package, death, held_path, after):
    """An installation during which everything ends, or egress alone: the tree is the new one, the one before, or none."""
    session = there.ask("create_session", {}, "ann")["session_id"]
    there.run("open('whose', 'w').write('ann')", session, "ann")
    request, answered = {"packages": [package], "session_id": session, "language": "node"}, False
    there.ask("install_package", {**request, "packages": ["base"]}, "ann")
    with shop.holds(held_path) as held:
        running = there.asker.begin("install_package", request, principal="ann")
        assert held.wait(20), held_path
        if after is not None:
            held.release()
            time.sleep(after)
        die(there, death)
    with contextlib.suppress(Refused):
        there.asker.wait(running)
        answered = True
    out, notes = there.run(TREE.format(package), session, "ann")
    whole = f"ann ['base', '{package}'] whole\n"
    wanted = "ann [] \n" if death is not kill_egress else whole if answered else "ann ['base'] \n"
    assert out == wanted and (death is kill_egress or LOST in notes), (death.__name__, held_path, after, answered, out, notes)
    there.ask("install_package", request, "ann")
    out, _ = there.run(TREE.format(package), session, "ann")
    assert out == whole, (death.__name__, out)
    there.ask("terminate_session", {"session_id": session}, "ann")


def test_trees_of_node_are_whole_or_gone(bin, asker):
    """The same for a tree that npm makes; egress may end alone, and then the session keeps what it had."""
    shop, env = served_shop()
    sold = registry.Registry(shop)
    sold.add("base", "1.0.0", {"index.js": "module.exports = 'whole';\n"})
    with house(bin, asker, env=env) as there:
        for turn, (death, after) in enumerate(itertools.product((kill_egress, kill_builder, kill_executor), (None, None, 0.4))):
            package = f"fresh{turn}"
            sold.add(package, "1.0.0", {"index.js": "module.exports = require('base');\n"}, {"dependencies": {"base": "^1"}})
            check_tree(there, shop, package, death, (f"/npm/{package}", f"/files/{package}-1.0.0.tgz")[turn % 2], after)


def test_programs_that_ran_are_gone(bin, asker):
    """A program that ran when everything was killed does not go on writing beside the next one."""
    with house(bin, asker) as there:
        session = there.ask("create_session", {}, "ann")["session_id"]
        code = ("import subprocess, time\nsubprocess.Popen(['sh', '-c', 'while :; do date +%s%N > beat; done'])\n"
                "time.sleep({})")
        for death in DEATHS[:-1]:
            there.run(code.format(0.1), session, "ann")
            running = there.asker.begin("execute_code", {"code": code.format(60), "session_id": session},
                                        principal="ann")
            time.sleep(0.3)
            die(there, death)
            with contextlib.suppress(Refused):
                there.asker.wait(running)
            out, _ = there.run("import time; a = open('beat').read(); time.sleep(0.5); print(a == open('beat').read())",
                               session, "ann")
            assert out == "True\n", (death.__name__, out)


def test_time_goes_on(bin, asker):
    with house(bin, asker) as there:
        began = time.monotonic()
        short = there.ask("create_session", {"ttl": 4}, "ann")["session_id"]
        long = there.ask("create_session", {"ttl": 60}, "ann")["session_id"]
        die(there, kill_both)
        assert there.ask("sandbox_list_artifacts", {"session_id": long}, "ann")["artifacts"] == []
        time.sleep(max(0, began + 6 - time.monotonic()))
        assert there.refusal("sandbox_list_artifacts", {"session_id": short}, "ann") == "session_expired"
        assert there.ask("sandbox_list_artifacts", {"session_id": long}, "ann")["artifacts"] == []


def test_without_a_keeper_sessions_end(bin, asker):
    """The supervisor's kept resources end with it; the next supervisor starts with nothing."""
    with house(bin, asker) as there:
        session = there.ask("create_session", {}, "ann")["session_id"]
        supervisor = there.home.status()["pid"]
        os.kill(supervisor, signal.SIGKILL)
        wait_for(lambda: not there.home.alive(), "the daemons' end")
        assert there.home.cloister("up").returncode == 0
        assert there.refusal("sandbox_list_artifacts", {"session_id": session}, "ann") == "session_expired"


def main():
    if os.getuid() == 0:
        users.need_root_and_users()
    cases.run(sys.modules[__name__], *sys.argv[1:])


main()
