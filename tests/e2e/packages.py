#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""install_package from an index of this test: what a session gets, what it never gets, and which requests are refused.

    packages.py BIN
"""

import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402
import shop  # noqa: E402
from index import wheel  # noqa: E402
from shop import INDEX, end_sessions, ENVIRONMENT, install, installed, out, refused, run, session_of, SESSIONS, still_works, version_in  # noqa: E402


# ---- what a session gets ----

def test_a_running_session_gets_a_package_and_what_it_needs(cluster):
    session = session_of(cluster)
    end = run(cluster, "x = 41\nimport hello", session)
    assert end["error"]["type"] == "ModuleNotFoundError", end
    got = installed(cluster, "hello-world", session=session)
    assert {name: (one["version"], one["asked"]) for name, one in got.items()} == {"hello-world": ("1.5", True), "base": ("1.0", False)}, got
    assert got["base"]["sha256"] == INDEX.sha256("base", "1.0") and got["base"]["size"] == len(INDEX.content("base", "1.0")), got
    assert out(cluster, "import hello; hello.main(); print(x + 1)", session) == "hello of 1.0\n42\n"
    seen = out(cluster, "import subprocess\nfor words in ['python3', '-c', 'import hello; hello.main()'], ['hello-cli'], ['python3', '-m', 'pip', 'list']:\n"
                        "    print(subprocess.run(words, capture_output=True, text=True).stdout)", session)
    assert seen.count("hello of 1.0\n") == 2 and re.search(r"^Hello.World +1\.5$", seen, re.M) and re.search(r"^base +1\.0$", seen, re.M), seen
    assert out(cluster, "import importlib.metadata as m; print(m.version('hello-world'))", session) == "1.5\n"


def test_a_new_session_gets_it_before_its_first_program(cluster):
    session = session_of(cluster)
    installed(cluster, "hello-world", session=session)
    assert out(cluster, "import hello; hello.main()", session) == "hello of 1.0\n"


def test_the_default_session(cluster):
    client = cluster.client(flags=["--namespace=packages"])
    end = client.call("install_package", {"packages": ["base==2.0"]})
    assert not end.get("isError") and end["structuredContent"]["notes"], end
    assert out(client, "import base; print(base.version)", end["structuredContent"]["session_id"]) == "2.0\n"


def test_other_languages_of_the_session_still_run(cluster):
    session = session_of(cluster)
    installed(cluster, "hello-world", session=session)
    assert out(cluster, "hello-cli", session, language="shell") == "hello of 1.0\n"
    end = cluster.call("execute_code", {"code": "console.log(1 + 1)", "session_id": session, "language": "node"})
    if "structuredContent" in end:
        assert end["structuredContent"]["stdout"] == "2\n", end


def test_a_second_session_gets_it_cached(cluster):
    first, second = session_of(cluster), session_of(cluster)
    installed(cluster, "hello-world", session=first)
    got = installed(cluster, "hello-world", session=second)
    assert all(one["cached"] for one in got.values()), got
    assert out(cluster, "import hello; hello.main()", second) == "hello of 1.0\n"


def test_versions(cluster):
    """A requirement in packages names versions; a later one replaces the earlier."""
    session = session_of(cluster)
    assert installed(cluster, "base<2", session=session)["base"]["version"] == "1.0"
    assert version_in(cluster, session) == "1.0"
    assert installed(cluster, "Base >= 2", session=session)["base"]["version"] == "2.0"
    assert version_in(cluster, session) == "2.0"
    assert installed(cluster, "base==1.0", session=session)["base"]["version"] == "1.0"
    assert version_in(cluster, session) == "1.0"
    code, text = refused(cluster, "base==7", session=session)
    assert code == "install_failed" and "base==7" in text, text
    assert version_in(cluster, session) == "1.0"


def test_packages_of_the_session_stay_as_they_are(cluster):
    session = session_of(cluster)
    installed(cluster, "base<2", session=session)
    assert refused(cluster, "needs-new", session=session)[0] == "install_failed"
    installed(cluster, "free", session=session)
    assert version_in(cluster, session) == "1.0"
    installed(cluster, "needs-new", "base", session=session)
    assert version_in(cluster, session) == "2.0"
    assert out(cluster, "import free, needs_new; print(free.x)", session) == "1\n"


def test_a_package_that_the_system_makes_at_the_start(cluster):
    """Debian's matplotlib has a .pth that does: an interpreter that runs, and a new one, import the package that was installed."""
    if not os.path.exists("/usr/lib/python3/dist-packages/mpl_toolkits/__init__.py"):
        raise cases.Skip("the system has no matplotlib")
    INDEX.add(wheel("toolkits", "1.0", {"mpl_toolkits/own.py": "x = 1\n", "toolkits.py": ""}))
    code = "import mpl_toolkits.own as own; print(own.__file__.startswith('/usr/local/'))"
    for early in True, False:
        session = session_of(cluster)
        if early:
            run(cluster, "x = 1", session)
        installed(cluster, "toolkits", session=session)
        assert out(cluster, code, session) == "True\n"
        assert out(cluster, f"python3 -c \"{code}\"", session, language="shell") == "True\n"


