#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""install_package from an index of this test: what a session gets, what it never gets, and what a hostile index or wheel, or
the end of a daemon in the middle, leaves behind.

    packages.py BIN
"""

import contextlib
import json
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402
import index  # noqa: E402
from index import wheel  # noqa: E402

PACKAGE_MB = 16
CODES = ("install_failed", "invalid_argument", "session_busy", "cancelled", "unavailable", "limit_exceeded")
INDEX = index.Index()
SESSIONS = []
ENVIRONMENT = {"PIP_INDEX_URL": f"http://user:secret@index.test:{INDEX.port}/simple", "PIP_EXTRA_INDEX_URL": ""}


def publish():
    for version in "1.0", "2.0":
        INDEX.add(wheel("base", version, {"base.py": f"version = {version!r}\n"}))
    INDEX.add(wheel("Hello.World", "1.5", {
        "hello/__init__.py": "import base\ndef main():\n    print('hello of', base.version)\n",
        "hello/data.txt": "text"}, requires=["base<2"], scripts={"hello-cli": "hello:main"}))
    INDEX.add(wheel("free", "1.0", {"free.py": "x = 1\n"}))
    INDEX.add(wheel("needs_new", "1.0", {"needs_new.py": ""}, requires=["base>=2"]))


def install(client, *packages, session, **more):
    return client.call("install_package", {"packages": list(packages), "session_id": session, **more})


def installed(client, *packages, session, **more):
    """The packages of a reply, by name."""
    end = install(client, *packages, session=session, **more)
    assert not end.get("isError"), end
    return {one["name"]: one for one in end["structuredContent"]["packages"]}


def refused(client, *packages, session, **more):
    """Code and text of an error."""
    end = install(client, *packages, session=session, **more)
    assert end.get("isError"), end
    text = end["content"][0]["text"]
    return next((code for code in CODES if code in text), None), text


def session_of(client):
    SESSIONS.append(client.call("create_session")["structuredContent"]["session_id"])
    return SESSIONS[-1]


def end_sessions(cluster):
    """A principal may have some only."""
    while SESSIONS:
        cluster.call("terminate_session", {"session_id": SESSIONS.pop()})


def run(client, code, session, **more):
    end = client.call("execute_code", {"code": code, "session_id": session, **more})
    assert "structuredContent" in end, end
    return end["structuredContent"]


def out(client, code, session, **more):
    end = run(client, code, session, **more)
    assert end["success"], end
    return end["stdout"]


def version_in(client, session):
    """The version of `base` that a new statement and a new process find, or None: both must agree."""
    seen = out(client, """
import importlib, subprocess, sys
for name in 'base', 'hello': sys.modules.pop(name, None)
def found():
    try: return importlib.import_module('base').version
    except ModuleNotFoundError: return None
print([found(), eval(subprocess.run(['python3', '-c', 'try: import base; print(repr(base.version))\\nexcept ModuleNotFoundError: print(None)'],
       capture_output=True, text=True).stdout)])
