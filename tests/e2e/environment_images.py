#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Environments that are made of images: what programs see of them, and what a hostile image cannot do.

    environment_images.py BIN
"""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402
from oci_layout import Layout, directory, hard_link, host_python, link, text, VERSION  # noqa: E402

STATE = ""
BIN = os.path.abspath(sys.argv[1])
SITE = "usr/lib/python3/dist-packages/"
SESSIONS = []


def command(*words, fails=False):
    done = subprocess.run([os.path.join(BIN, "cloister"), "environment", *words, f"--state={STATE}"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)
    assert (done.returncode != 0) == fails, done
    return done.stderr if fails else done.stdout


def add(name, layout, tag="", **more):
    return command("add", name, "--image", f"oci-layout:{layout.path}" + (":" + tag if tag else ""), **more)


def rootfs(name, path=""):
    return os.path.join(STATE, "environments", name, "rootfs", path)


def layout_of(name):
    return Layout(os.path.join(STATE, "layouts", name))


def prepare():
    """An image whose second layer deletes and replaces, and one with a virtual environment, under the same directory."""
    for path in STATE, os.path.join(STATE, "layouts"):
        os.makedirs(path, exist_ok=True)
        os.chmod(path, 0o755)
    layout = layout_of("two")
    base = layout.layer(host_python(), text(SITE + "marker.py", "where = 'image'\n"), text(SITE + "marker-1.2.dist-info/METADATA", "Name: marker\n"),
                        text("srv/kept", "kept"), text("srv/deleted", ""), text("srv/emptied/old", ""), text("srv/was-a-directory/x", ""),
                        text("usr/bin/set-user-id", "#!/bin/bash\n", mode=0o4755), hard_link("srv/again", "srv/kept"),
                        link("srv/outside", "../../../../../etc"), text("sbin/merged", "#!/bin/bash\necho merged\n", mode=0o755))
    more = layout.layer(text("srv/.wh.deleted", ""), text("srv/emptied/new", "new"), text("srv/emptied/.wh..wh..opq", ""),
                        text("srv/was-a-directory", "a file"))
    layout.image(base, more, tag="plain")
    layout.image(base, layout.layer(
        link("opt/venv/bin/python3", "/usr/bin/python3"), text("opt/venv/pyvenv.cfg", "home = /usr/bin\n"),
        text(f"opt/venv/lib/{VERSION}/site-packages/of_the_venv.py", "x = 42\n")), tag="venv", path="/opt/venv/bin:/usr/bin")
    assert f"Python 3.{sys.version_info[1]} at /usr/bin/python3" in add("plain", layout, "plain")
    assert "at /opt/venv/bin/python3" in add("venv", layout, "venv")
    broken = layout_of("broken")
    broken.image(broken.layer(host_python(), text("usr/bin/python3", f"#!/bin/bash\necho ran > {STATE}/ran\n", mode=0o755),
                              text(f"usr/lib/{VERSION}/os.py", "")))
    add("broken", broken)


# ---- what the command makes ----

def test_layers_are_applied_in_order(_):
    assert sorted(os.listdir(rootfs("plain", "srv"))) == ["again", "emptied", "kept", "outside", "was-a-directory"]
    assert os.listdir(rootfs("plain", "srv/emptied")) == ["new"]
    with open(rootfs("plain", "srv/was-a-directory"), encoding="ascii") as file:
        assert file.read() == "a file"
    assert os.stat(rootfs("plain", "srv/again")).st_ino == os.stat(rootfs("plain", "srv/kept")).st_ino
    assert os.path.islink(rootfs("plain", "sbin")) and os.path.exists(rootfs("plain", "usr/sbin/merged"))


def test_files_are_plain(_):
    """No set-user-ID bit, no owner but the one who made it, readable by all and writable by one."""
    for where, names, files in os.walk(os.path.dirname(rootfs("plain"))):
        for name in names + files:
            st = os.lstat(os.path.join(where, name))
            assert st.st_uid == os.geteuid() and (st.st_mode & 0o7022 == 0 or os.path.islink(os.path.join(where, name))), (where, name, oct(st.st_mode))


def test_words_are_checked(_):
    layout = layout_of("two")
    for words, says in ((["--image", layout.path], "oci-layout:"), (["--image", "oci-layout:"], "oci-layout:"),
                        (["--image", "oci-layout:/nonexistent"], "/nonexistent"), (["--image", f"oci-layout:{STATE}"], "index.json"),
                        (["--image", f"oci-layout:{layout.path}"], "several images"), (["--image", f"oci-layout:{layout.path}:none"], "no image with the tag none"),
                        (["six", "--image", "oci-layout:/"], "--image: it has its packages"), (["--image", "oci-layout:/", "--venv=/"], "give no others"),
                        (["--image", "oci-layout:/", "--ahead=numpy"], "--ahead")):
        assert says in command("add", "no", *words, fails=True), (words, command("add", "no", *words, fails=True))
    assert not [name for name in os.listdir(STATE + "/environments") if "no" in name]


def test_a_hostile_layer_stays_inside(_):
    """Each writes where its links lead within the image, or is refused; nothing of this host changes."""
    outside = os.path.join(STATE, "outside")
    os.makedirs(outside)
    with open(outside + "/file", "w", encoding="ascii") as file:
        file.write("host")
    up = "../" * 12
    inside = {
        "through-a-link-within": [directory("srv"), link("d", up + "srv"), text("d/evil", "x")],
        "link-then-file": [link("f", outside + "/file"), text("f", "x")],
        "link-then-directory": [link("d", outside), directory("d"), text("d/evil", "x")],
        "absolute": [text(outside + "/evil", "x")],
        "device": [lambda tar: tar.addfile(device())],
    }
    refused = {
        "link-then-through": [link("d", outside), text("d/evil", "x")],
        "relative-link": [link("d", up + outside[1:]), text("d/evil", "x")],
        "link-of-a-link": [link("a", "b"), link("b", outside), text("a/evil", "x")],
        "usr-is-a-link": [link("usr", outside), text("usr/evil", "x")],
        "upward": [text(up + outside[1:] + "/evil", "x")],
        "hard-link": [hard_link("h", outside + "/file"), text("h", "x")],
        "hard-link-through": [link("d", outside), hard_link("h", "d/file")],
        "hard-link-upward": [hard_link("h", up + outside[1:] + "/file")],
        "whiteout-upward": [text("d/.wh...", "")],
    }
    for name, parts in {**inside, **refused}.items():
        layout = layout_of("hostile-" + name)
        layout.image(layout.layer(text(f"usr/bin/{VERSION}", "", mode=0o755), link("usr/bin/python3", VERSION)), layout.layer(*parts))
        end = subprocess.run([os.path.join(BIN, "cloister"), "environment", "add", "hostile", f"--state={STATE}", "--image", f"oci-layout:{layout.path}"],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        assert name in inside or (end.returncode != 0 and "layer 2 of 2" in end.stderr), (name, end)
        assert (end.returncode == 0) == (name in inside) and os.listdir(outside) == ["file"], (name, end)
        with open(outside + "/file", encoding="ascii") as file:
            assert file.read() == "host", name
        shutil.rmtree(layout.path)
    command("remove", "hostile")


def device():
    info = tarfile.TarInfo("srv/device")
    info.type, info.devmajor, info.devminor = tarfile.CHRTYPE, 1, 3
    return info


def test_what_is_no_image(_):
    """Each is refused with a reason, and leaves nothing behind."""
    def changed(name, change):
        layout = layout_of("bad-" + name)
        layer = layout.layer(text("srv/x", "x"))
        change(layout, layer)
        says = add("bad", layout, fails=True)
        shutil.rmtree(layout.path)
        return says

    def spoil(layout, layer):
        layout.image(layer)
        with open(os.path.join(layout.path, "blobs/sha256", layer["digest"][7:]), "ab") as file:
            file.write(b"x")

    def nested(layout, layer):
        found = layout.image(layer)
        for _ in range(4):
            found = layout.blob(json.dumps({"manifests": [found]}).encode(), "index.v1+json")
        layout.write({"manifests": [found]})

    def cut(layout, layer):
        data = gzip.decompress(open(os.path.join(layout.path, "blobs/sha256", layer["digest"][7:]), "rb").read())
        layout.image(layout.blob(data[:600], "layer.v1.tar"))

    for name, change, says in (
            ("digest", spoil, "other content than its name says"),
            ("path", lambda layout, layer: layout.image({**layer, "digest": "sha256:../../../etc/passwd"}), "not by its sha256"),
            ("sha512", lambda layout, layer: layout.image({**layer, "digest": "sha512:" + "0" * 64}), "not by its sha256"),
            ("missing", lambda layout, layer: layout.image({**layer, "digest": "sha256:" + "0" * 64}), "0000"),
            ("nested", nested, "too many indexes"),
            ("architecture", lambda layout, layer: layout.image(layer, architecture="pdp11"), "the image is for pdp11"),
            ("no-layer", lambda layout, layer: layout.image(), "0 layers"),
            ("many-layers", lambda layout, layer: layout.image(*[layer] * 129), "129 layers"),
            ("no-tar", lambda layout, layer: layout.image(layout.blob(b"no tar" * 200, "layer.v1.tar")), "a layer"),
            ("cut", cut, "a layer"),
            ("no-python", lambda layout, layer: layout.image(layer), "no python3 in its PATH"),
            ("old-python", lambda layout, layer: layout.image(layout.layer(text("usr/bin/python3.8", "", mode=0o755), link("usr/bin/python3", "python3.8"))),
             "no Python 3.10 or newer"),
            ("loop", lambda layout, layer: layout.image(layout.layer(link("usr/bin/python3", "python3"))), "no python3 in its PATH"),
            ("no-json", lambda layout, layer: open(os.path.join(layout.path, "index.json"), "w", encoding="ascii").close(), "index.json is no JSON")):
        got = changed(name, change)
        assert says in got, (name, got)
    assert not [name for name in os.listdir(STATE + "/environments") if "bad" in name]


# ---- what programs see ----

def run(cluster, code, environment="plain", **more):
    return cluster.call("execute_code", {"code": code, "environment": environment, **more})


def ran(cluster, code, environment="plain", **more):
    end = run(cluster, code, environment, **more)
    assert not end.get("isError"), end
    return end["structuredContent"]


def refused(cluster, tool, **arguments):
    end = cluster.call(tool, arguments)
    assert end["isError"], end
    return end["content"][0]["text"]


def test_they_are_listed_with_what_is_installed(cluster):
    runtimes = cluster.call("list_runtimes")["structuredContent"]["runtimes"]
    listed = {one["name"]: one for one in next(one for one in runtimes if one["language"] == "python")["environments"]}
    assert list(listed) == ["default", "broken", "plain", "venv"], listed
    assert listed["plain"]["modules"] == ["marker==1.2"] and listed["venv"]["modules"] == ["of_the_venv"], listed
    assert listed["plain"]["version"] == "Python 3.%d" % sys.version_info[1], listed


def test_programs_see_the_image(cluster):
    code = "import glob, marker, os, subprocess\nprint(marker.where, sorted(os.listdir('/usr/bin')), os.listdir('/srv/emptied'), flush=True)\n" \
           "subprocess.run(['python3', '-c', 'import marker; print(marker.where)'], check=True)\n" \
           "print(os.path.exists('/usr/bin/gcc'), glob.glob('/usr/share/*'), os.listdir('/srv/outside')[:1] != [])\n" \
           "for change in lambda: open(marker.__file__, 'a'), lambda: os.unlink('/srv/kept'), lambda: os.mkdir('/usr/x'):\n" \
           "    try: change()\n    except OSError as error: print(error.errno in (13, 30))\n"
    end = ran(cluster, code)
    lines = end["stdout"].splitlines()
    assert lines[0].startswith("image ['bash', 'cat', 'python3', ") and lines[0].endswith("['new']"), lines
    assert lines[1] == "image" and lines[2].startswith("False [] ") and lines[3:] == ["True"] * 3, lines


def test_a_waiting_box_is_taken(cluster):
    """An image has no zygote: its interpreters start in boxes that wait."""
    ran(cluster, "1")
    end = time.monotonic() + 10
    while ran(cluster, "1")["usage"]["start"] != "warm":
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_session_keeps_it(cluster):
    session = cluster.call("create_session", {"environment": "plain"})["structuredContent"]["session_id"]
    SESSIONS.append(session)
    ran(cluster, "import marker; x = 1", session_id=session)
    assert ran(cluster, "print(marker.where, x)", session_id=session)["stdout"] == "image 1\n"
    assert ran(cluster, "cat /srv/kept; /sbin/merged", session_id=session, language="shell")["stdout"] == "keptmerged\n"
    assert "no program for it: /usr/bin/node" in refused(cluster, "execute_code", code="1", language="node", session_id=session)


def test_a_virtual_environment_of_the_image(cluster):
    end = ran(cluster, "import of_the_venv, shutil, sys\nprint(of_the_venv.x, sys.prefix, shutil.which('python3'))", "venv")
    assert end["stdout"] == "42 /opt/venv /opt/venv/bin/python3\n", end


def test_what_does_not_go_with_an_image(cluster):
    assert "packages: the environment plain is an image" in refused(cluster, "execute_code", code="1", environment="plain", packages=["six"])
    end = run(cluster, "1", use_container=True)
    assert end["isError"] and "use_container" in end["content"][0]["text"], end
    session = cluster.call("create_session", {"environment": "plain"})["structuredContent"]["session_id"]
    SESSIONS.append(session)
    assert "packages: the environment plain is an image" in refused(cluster, "install_package", packages=["six"], session_id=session)


def test_nothing_of_an_image_runs_outside_of_a_box(cluster):
    """Its python3 would leave a file.  A call fails, and other environments work."""
    assert "ended before it was ready" in refused(cluster, "execute_code", code="1", environment="broken")
    assert ran(cluster, "print(1)", "default")["stdout"] == "1\n"
    assert not os.path.exists(STATE + "/ran")


def test_other_boxes_see_the_host(cluster):
    end = ran(cluster, "import os\nprint(os.path.exists('/usr/bin/env'), os.path.exists('/usr/bin/merged'), os.listdir('/srv'))", "default")
    assert end["stdout"] == "True False []\n", end


def end_sessions(cluster):
    while SESSIONS:
        cluster.call("sandbox_close_session", {"session_id": SESSIONS.pop()})


def main():
    global STATE
    STATE = tempfile.mkdtemp(prefix="cloister-images-", dir="/var/tmp")
    try:
        prepare()
        with daemons.Cluster(BIN, flags={"executor": [f"--environments={STATE}/environments"]}) as cluster:
            counts = cases.play(sys.modules[__name__], cluster, after=lambda: end_sessions(cluster))
    finally:
        shutil.rmtree(STATE)
    cases.end(counts)


main()