def test_after_the_end_of_the_interpreter(cluster):
    session = session_of(cluster)
    run(cluster, "x = 1", session)
    installed(cluster, "hello-world", session=session)
    for ending in "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "while True: pass":
        assert not run(cluster, ending, session, timeout=1)["success"]
        assert out(cluster, "import hello; hello.main()", session) == "hello of 1.0\n"


def test_a_run_names_its_packages(cluster):
    """In a session they stay; alone, the next run has none."""
    session = session_of(cluster)
    end = run(cluster, "import base; print(base.version)", session, packages=["base<2"])
    assert end["stdout"] == "1.0\n" and "Installed: base 1.0" in str(end["notes"]), end
    assert version_in(cluster, session) == "1.0"
    alone = {"code": "import base; print(base.version)"}
    for _ in range(2):
        assert cluster.call("execute_code", {**alone, "packages": ["base"]})["structuredContent"]["stdout"] == "2.0\n"
        assert "ModuleNotFoundError" in cluster.call("execute_code", alone)["structuredContent"]["stderr"]
    for where in {}, {"session_id": session}:
        end = cluster.call("execute_code", {**alone, **where, "packages": ["missing-package"]})
        assert end["isError"] and "install_failed" in end["content"][0]["text"] and "execution" not in end.get("structuredContent", {}), end
    assert version_in(cluster, session) == "1.0"


def test_lines_of_notebooks(cluster):
    """They install; one that fails is a note, and the program runs all the same."""
    session = session_of(cluster)
    assert out(cluster, "!pip install -q 'base<2'\nimport base\nprint(base.version)", session) == "1.0\n"
    end = run(cluster, "%pip install nowhere-to-be-found\nprint('ok')", session)
    assert end["stdout"] == "ok\n" and any(note.startswith("Not installed: ") for note in end["notes"]), end


def test_a_session_is_made_with_its_packages(cluster):
    made = cluster.call("create_session", {"packages": ["hello-world"]})
    SESSIONS.append(made["structuredContent"]["session_id"])
    assert out(cluster, "import hello; hello.main()", SESSIONS[-1]) == "hello of 1.0\n"
    def sessions():
        return [one["session_id"] for one in cluster.call("sandbox_stats")["structuredContent"]["sessions"]]
    before = sessions()
    failed = cluster.call("create_session", {"packages": ["missing-package"]})
    assert failed["isError"] and "install_failed" in failed["content"][0]["text"], failed
    assert sessions() == before, (before, sessions())


def test_the_answer_of_the_index_is_kept(cluster):
    """For another session, too; not when packages of the session make it another one."""
    first, second, third = (session_of(cluster) for _ in range(3))
    installed(cluster, "free", "base==2.0", session=first)
    before = len(INDEX.asked)
    assert all(one["cached"] for one in installed(cluster, "base==2.0", "free", session=second).values())
    assert len(INDEX.asked) == before and version_in(cluster, second) == "2.0", INDEX.asked[before:]
    installed(cluster, "base==1.0", session=third)
    assert refused(cluster, "needs-new", session=third)[0] == "install_failed"
    installed(cluster, "needs-new", session=first)
    assert refused(cluster, "needs-new", session=third)[0] == "install_failed"
    assert version_in(cluster, third) == "1.0"


# ---- what it does not get ----

