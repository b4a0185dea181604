#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that run pip and npm themselves, with an index of this test: what they get, and what nobody else sees of it.

    plain_pip.py BIN
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import registry  # noqa: E402
import shop  # noqa: E402
from shop import INDEX, installed, out, run, SESSIONS  # noqa: E402

REACH = ["pypi", "npm"]
PIP = "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'pip', 'install', '-q', %s], check=True)\n"


def alone(client, code, **more):
    return client.call("execute_code", {"code": code, "allowed_domains": REACH, **more})["structuredContent"]


def session_of(client, **more):
    SESSIONS.append(client.call("create_session", {"allowed_domains": REACH, **more})["structuredContent"]["session_id"])
    return SESSIONS[-1]


def printed(end):
    assert end["success"], end
    return end["stdout"]


# ---- pip ----

def test_in_the_same_program(cluster):
    for code in (PIP % "'hello-world'", "import os\nassert os.system('pip install -q hello-world') == 0\n",
                 "import subprocess\nsubprocess.check_call('pip3 install -q hello-world', shell=True)\n"):
        end = alone(cluster, code + "import hello; hello.main()")
        assert printed(end) == "hello of 1.0\n" and not end["artifacts"], end


def test_in_the_shell(cluster):
    end = alone(cluster, "pip install -q hello-world && hello-cli && python3 -c 'import hello; hello.main()' && pip list", language="shell")
    assert printed(end).count("hello of 1.0\n") == 2 and re.search(r"^Hello.World +1\.5$", end["stdout"], re.M) and not end["artifacts"], end


def test_in_statements(cluster):
    """In the statement that installs, in the next one, and in other languages, until the session ends."""
    session = session_of(cluster)
    assert run(cluster, "import base", session)["error"]["type"] == "ModuleNotFoundError"
    assert out(cluster, PIP % "'hello-world'" + "import hello; hello.main()", session) == "hello of 1.0\n"
    assert out(cluster, "import base; print(base.version)", session) == "1.0\n"
    assert out(cluster, "hello-cli", session, language="shell") == "hello of 1.0\n"
    assert out(cluster, "pip install -q free", session, language="shell") == ""
    assert out(cluster, "import free; print(free.x)", session) == "1\n"


def test_upgrade_and_uninstall(cluster):
    session = session_of(cluster)
    version = "python3 -c 'import base; print(base.version)'; "
    assert out(cluster, f"pip install -q 'base<2'; {version} pip install -qU base; {version} pip uninstall -qy base; pip list", session, language="shell").startswith("1.0\n2.0\n")
    assert run(cluster, "import base", session)["error"]["type"] == "ModuleNotFoundError"
    assert out(cluster, PIP % "'base==1.0'" + "import base; print(base.version)", session) == "1.0\n"


def test_beside_packages_of_the_session(cluster):
    """What the program installed has precedence, in its interpreter as in those that it starts."""
    session = session_of(cluster)
    installed(cluster, "base<2", session=session)
    code = "import base, subprocess; print(base.version, subprocess.check_output(['python3', '-c', 'import base; print(base.version)'], text=True))"
    assert out(cluster, code, session) == "1.0 1.0\n\n"
    assert out(cluster, PIP % "'-U', 'base'" + "import sys; del sys.modules['base']\n" + code, session) == "2.0 2.0\n\n"


def test_an_environment_of_the_program(cluster):
    end = alone(cluster, "set -e; python3 -m venv /tmp/v; /tmp/v/bin/pip install -q hello-world; /tmp/v/bin/hello-cli; ! python3 -c 'import hello' 2>/dev/null", language="shell")
    if not end["success"] and "ensurepip is not" in end["stdout"] + end["stderr"]:
        return
    assert printed(end) == "hello of 1.0\n", end


# ---- npm ----

def has_npm(client):
    return client.call("execute_code", {"code": "command -v npm", "language": "shell"})["structuredContent"]["success"]


def test_npm(cluster):
    """Where there is no project yet, in one, and for all."""
    if not has_npm(cluster):
        raise cases.Skip("there is no npm")
    use = "node -e 'console.log(require(\"tiny\"))'"
    for before, after in ("", f"ls; {use}"), ("npm init -y >/dev/null;", f"ls; {use}"), ("mkdir new; cd new;", f"ls; {use}"):
        assert printed(alone(cluster, f"set -e; {before} npm install --silent tiny >/dev/null; {after}", language="shell")) == \
            "node_modules\npackage-lock.json\npackage.json\ntiny 1.0.0\n"
    end = alone(cluster, "set -e; npm install --silent -g tiny >/dev/null; tiny-cli", language="shell")
    assert printed(end) == "cli\n" and not end["artifacts"], end