""", session)
    here, there = json.loads(seen.replace("'", '"').replace("None", "null"))
    assert here == there, seen
    return here


def still_works(client, session=None):
    """An installation after all that."""
    session = session or session_of(client)
    assert installed(client, "base==1.0", session=session)["base"]["version"] == "1.0"
    assert version_in(client, session) == "1.0"


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
    assert refused(cluster, "base", session=session, language="node")[0] == "invalid_argument"
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
    sessions = [session_of(cluster) for _ in range(4)]
    clients = [cluster.client() for _ in sessions]
    waiting = [client.begin("tools/call", {"name": "install_package", "arguments": {"packages": ["crowd"], "session_id": session}})
               for client, session in zip(clients, sessions)]
    for one, session in zip(waiting, sessions):
        assert not (end := one.result()).get("isError"), end
        assert out(cluster, "import crowd; print(1)", session) == "1\n"


# ---- hostile indexes ----

def fails(cluster, package, *words, code="install_failed"):
    """It fails with these words, and the session keeps what it had."""
    session = session_of(cluster)
    installed(cluster, "base==1.0", session=session)
    got, text = refused(cluster, package, session=session)
    assert got == code and any(word in text for word in words), text
    assert version_in(cluster, session) == "1.0"
    assert out(cluster, "import glob, os; print(sum(len(os.listdir(d)) > 0 for d in glob.glob('/packages/*')))", session) == "1\n"
    return text


def test_a_digest_that_does_not_match(cluster):
    INDEX.add(wheel("forged", "1.0", {"forged.py": ""}), digest="0" * 64)
    fails(cluster, "forged", "DO NOT MATCH THE HASHES")


def test_no_such_package(cluster):
    fails(cluster, "missing-package", "missing-package")


def test_source_only(cluster):
    """Its setup.py would write to the workspace, and ask the index for a name."""
    INDEX.add_source("sourced", "1.0", "import urllib.request\nurllib.request.urlopen('http://index.test:%d/ran')\n" % INDEX.port)
    fails(cluster, "sourced", "sourced")
    assert not [path for path in INDEX.asked if "ran" in path or path.endswith(".tar.gz")], INDEX.asked


def test_other_hosts(cluster):
    """The network of the box that fetches has the index only."""
    INDEX.redirects["/simple/moved/"] = f"http://elsewhere.test:{INDEX.port}/simple/base/"
    INDEX.add(wheel("linked", "1.0", {"linked.py": ""}), host="elsewhere.test")
    before = len(INDEX.asked)
    for package in "moved", "linked":
        fails(cluster, package, "the network refused elsewhere.test", code="unavailable")
    assert "elsewhere.test" not in str(INDEX.hosts) and ("elsewhere.test", 1) not in INDEX.questions, (INDEX.hosts, INDEX.questions)
    assert before < len(INDEX.asked)


def test_pages_that_are_no_pages(cluster):
    INDEX.pages["/simple/noise/"] = os.urandom(100000)
    INDEX.pages["/simple/odd/"] = b"<a href='../../../../etc/passwd'>odd-1.0-py3-none-any.whl</a><a href='file:///etc/passwd'>odd-1.1-py3-none-any.whl</a>" \
                                  b"<a href='http://[::1/odd-1.2-py3-none-any.whl'>odd-1.2-py3-none-any.whl</a>"
    for package in "noise", "odd":
        fails(cluster, package, package, "codec", "IPv6")


def boxes_of(cluster):
    """Processes below the builder: zygotes and boxes."""
    return set(descendants(builder_of(cluster)))


def test_an_index_that_never_ends(cluster):
    """A byte now and then keeps the connection; the end of the call ends the box."""
    session = session_of(cluster)
    INDEX.drips.add("/simple/endless/")
    client = cluster.client()
    waiting = client.begin("tools/call", {"name": "install_package", "arguments": {"packages": ["endless"], "session_id": session}})
    until(lambda: "/simple/endless/" in INDEX.asked, 20)
    fetchers = [pid for pid in boxes_of(cluster) if "endless" in command_of(pid)]
    assert fetchers, "no process fetches"
    began = time.monotonic()
    client.notify("notifications/cancelled", {"requestId": waiting.id})
    until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in fetchers), 10)
    until(lambda: install(cluster, "base==1.0", session=session).get("isError") is not True, 10)
    assert time.monotonic() - began < 10 and version_in(cluster, session) == "1.0"


def test_the_end_of_the_session(cluster):
    session = session_of(cluster)
    waiting = cluster.client().begin("tools/call", {"name": "install_package", "arguments": {"packages": ["endless"], "session_id": session}})
    before = len(INDEX.asked)
    until(lambda: "/simple/endless/" in INDEX.asked[before:], 20)
    assert not cluster.call("terminate_session", {"session_id": session}).get("isError")
    end = waiting.result(20)
    assert end["isError"] and "cancelled" in end["content"][0]["text"], end
    still_works(cluster)


# ---- hostile wheels ----

def test_names_that_lead_out(cluster):
    session = session_of(cluster)
    for number, name in enumerate(("../../../../../up.txt", "/workspace/up.txt", "{data}/data/../../up.txt", "{data}/purelib/x//up.txt")):
        package = f"outward{number}"
        INDEX.add(wheel(package, "1.0", {f"{package}.py": "", name.format(data=f"{package}-1.0.data"): "x"}))
        code, text = refused(cluster, package, session=session)
        assert code == "install_failed" and "up.txt' in this wheel is no file below its directory" in text, (name, text)


def test_a_link(cluster):
    INDEX.add(wheel("linker", "1.0", {"linker.py": "", "linkdir": "/etc", "linkdir/passwd": "x"}, links={"linkdir"}))
    fails(cluster, "linker", "linkdir")


def test_two_files_of_one_name(cluster):
    INDEX.add(wheel("doubled", "1.0", [("doubled.py", "x = 1\n"), ("doubled.py", "x = 2\n")]))
    fails(cluster, "doubled", "doubled.py")


def test_special_bits_and_odd_names(cluster):
    """Neither setuid nor device survives; a name of any bytes is a name."""
    odd = "a b\u00e4'\""
    INDEX.add(wheel("special", "1.0", {"special/__init__.py": "", "special/s": "x", "special/" + odd: "x"}, modes={"special/s": 0o104755}))
    session = session_of(cluster)
    installed(cluster, "special", session=session)
    seen = out(cluster, "import special, os, stat\nd = os.path.dirname(special.__file__)\nfor n in sorted(os.listdir(d)):\n"
                        "    if n[0] != '_': print(ascii(n), oct(os.stat(d + '/' + n).st_mode & 0o7022))", session)
    assert seen == f"{ascii(odd)} 0o0\n's' 0o0\n", seen


def test_a_wheel_of_another_name(cluster):
    INDEX.add(wheel("base", "9.0", {"base.py": "version = 'evil'\n"}), shown="alias-1.0-py3-none-any.whl")
    INDEX.add_bytes("garbage", "garbage-1.0-py3-none-any.whl", os.urandom(5000))
    for package in "alias", "garbage":
        fails(cluster, package, package)


def test_two_wheels_with_one_file(cluster):
    text = fails(cluster, "twin-both", "two of these packages")
    assert "twin.py" in text, text


def test_a_bomb(cluster):
    INDEX.add(wheel("bomb", "1.0", {"bomb.bin": bytes(64 << 20)}))
    assert len(INDEX.content("bomb", "1.0")) < 1 << 20
    fails(cluster, "bomb", "No space left")
    INDEX.add(wheel("fat", "1.0", {"fat.bin": os.urandom(20 << 20)}, packed=False))
    fails(cluster, "fat", "No space left")


def test_a_wheel_with_too_many_files(cluster):
    INDEX.add(wheel("many", "1.0", {f"m/{n:x}": b"" for n in range(100100)}, packed=False))
    fails(cluster, "many", "No space left")


def test_code_of_a_package_runs_in_programs_only(cluster):
    """A .pth and a sitecustomize run where programs of the session run, and in no other."""
    INDEX.add(wheel("starter", "1.0", {"starter.pth": "import os; os.environ['STARTED'] = '1'\n", "sitecustomize.py": "open('/tmp/custom', 'a').write('x')\n", "starter.py": ""}))
    session, other = session_of(cluster), session_of(cluster)
    installed(cluster, "starter", session=session)
    code = "import subprocess; print(subprocess.run(['python3', '-c', 'import os; print(os.environ.get(\"STARTED\"))'], capture_output=True, text=True).stdout)"
    assert out(cluster, code, session) == "1\n\n"
    assert out(cluster, code, other) == "None\n\n"
    installed(cluster, "base==1.0", session=session)  # with the packages of the session in the boxes that install
    assert version_in(cluster, session) == "1.0"


# ---- the end of a daemon ----

def children(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    return []


def descendants(pid):
    return [one for child in children(pid) for one in [child, *descendants(child)]]


def builder_of(cluster):
    """executor -> the process that waits for its end -> builder"""
    return children(children(cluster.pid("executor"))[0])[0]


def command_of(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode(errors="replace")
    return ""


def until(condition, seconds):
    end = time.monotonic() + seconds
    while not (got := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return got


def kill_egress(cluster):
    cluster.restart("egress")


def kill_builder(cluster):
    os.kill(builder_of(cluster), signal.SIGKILL)
    with contextlib.suppress(Exception):
        cluster.processes["executor"].wait(10)
    cluster.restart("executor")


def kill_executor(cluster):
    cluster.restart("executor")


def works_again(cluster, session):
    """Its name, or that of a new one: without a supervisor, sessions end with their executor."""
    def answered():
        text = cluster.call("execute_code", {"code": "1", "session_id": session})["content"][0]["text"]
        return "session_expired" in text or "unavailable" not in text and text
    return session_of(cluster) if until(answered, 20) is True else session


def dies(cluster, death, number, held_path, after=None):
    """An installation of a new package during which a daemon is killed, once the index was asked for that path."""
    package, session = f"fresh{number}", session_of(cluster)
    INDEX.add(wheel(package, "1.0", {f"{package}.py": ""}, requires=["base<2"]))
    installed(cluster, "base==2.0", session=session)
    with INDEX.holds(held_path.format(package)) as held:
        waiting = cluster.client().begin("tools/call", {"name": "install_package", "arguments": {"packages": [package, "base"], "session_id": session}})
        assert held.wait(20), held_path
        if after is not None:
            held.release()
            time.sleep(after)
        death(cluster)
    end = waiting.result(40)
    again = works_again(cluster, session)
    wanted = None if again != session else "2.0" if end.get("isError") else "1.0"
    assert version_in(cluster, again) == wanted, (end, wanted)
    until(lambda: not install(cluster, package, "base", session=again).get("isError"), 20)
    assert out(cluster, f"import {package}, importlib.metadata as m; print(m.version('base'))", again) == "1.0\n"
    return end


def test_daemons_that_end_while_it_fetches(cluster):
    for number, death in enumerate((kill_egress, kill_builder, kill_executor)):
        end = dies(cluster, death, number, "/files/{}-1.0-py3-none-any.whl")
        assert end["isError"], (death, end)


def test_daemons_that_end_at_any_time(cluster):
    for number in range(4):
        dies(cluster, (kill_builder, kill_executor)[number % 2], 10 + number, "/simple/{}/", 0.05 + 0.2 * number)


def test_nothing_is_left_of_all_this(cluster):
    """Its boxes have ended; the daemons logged no fault."""
    until(lambda: not [pid for pid in boxes_of(cluster) if "packages/" in command_of(pid)], 10)
    for name in "executor", "egress":
        faults = daemons.FAULTS.findall(cluster.log(name))
        assert not faults and "a package is still in use" not in cluster.log(name), (name, faults)


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
    publish()
    INDEX.serve()
    INDEX.add(wheel("twin_a", "1.0", {"twin.py": "a\n"}))
    INDEX.add(wheel("twin_b", "1.0", {"twin.py": "b\n"}))
    INDEX.add(wheel("twin_both", "1.0", {"both.py": ""}, requires=["twin-a", "twin-b"]))
    flags = {"executor": [f"--package-mb={PACKAGE_MB}"],
             "egress": [f"--resolver={index.HOST}:{INDEX.dns_port}", f"--allowed-networks={index.HOST}/32"]}
    with daemons.Cluster(sys.argv[1], env=ENVIRONMENT, flags=flags) as cluster_:
        counts = cases.play(sys.modules[__name__], cluster_, after=lambda: end_sessions(cluster_))
    cases.end(counts)
