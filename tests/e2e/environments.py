#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Named environments of Python: made by `cloister environment`, chosen by calls and sessions, read-only to programs.

    environments.py BIN

Their packages come from an index of this test.  They lie below /var/tmp, because boxes have a /tmp of their own.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402
import index  # noqa: E402
import shop  # noqa: E402
from index import wheel  # noqa: E402
from shop import INDEX, end_sessions, installed, out, SESSIONS, version_in  # noqa: E402

STATE = ""  # where the environments are
BIN = os.path.abspath(sys.argv[1])
PYTHON = "/usr/bin/python3"
# Other versions of Python that this machine has and this user may run; the last of each is taken.
OTHERS = {version: path for version in ("3.12", "3.13") for path in sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python3")))
          if os.access(path, os.X_OK)}


def command(*words, fails=False):
    """What `cloister environment` prints."""
    place = {"PIP_INDEX_URL": f"http://{index.HOST}:{INDEX.port}/simple", "PIP_EXTRA_INDEX_URL": "", "PIP_TRUSTED_HOST": index.HOST}
    done = subprocess.run([os.path.join(BIN, "cloister"), "environment", *words, f"--state={STATE}"], env={**os.environ, **place},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert (done.returncode != 0) == fails, done
    return done.stderr if fails else done.stdout


def made_venv(name):
    """A virtual environment of the operator's, with two modules."""
    where = os.path.join(STATE, name)
    subprocess.run([PYTHON, "-I", "-m", "venv", "--without-pip", where], check=True)
    site = os.path.join(where, "lib", "python%d.%d" % sys.version_info[:2], "site-packages")
    for module, text in ("of_the_venv", "x = 42\n"), ("with_a_thread", "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"):
        with open(os.path.join(site, module + ".py"), "w", encoding="ascii") as file:
            file.write(text)
    return where


def prepare():
    for path in STATE, os.path.join(STATE, "venvs"):
        os.makedirs(path, exist_ok=True)
        os.chmod(path, 0o755)
    INDEX.add(wheel("early_bird", "1.0", {"early_bird.py": "", "early_bird.pth": "import early_bird\n"}))
    for name in "sitecustomize", "usercustomize":
        INDEX.add(wheel(name, "1.0", {f"{name}/__init__.py": f"open('{STATE}/ran', 'w')"}))
    command("add", "first", "Hello.World")
    command("add", "second", "--venv", made_venv("venvs/own"), "--ahead=of_the_venv,with_a_thread")
    for version, path in OTHERS.items():
        command("add", f"x{version}", "Hello.World", "--python", path)


# ---- what the command makes ----

def test_names_and_packages_are_checked(_):
    for words, says in ((("add", "Upper", "base"), "NAME"), (("add", "default", "base"), "NAME"),
                        (("add",), "NAME"), (("add", "empty"), "give packages"), (("add", "both", "base", "--venv=/"), "--venv"),
                        (("add", "no", "--venv=/var"), "bin/python3"), (("add", "no", "nowhere-to-be-found"), "No matching"),
                        (("add", "no", "--requirements=/nonexistent"), "/nonexistent"), (("remove", "no"), "no environment"),
                        (("remove", "first", "second"), "'second' is one word too many"), (("remove", "first", "--venv=/x"), "flags")):
        assert says in command(*words, fails=True), words
    assert [line.split()[0] for line in command("list").splitlines()][:2] == ["first", "second"]


def test_a_package_that_runs_at_each_start_is_refused(_):
    for package, file in ("early-bird", "early_bird.pth"), ("sitecustomize", "sitecustomize"), ("usercustomize", "usercustomize"):
        assert f"{file} would run code" in command("add", "early", package, fails=True)
    assert not os.path.exists(STATE + "/ran")
    assert sorted(name for name in os.listdir(STATE + "/environments") if "early" in name) == []


def test_one_takes_the_place_of_another(_):
    command("add", "third", "--packages", "base==1.0")
    first = os.path.realpath(STATE + "/environments/third")
    with open(STATE + "/needs.txt", "w", encoding="ascii") as file:
        file.write("base==2.0\n")
    command("add", "third", "--requirements", STATE + "/needs.txt")
    second = os.path.realpath(STATE + "/environments/third")
    assert first != second and os.path.isdir(first), "programs may still run in the first"
    assert os.path.isdir(second + "/lib") and os.stat(second).st_mode & 0o777 == 0o755
    command("remove", "third")
    assert not os.path.exists(first) and not os.path.exists(second)
    assert not [name for name in os.listdir(STATE + "/environments") if "third" in name]


# ---- what programs see ----

def test_they_are_listed_with_what_is_installed(cluster):
    for tool in "list_runtimes", "get_sandbox_info":
        runtimes = cluster.call(tool)["structuredContent"]["runtimes"]
        python = next(one for one in runtimes if one["language"] == "python")
        modules = {one["name"]: one["modules"] for one in python["environments"]}
        assert list(modules)[:3] == ["default", "first", "second"], modules
        assert modules["first"] == ["base==1.0", "hello"] and modules["second"] == ["of_the_venv", "with_a_thread"], modules
        assert "pip" in modules["default"], modules


def test_a_run(cluster):
    code = "import hello, os, subprocess, sys\nhello.main()\nprint(os.path.basename(sys.prefix)[:7], flush=True)\n" \
           "for words in ['hello-cli'], ['python3', '-c', 'import hello; hello.main()'], [sys.executable, '-c', 'import hello']:\n" \
           "    subprocess.run(words, check=True)\n" \
           "for change in lambda: open(hello.__file__, 'a'), lambda: os.unlink(hello.__file__), lambda: os.mkdir(sys.prefix + '/x'):\n" \
           "    try: change()\n    except OSError as error: print(error.errno in (13, 30))\n"
    starts = []
    for _ in range(4):
        end = cluster.call("execute_code", {"code": code, "environment": "first"})["structuredContent"]
        assert end["stdout"] == "hello of 1.0\n.first-\nhello of 1.0\nhello of 1.0\nTrue\nTrue\nTrue\n" and end["artifacts"] == [], end
        starts.append(end["usage"]["start"])
    assert starts[0] == starts[-1] == "warm", starts
    end = cluster.call("execute_code", {"code": "import hello.cli"})["structuredContent"]
    assert end["error"]["type"] == "ModuleNotFoundError", end
    assert "The environment first has that module: run the code again with environment first." in end["error"]["hint"], end
    end = cluster.call("execute_code", {"code": "hello-cli; python3 -c 'import base; print(base.version)'", "language": "shell",
                                        "environment": "first"})["structuredContent"]
    assert end["stdout"] == "hello of 1.0\n1.0\n", end


def test_nothing_beside_them_is_shown(cluster):
    """A box sees the prefixes of all environments, which hold nothing but packages, and nothing beside them."""
    end = cluster.call("execute_code", {"code": f"import os\nprint(sorted(os.listdir({STATE!r})))"})["structuredContent"]
    assert end["stdout"] == "['environments', 'venvs']\n", end


def test_a_session_keeps_it(cluster):
    made = cluster.call("create_session", {"environment": "first"})["structuredContent"]
    session = made["session_id"]
    SESSIONS.append(session)
    assert made["environment"] == "first", made
    assert out(cluster, "import hello; hello.main()", session) == "hello of 1.0\n"
    assert out(cluster, "print(hello.__name__)", session, environment="first") == "hello\n"
    assert out(cluster, "hello-cli", session, language="shell") == "hello of 1.0\n"
    end = cluster.call("execute_code", {"code": "import of_the_venv", "session_id": session})["structuredContent"]
    assert "create a session with environment second" in end["error"]["hint"], end
    for other in "default", "second":
        end = cluster.call("execute_code", {"code": "1", "session_id": session, "environment": other})
        assert "environment: cannot change in an existing session" in end["content"][0]["text"], end
    assert "environment" not in cluster.call("create_session", {"environment": "default"})["structuredContent"]


def test_an_unknown_one_is_refused_by_name(cluster):
    for tool, more in ("execute_code", {"code": "1"}), ("create_session", {}):
        end = cluster.call(tool, {"environment": "nope", **more})
        assert "environment: 'nope' is not one of default, first, second" in end["content"][0]["text"], end


def test_packages_of_a_session_come_first(cluster):
    session = cluster.call("create_session", {"environment": "first"})["structuredContent"]["session_id"]
    SESSIONS.append(session)
    assert version_in(cluster, session) == "1.0"
    installed(cluster, "base==2.0", session=session)
    assert version_in(cluster, session) == "2.0"


def test_what_a_program_installs_comes_first(cluster):
    session = cluster.call("create_session", {"environment": "first", "allowed_domains": ["pypi"]})["structuredContent"]["session_id"]
    SESSIONS.append(session)
    assert version_in(cluster, session) == "1.0"
    assert out(cluster, "pip install -q base==2.0", session, language="shell") == ""
    assert version_in(cluster, session) == "2.0"


def test_a_venv_where_it_is(cluster):
    code = "import of_the_venv, os, sys\nprint(of_the_venv.x, sys.prefix, len(os.listdir('/proc/self/task')))"
    end = cluster.call("execute_code", {"code": code, "environment": "second"})["structuredContent"]
    assert end["stdout"] == f"42 {STATE}/venvs/own 1\n" and end["usage"]["start"] == "warm", end


def test_what_starts_a_thread_is_not_imported_ahead(cluster):
    """A fork would not have that thread."""
    for _ in range(2):
        end = cluster.call("execute_code", {"code": "import with_a_thread\nprint(1)", "environment": "second"})["structuredContent"]
        assert end["stdout"] == "1\n" and end["usage"]["start"] == "warm", end
    log = "".join(cluster.log(name) for name in os.listdir(cluster.logs))
    assert log.count("with_a_thread is not imported ahead: it starts a thread") == 1 and "of_the_venv is not" not in log, log


def test_another_version_of_python(cluster):
    """Packages of a session are unpacked for it, and shared with no other version."""
    if not OTHERS:
        raise cases.Skip("this machine has no other Python that this user may run")
    for version in OTHERS:
        name, code = f"x{version}", "import hello, sys\nhello.main()\nprint(sys.version.split()[0])\nsys.maxsize"
        for _ in range(2):
            end = cluster.call("execute_code", {"code": code, "environment": name})["structuredContent"]
            assert end["stdout"].startswith(f"hello of 1.0\n{version}.") and end["result"] == sys.maxsize and end["usage"]["start"] == "warm", end
        session = cluster.call("create_session", {"environment": name})["structuredContent"]["session_id"]
        SESSIONS.append(session)
        got = installed(cluster, "base==2.0", "free", session=session)
        assert not got["free"]["cached"] and version_in(cluster, session) == "2.0", got
        assert out(cluster, "import free, sys; print(free.x, free.__cached__)", session).endswith(f"cpython-{version.replace('.', '')}.pyc\n")
        session = cluster.call("create_session", {"environment": name, "packages": ["Hello.World"]})["structuredContent"]["session_id"]
        SESSIONS.append(session)
        assert out(cluster, "cd /usr/local/bin; ./hello-cli; head -c 22 hello-cli", session, language="shell") == "hello of 1.0\n#!/usr/bin/env python3"


def test_the_command_runs_in_one(_):
    """Its daemons find the environments in their state directory, without a setting."""
    with tempfile.TemporaryDirectory(prefix="cloister-run-") as where:
        program = os.path.join(where, "program.py")
        with open(program, "w", encoding="ascii") as file:
            file.write("import hello\nhello.main()\n")
        place = [f"--state={STATE}", f"--run={STATE}/run"]
        try:
            done = subprocess.run([os.path.join(BIN, "cloister"), "run", "--environment", "first", *place, program], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=60)
            assert done.stdout == "hello of 1.0\n", done
        finally:
            subprocess.run([os.path.join(BIN, "cloister"), "down", *place], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True)


def test_a_restarted_executor_knows_it(cluster):
    """Also one that was made meanwhile; its name comes before the others'."""
    command("add", "a-new-one", "base==2.0")
    cluster.restart("executor")
    end = cluster.call("execute_code", {"code": "import base; print(base.version)", "environment": "a-new-one"})["structuredContent"]
    assert end["stdout"] == "2.0\n", end
    test_a_run(cluster)
    command("remove", "a-new-one")


def main():
    global STATE
    shop.publish()
    INDEX.serve()
    STATE = tempfile.mkdtemp(prefix="cloister-environments-", dir="/var/tmp")
    try:
        prepare()
        flags = {**shop.FLAGS, "executor": [*shop.FLAGS["executor"], "--egress-domains=pypi", f"--environments={STATE}/environments"]}
        with daemons.Cluster(BIN, env=shop.ENVIRONMENT, flags=flags) as cluster:
            counts = cases.play(sys.modules[__name__], cluster, after=lambda: end_sessions(cluster))
    finally:
        shutil.rmtree(STATE)
    cases.end(counts)


main()