def test_npm_in_statements(cluster):
    if not has_npm(cluster):
        raise cases.Skip("there is no npm")
    session = session_of(cluster)
    assert out(cluster, "require('child_process').execSync('npm install --silent tiny'); console.log(require('tiny'))", session, language="node") == "tiny 1.0.0\n"
    assert out(cluster, "console.log(require('tiny'))", session, language="node") == "tiny 1.0.0\n"


# ---- limits, and what is not seen ----

def test_it_has_its_own_limit(cluster):
    end = alone(cluster, """
import os, errno
status = os.statvfs('/user/base')
print(status.f_blocks * status.f_frsize)
try:
    with open('/user/base/big', 'wb') as file:
        while True: file.write(bytes(1 << 20))
except OSError as error:
    print(errno.errorcode[error.errno])
""")
    assert printed(end) == f"{256 << 20}\nENOSPC\n", end
    end = alone(cluster, "head -c 256M /dev/zero > /user/base/big || true; pip install hello-world", language="shell")
    assert not end["success"] and end["error"]["code"] == "disk_full", end


def test_how_it_is_mounted(cluster):
    code = "print([line for line in open('/proc/self/mountinfo') if ' /user' in line])"
    lines = eval(printed(alone(cluster, code)))
    flags = {line.split()[4]: line.split()[5].split(",") for line in lines}
    assert set(flags) == {"/user/base", "/user/index"}, lines
    assert all("nosuid" in one and "nodev" in one for one in flags.values()) and "ro" in flags["/user/index"] and "rw" in flags["/user/base"], lines
    assert printed(cluster.call("execute_code", {"code": code})["structuredContent"]) == "[]\n"


def test_nobody_else_sees_it(cluster):
    first, second = session_of(cluster), session_of(cluster)
    out(cluster, PIP % "'base'", first)
    assert run(cluster, "import base", second)["error"]["type"] == "ModuleNotFoundError"
    assert run(cluster, "import os; print(os.listdir('/user/base'))", second)["stdout"].strip() in ("['lib']", "[]")
    assert not installed(cluster, "needs-new", session=second)["needs-new"]["cached"]


def test_nothing_else_is_written(cluster):
    end = alone(cluster, """
import os
def attempt(what, *words):
    try: what(*words)
    except OSError as error: return
    print('done', what, words)
for path in '/user/x', '/user/index/x', '/user/index/pip.conf', '/packages/x', '/usr/local/x', '/node_modules/x', '/etc/x':
    attempt(open, path, 'w')
    attempt(os.rename, '/user/base/y', path)
attempt(os.rmdir, '/user/base'); attempt(os.unlink, '/user/index/pip.conf'); attempt(os.link, '/etc/passwd', '/user/base/passwd'); attempt(os.mknod, '/user/base/node', 0o20666, 0x103)
print(open('/user/index/pip.conf').read() + open('/user/index/npmrc').read())
""")
    assert "done" not in printed(end) and "index.test" in end["stdout"] and "secret" not in end["stdout"] and "user:" not in end["stdout"], end


def test_without_a_network(cluster):
    """It fails soon, and the hint names the tool."""
    for language, code in (("shell", "pip install six"), *[("shell", "npm install tiny")] * has_npm(cluster), ("python", PIP % "'six'"), ("python", "import os\nos.system('pip install -q six')\nimport six_of_nobody")):
        end = cluster.call("execute_code", {"code": code, "language": language})["structuredContent"]
        assert not end["success"] and "install_package" in end["error"]["hint"] and end["usage"]["wall_ms"] < 15000, end
    seen = cluster.call("execute_code", {"code": "import os; print(os.listdir('/user/base'), os.listdir('/user/index'), [v for v in os.environ.values() if 'index.test' in v])"})
    assert seen["structuredContent"]["stdout"] == "[] [] []\n", seen


if __name__ == "__main__":
    registry.Registry(INDEX).add("tiny", "1.0.0", {"index.js": "module.exports = 'tiny 1.0.0'\n", "cli.js": "#!/usr/bin/env node\nconsole.log('cli')\n"},
                                 manifest={"bin": {"tiny-cli": "cli.js"}})
    shop.play(sys.modules[__name__], sys.argv[1], ["--egress-domains=pypi,npm"])
