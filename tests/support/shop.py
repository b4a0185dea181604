# SPDX-License-Identifier: Apache-2.0
"""Installations through the tool, from an index of the test (index.py); shared by the tests of packages.

    shop.play(sys.modules[__name__], sys.argv[1])       # its test_...(cluster), with daemons that use the index
"""

import json

import cases
import daemons
import index
from index import wheel

CODES = ("install_failed", "invalid_argument", "session_busy", "cancelled", "unavailable", "limit_exceeded")
INDEX = index.Index()
SESSIONS = []
ENVIRONMENT = {"PIP_INDEX_URL": f"http://user:secret@index.test:{INDEX.port}/simple", "PIP_EXTRA_INDEX_URL": "",
               "npm_config_registry": f"http://user:secret@index.test:{INDEX.port}/npm/"}
FLAGS = {"executor": ["--package-mb=16", "--package-builds", "--package-hosts=files.test"], "egress": [f"--resolver={index.HOST}:{INDEX.dns_port}", f"--allowed-networks={index.HOST}/32"]}


def publish():
    for version in "1.0", "2.0":
        INDEX.add(wheel("base", version, {"base.py": f"version = {version!r}\n"}))
    INDEX.add(wheel("Hello.World", "1.5", {
        "hello/__init__.py": "import base\ndef main():\n    print('hello of', base.version)\n",
        "hello/data.txt": "text"}, requires=["base<2"], scripts={"hello-cli": "hello:main"}))
    INDEX.add(wheel("free", "1.0", {"free.py": "x = 1\n"}))
    INDEX.add(wheel("twin_a", "1.0", {"twin.py": "a\n"}))
    INDEX.add(wheel("twin_b", "1.0", {"twin.py": "b\n"}))
    INDEX.add(wheel("twin_both", "1.0", {"both.py": ""}, requires=["twin-a", "twin-b"]))
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


def play(module, bin, executor=()):
    """Does not return."""
    publish()
    INDEX.serve()
    flags = {**FLAGS, "executor": [*FLAGS["executor"], *executor]}
    with daemons.Cluster(bin, env=ENVIRONMENT, flags=flags) as cluster:
        counts = cases.play(module, cluster, after=lambda: end_sessions(cluster))
    cases.end(counts)