def test_programs_cannot_change_them(cluster):
    session = session_of(cluster)
    installed(cluster, "hello-world", session=session)
    seen = json.loads(out(cluster, """
import ctypes, errno, json, os, glob
libc, seen = ctypes.CDLL(None, use_errno=True), {}
def attempt(name, go):
    try: go(); seen[name] = 'done'
    except OSError as error: seen[name] = errno.errorcode[error.errno]
def call(function, *words):
    if function(*words): raise OSError(ctypes.get_errno(), '')
site = glob.glob('/usr/local/lib/python3*/dist-packages')[0]
file = os.path.realpath(site + '/hello/__init__.py')
root = '/packages/' + file.split('/')[2]
for path in site + '/hello/__init__.py', file:
    attempt('write ' + path, lambda: open(path, 'r+'))
    attempt('unlink ' + path, lambda: os.unlink(path))
    attempt('chmod ' + path, lambda: os.chmod(path, 0o777))
for path in site, root, '/usr/local', '/packages':
    attempt('create ' + path, lambda: open(path + '/x', 'w'))
    attempt('mkdir ' + path, lambda: os.mkdir(path + '/y'))
    attempt('rename ' + path, lambda: os.rename(path, path + '2'))
attempt('replace', lambda: os.rename(site + '/hello', site + '/other'))
for path in root, '/usr/local':
    at = path.encode()
    attempt('umount ' + path, lambda: call(libc.umount2, at, 2))
    attempt('remount ' + path, lambda: call(libc.mount, None, at, None, 32 | 4096, None))
    attempt('mount ' + path, lambda: call(libc.mount, b'/workspace', at, None, 4096, None))
print(json.dumps(seen))
""", session))
    wrong = {name: got for name, got in seen.items() if got not in ("EROFS", "EPERM", "EACCES", "ENOSYS", "EBUSY", "EXDEV")
             and not (got == "ENOENT" and "umount" in name)}
    assert len(seen) == 25 and not wrong, (wrong, seen)
    assert out(cluster, "import hello; hello.main()", session) == "hello of 1.0\n"


def test_another_session_sees_nothing(cluster):
    """Only the session of session_id gets the packages."""
    with_it, without = session_of(cluster), session_of(cluster)
    installed(cluster, "hello-world", session=with_it)
    seen = out(cluster, "import glob, os; print(sum(len(os.listdir(d)) for d in glob.glob('/packages/*')), os.listdir('/usr/local'), len(os.listdir('/packages')) > 0)", without)
    assert seen == "0 [] True\n", seen
    assert run(cluster, "import hello", without)["error"]["type"] == "ModuleNotFoundError"
    assert out(cluster, "import glob, os; print(sum(len(os.listdir(d)) > 0 for d in glob.glob('/packages/*')))", with_it) == "2\n"


def test_they_are_no_files_of_the_session(cluster):
    session = session_of(cluster)
    run(cluster, "open('own.txt', 'w').write('x')", session)
    installed(cluster, "hello-world", session=session)
    assert out(cluster, "import os; print(os.listdir('/workspace'))", session) == "['own.txt']\n"
    listed = json.dumps(cluster.call("sandbox_list_artifacts", {"session_id": session}))
    assert "own.txt" in listed and "hello" not in listed and "base" not in listed, listed
    end = run(cluster, "import hello; hello.main()", session)
    assert not end.get("artifacts"), end


def events(cluster, session):
    entries = cluster.call("audit_execution", {"limit": 1000, "event": "package.installed"})["structuredContent"]["entries"]
    return [entry["event"]["detail"] for entry in entries if entry["event"].get("session_id") == session]


def test_the_audit_log_has_what_was_installed_and_nothing_else(cluster):
    session = session_of(cluster)
    refused(cluster, "twin-a", "twin-b", session=session)
    installed(cluster, "hello-world", session=session)
    wanted = {f"hello-world 1.5 sha256:{INDEX.sha256('hello-world', '1.5')}", f"base 1.0 sha256:{INDEX.sha256('base', '1.0')}"}
    until = time.monotonic() + 10
    while not wanted <= set(seen := events(cluster, session)):  # the log is written later
        assert time.monotonic() < until, seen
        time.sleep(0.05)
    assert set(seen) == wanted and len(seen) == 2, seen


# ---- requests ----

def test_what_is_no_requirement(cluster):
    session = session_of(cluster)
    before = len(INDEX.asked)
    for wrong in ("base @ http://elsewhere.test/base-1.0-py3-none-any.whl", "http://elsewhere.test/x.whl", "./base", "/workspace", "/etc/passwd", "..", ".",
                  "--index-url=http://elsewhere.test", "-r/etc/passwd", "-e.", "base\n--pre", "base --pre", "base\x00", "base; os_name", "git+https://elsewhere.test/x",
                  "b\u00e4se", "@base", " ", "a" * 256):
        code, text = refused(cluster, wrong, session=session)
        assert code == "invalid_argument", (wrong, text)
    for wrong in [], ["a" * 10000], [""], ["base"] * 65, "base", [1]:
        end = cluster.call("install_package", {"packages": wrong, "session_id": session})
        assert end.get("isError") and any(code in end["content"][0]["text"] for code in ("invalid_argument", "limit_exceeded")), (str(wrong)[:100], str(end)[:500])
    assert len(INDEX.asked) == before, INDEX.asked[before:]
    assert refused(cluster, "base", session=session, language="shell")[0] == "invalid_argument"
    still_works(cluster, session)


