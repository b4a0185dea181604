#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""install_package with a hostile index, with hostile wheels, and while daemons end: it fails, and the session has what it had.

    packages_hostile.py BIN
"""

import contextlib
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import daemons  # noqa: E402
import shop  # noqa: E402
from index import wheel  # noqa: E402
from shop import INDEX, install, installed, out, refused, session_of, still_works, version_in  # noqa: E402


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


BACKEND = """
import base64, glob, os, socket, zipfile
def build_wheel(directory, config_settings=None, metadata_directory=None):
    for path in glob.glob("/workspace/shown/base-*.whl"):  # what was fetched before
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("base.py", "version = 'forged'")
    try:
        reached = socket.create_connection(("elsewhere.test", 80), 3) and "all"
    except OSError:
        reached = "nothing"
    name = "built-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as archive:
        archive.writestr("built.py", f"where = {os.listdir('/workspace')!r}, {os.getuid()}, {reached!r}")
        archive.writestr("built-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: built\\nVersion: 1.0\\n")
        archive.writestr("built-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr("built-1.0.dist-info/RECORD", "".join(f"{one},,\\n" for one in [*archive.namelist(), "built-1.0.dist-info/RECORD"]))
    return name
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def test_source_that_is_built(cluster):
    """Only where it is asked for, and --package-builds allows it; its code reaches nothing but the index, and what it makes of others is for its own session."""
    INDEX.add_source("built", "1.0", "", pyproject_toml=PROJECT, backend_py=BACKEND)
    fails(cluster, "built", "built")
    first, second = session_of(cluster), session_of(cluster)
    got = installed(cluster, "base==1.0", "built", session=first, build=True)
    assert set(got) == {"base", "built"}, got
    where, uid, reached = eval(out(cluster, "import built; print(built.where)", first))
    assert "shown" in where and uid == 1000 and reached == "nothing", (where, uid, reached)
    again = installed(cluster, "base==1.0", session=second)
    assert again["base"]["sha256"] == INDEX.sha256("base", "1.0") and version_in(cluster, second) == "1.0", again
    for packages in ("built",), ("base==1.0", "built"):  # as the first session asked
        again = install(cluster, *packages, session=second)
        assert again.get("isError"), "what was built is not the index's answer"


def test_urls(cluster):
    """Those of wheels on the hosts of --package-hosts are allowed; e2e.packages_real installs one."""
    for url, says in (("https://elsewhere.test/x-1.0-py3-none-any.whl", "from its index only and from files.test"),
                      ("http://files.test/x-1.0-py3-none-any.whl", "is that of a wheel"), ("https://files.test/x-1.0.tar.gz", "is that of a wheel"),
                      ("file:///etc/passwd", "from its index only"), ("https://files.test@elsewhere.test/x-1.0-py3-none-any.whl", "from its index only"),
                      ("https://files.test:444/x-1.0-py3-none-any.whl", "from its index only")):
        fails(cluster, f"x @ {url}", says, code="invalid_argument")


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
    """--package-mb=16 is given here: for an archive, and for what is in it."""
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


if __name__ == "__main__":
    shop.play(sys.modules[__name__], sys.argv[1])