def test_a_name_that_looks_like_a_misspelling(cluster):
    INDEX.add(wheel("numpyy", "1.0", {"numpyy.py": ""}))
    session, before = session_of(cluster), len(INDEX.asked)
    code, text = refused(cluster, "numpyy", session=session)
    assert code == "invalid_argument" and "numpy" in text and len(INDEX.asked) == before, text
    assert installed(cluster, "numpyy", session=session, unusual_names=True)["numpyy"]["version"] == "1.0"


def test_two_at_once_into_one_session(cluster):
    session = session_of(cluster)
    INDEX.add(wheel("slow", "1.0", {"slow.py": ""}))
    with INDEX.holds("/simple/slow/") as held:
        first = cluster.client().begin("tools/call", {"name": "install_package", "arguments": {"packages": ["slow"], "session_id": session}})
        assert held.wait(20)
        code, text = refused(cluster, "base", session=session)
        assert code == "session_busy", text
        end = cluster.call("execute_code", {"code": "1", "packages": ["base"], "session_id": session})
        assert end.get("isError") and "session_busy" in end["content"][0]["text"], end
        assert out(cluster, "print(1)", session) == "1\n"  # a program need not wait
    assert not first.result().get("isError")
    installed(cluster, "base==1.0", session=session)
    assert out(cluster, "import base, slow; print(base.version)", session) == "1.0\n"


def test_sessions_beside_each_other(cluster):
    INDEX.add(wheel("crowd", "1.0", {"crowd.py": ""}))
    sessions = [session_of(cluster) for _ in range(3)]
    clients = [cluster.client() for _ in sessions]
    waiting = [client.begin("tools/call", {"name": "install_package", "arguments": {"packages": ["crowd"], "session_id": session}})
               for client, session in zip(clients, sessions)]
    for one, session in zip(waiting, sessions):
        assert not (end := one.result()).get("isError"), end
        assert out(cluster, "import crowd; print(1)", session) == "1\n"


def test_one_principal_leaves_room_for_others(cluster):
    """Its fourth installation at once is refused; the first ones end as usual."""
    INDEX.add(wheel("queue", "1.0", {"queue_.py": ""}))
    sessions = [session_of(cluster) for _ in range(3)]
    clients = [cluster.client() for _ in sessions]
    with INDEX.holds("/simple/queue/") as held:
        first = [client.begin("tools/call", {"name": "install_package", "arguments": {"packages": ["queue"], "session_id": session}})
                 for client, session in zip(clients, sessions)]
        assert all(held.wait(20) for _ in first)
        end = install(cluster, "queue", session=session_of(cluster))
        assert "queue_full" in str(end) and "3 of your installations" in str(end), end
    for one in first:
        assert not (end := one.result()).get("isError"), end


def test_requirements_of_the_workspace(cluster):
    session = session_of(cluster)
    code, text = refused(cluster, session=session, from_workspace=True)
    assert "not_found" in text and "requirements.txt: there is no such file" in text, text
    run(cluster, "open('requirements.txt', 'w').write('# what it needs\\nbase<2  # old\\n')", session)
    assert installed(cluster, session=session, from_workspace=True)["base"]["version"] == "1.0"
    assert version_in(cluster, session) == "1.0"
    run(cluster, "open('requirements.txt', 'w').write('base\\n-r other.txt\\n')", session)
    code, text = refused(cluster, session=session, from_workspace=True)
    assert code == "invalid_argument" and "line 2" in text, text
    code, text = refused(cluster, session=session)
    assert code == "invalid_argument" and "from_workspace" in text, text


def check_no_place(cluster, code):
    """The reply does not claim what programs will not find."""
    for session in {}, {"session_id": session_of(cluster)}:
        end = cluster.call("install_package", {"packages": ["base"], **session})
        assert end["isError"] and code in end["content"][0]["text"] and "/usr/local of the host" in end["content"][0]["text"], end
        assert cluster.call("execute_code", {"code": "print(1)", **session})["structuredContent"]["stdout"] == "1\n"
    end_sessions(cluster)


def test_a_server_without_a_place_for_packages(cluster):
    for flag, code in ("--usr-local=true", "isolation_unavailable"), ("--runtimes=mine .mine /usr/local/bin/mine", "install_failed"), ("--packages=false", "denied"):
        flags = {**cluster.flags, "executor": [*cluster.flags["executor"], flag]}
        with daemons.Cluster(cluster.bin, env=ENVIRONMENT, flags=flags, user=cluster.user) as other:
            if code == "denied":
                assert "denied" in str(install(other, "base", session=session_of(other))["content"])
                end_sessions(other)
            else:
                check_no_place(other, code)


if __name__ == "__main__":
    shop.play(sys.modules[__name__], sys.argv[1])
