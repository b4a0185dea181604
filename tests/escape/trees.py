#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Traps that programs leave in a workspace for its readers: the executor's files and snapshots, through all daemons.

    trees.py BIN root|rootless

The ids are those of the catalogue of attacks: H for readers of files, T for snapshots, F for races.
"""

import base64
import contextlib
import glob
import hashlib
import os
import pwd
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402

MARK = "canary-" + os.urandom(8).hex()


class Sandbox:
    """One session; tools by name."""

    def __init__(self, cluster, **limits):
        self.cluster = cluster
        self.id = self.ok("create_session", **({"resource_limits": limits} if limits else {}))["session_id"]

    def call(self, tool, **arguments):
        if tool not in ("create_session", "list_state_snapshots"):
            arguments["session_id"] = self.id
        return self.cluster.call(tool, arguments, timeout=120)

    def ok(self, tool, **arguments):
        result = self.call(tool, **arguments)
        assert not result.get("isError"), (tool, result["content"][0]["text"][:600])
        return result["structuredContent"]

    # The expected text of the error.
    def refused(self, code, tool, **arguments):
        result = self.call(tool, **arguments)
        text = result["content"][0]["text"]
        assert result.get("isError") and f'"code":"{code}"' in text, (tool, arguments, text[:600])
        assert MARK not in text
        return text

    def run(self, code, **arguments):
        return self.ok("execute_code", code=code, **arguments)

    def read(self, path):
        return base64.b64decode(self.ok("sandbox_read_artifact", path=path)["content_base64"])

    def list(self):
        return self.ok("sandbox_list_artifacts")

    def names(self):
        return [artifact["filename"] for artifact in self.list()["artifacts"]]

    # Every name with all that a restore must bring back, as a program sees it.
    def tree(self):
        return self.run("""
import os, hashlib
found = {}
for directory, directories, files in os.walk(b".", onerror=print):
    for name in directories + files:
        path = os.path.join(directory, name); s = os.lstat(path)
        what = os.readlink(path) if os.path.islink(path) else None
        if what is None and os.path.isfile(path):
            what = hashlib.sha256(open(path, "rb").read()).hexdigest()
        mode = 0 if os.path.islink(path) else s.st_mode
        found[repr(path)] = [mode, s.st_mtime_ns, repr(what)]
result = found
""")["result"]

    def snapshot(self):
        return self.ok("create_state_snapshot")["snapshot_id"]

    def restore(self, snapshot_id):
        return self.ok("restore_state_snapshot", snapshot_id=snapshot_id)


def test_H01_links_out_are_not_followed(cluster):
    with tempfile.NamedTemporaryFile("w", prefix="cloister-canary-", dir="/tmp") as canary:
        canary.write(MARK)
        canary.flush()
        os.chmod(canary.name, 0o644)
        box = Sandbox(cluster)
        targets = ["/etc/shadow", "/etc/passwd", "/proc/self/environ", "/proc/self/fd/0", "/proc/1/root" + canary.name,
                   "../" * 20 + canary.name[1:], canary.name, "loop6", "/workspace/directory/file"]
        ran = box.run(f"import os\nos.mkdir('directory'); open('directory/file', 'w').write('x')\n"
                      f"for i, t in enumerate({targets!r}): os.symlink(t, f'loop{{i}}')\nos.symlink('/etc', 'etc')\n"
                      f"os.symlink('directory', 'inside')")
        assert [a["filename"] for a in ran["artifacts"]] == ["directory/file"], ran["artifacts"]
        for path in [f"loop{i}" for i in range(len(targets))] + ["etc/passwd", "inside/file", "loop4/x"]:
            assert "symbolic link" in box.refused("path_not_allowed", "sandbox_read_artifact", path=path)
        for path in "etc/x", "inside/x":
            box.refused("path_not_allowed", "sandbox_upload_file", filename=path, content_base64="eA==", overwrite=True)
        box.ok("sandbox_upload_file", filename="loop6", content_base64="eA==", overwrite=True)
        assert box.read("loop6") == b"x" and open(canary.name, encoding="ascii").read() == MARK
        listed = box.list()
        assert sorted(a["filename"] for a in listed["artifacts"]) == ["directory/file", "loop6"]
        before = box.tree()
        taken = box.snapshot()
        box.run("import os\nfor n in os.listdir('.'): os.path.isdir(n) and not os.path.islink(n) or os.remove(n)")
        box.restore(taken)
        assert box.tree() == before


def test_H02_slashes_do_not_help(cluster):
    box = Sandbox(cluster)
    box.run("import os\nos.symlink('/etc', 'dir')")
    for path in "dir/", "dir/.", "dir/../x", "dir//passwd", "./dir/passwd":
        box.refused("path_not_allowed", "sandbox_read_artifact", path=path)


def test_H04_what_is_no_file_is_skipped_by_name(cluster):
    box = Sandbox(cluster)
    box.run("import os, socket\nos.mkfifo('pipe')\nopen('file', 'w').write('x')\nos.mkdir('directory')")
    listed = box.list()
    assert [a["filename"] for a in listed["artifacts"]] == ["file"]
    assert any("pipe" in s and "FIFO" in s for s in listed["skipped"]), listed["skipped"]
    began = time.monotonic()
    assert "FIFO" in box.refused("path_not_allowed", "sandbox_read_artifact", path="pipe")
    assert "directory" in box.refused("path_not_allowed", "sandbox_read_artifact", path="directory")
    taken = box.snapshot()
    box.restore(taken)
    assert box.names() == ["file"] and time.monotonic() - began < 10


def test_H06_sizes_that_lie(cluster):
    box = Sandbox(cluster)
    box.run("for i in range(400): open(f'giant{i}', 'wb').truncate(200 << 20)", timeout=60)
    began = time.monotonic()
    listed = box.list()
    assert len(listed["artifacts"]) == 400 and not any("sha256" in a for a in listed["artifacts"])
    box.refused("file_too_large", "sandbox_read_artifact", path="giant7")
    assert "holes" in box.refused("snapshot_refused", "create_state_snapshot")
    # Holes that hide among smaller sizes add up to no more than what is stored, and a little.
    box.run("import os\nfor i in range(400): os.truncate(f'giant{i}', 60 << 20)", timeout=60)
    listed = box.list()
    assert len(listed["artifacts"]) == 400 and sum("sha256" in a for a in listed["artifacts"]) < 4
    assert time.monotonic() - began < 20


def test_H07_one_file_by_many_names(cluster):
    box = Sandbox(cluster)
    box.run("import os\nopen('f', 'wb').write(bytes(1 << 20))\nfor i in range(3000): os.link('f', f'l{i:04}')", timeout=60)
    began = time.monotonic()
    listed = box.list()
    assert len(listed["artifacts"]) == 3001 and time.monotonic() - began < 30
    taken = box.snapshot()  # each is a file of its own there, of one content
    assert box.ok("list_state_snapshots")["snapshots"][-1]["snapshot_id"] == taken
    assert box.ok("list_state_snapshots")["snapshots"][-1]["new_bytes"] <= 1 << 20


def test_H08_H09_names_of_any_bytes(cluster):
    box = Sandbox(cluster)
    names = [b"new\nline", b"tab\t", b"\x1b[31mred", b"'\";$(id)`\\", b"-rf", b" ", b"100%", b"\xff\xfe", b"\xc0\xaf",
             b"\xed\xa0\x80", "e\u0301".encode(), "\u00e9".encode(), "a\u202eb".encode(), b"n" * 255, b"%2e%2e"]
    box.run(f"import os\nfor i, n in enumerate({names!r}): open(n, 'w').write(str(i))")
    listed = box.list()
    assert len(listed["artifacts"]) == len(names) and listed["skipped"] == []
    seen = set()
    for artifact in listed["artifacts"]:
        assert all(c.isprintable() for c in artifact["filename"]), artifact
        seen.add(box.read(artifact["filename"]))
        assert box.read(artifact["path"]) in seen
    assert seen == {str(i).encode() for i in range(len(names))}
    before = box.tree()
    taken = box.snapshot()
    box.run("import os\nfor n in os.listdir(b'.'): os.remove(n)")
    restored = box.restore(taken)
    assert restored["recreated_count"] == len(names) and box.tree() == before


def test_H10_deeper_than_a_path(cluster):
    box = Sandbox(cluster)
    box.run("import os\nopen('top', 'w').close()\nfor i in range(10000): os.mkdir('d'); os.chdir('d')\n"
            "open('bottom', 'w').write('x')", timeout=60)
    listed = box.list()
    assert [a["filename"] for a in listed["artifacts"]] == ["top"]
    assert any("too long" in s for s in listed["skipped"]), listed["skipped"]
    assert "cannot hold" in box.refused("snapshot_refused", "create_state_snapshot")
    box.refused("limit_exceeded", "sandbox_upload_file", filename="d/" * 2500 + "x", content_base64="eA==")
    box.refused("path_not_allowed", "sandbox_upload_file", filename="d/" * 2047 + "xx", content_base64="eA==")
    box.ok("sandbox_close_session")


def test_H11_more_files_than_anybody_wants(cluster):
    box = Sandbox(cluster, max_files=60000, max_disk_mb=512)
    ran = box.run("for i in range(20000): open(f'f{i}', 'w').close()", timeout=120)
    assert len(ran["artifacts"]) == 1000, len(ran["artifacts"])
    listed = box.list()
    assert len(listed["artifacts"]) == 10000 and listed["truncated"]
    box.ok("sandbox_upload_file", filename="one/more", content_base64="eA==")
    assert box.read("one/more") == b"x"
    # A million is more than a workspace takes; the number that it took is returned in time.
    began = time.monotonic()
    full = box.call("execute_code", code="for i in range(1000000): open(f'g{i}', 'w').close()", timeout=120)
    assert full["structuredContent"]["error"]["code"] == "disk_full", full
    assert box.list()["truncated"] and time.monotonic() - began < 60
    box.ok("sandbox_close_session")


def test_H12_types_that_take_long_to_tell(cluster):
    box = Sandbox(cluster)
    slow = r"(b'<' + b'\n' * 8191, b'%' + b' ' * 8191, bytes(range(256)) * 32, b'#' + b'\t\n' * 4095, b'<' * 8192)"
    began = time.monotonic()
    ran = box.run(f"for i in range(990): open(f'f{{i}}', 'wb').write({slow}[i % 5])", timeout=60)
    assert len(ran["artifacts"]) == 990 and time.monotonic() - began < 20
    assert all("signature" in artifact for artifact in ran["artifacts"])
    box.ok("sandbox_close_session")


PNG = r"b'\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0'"


def test_H15_pictures_that_are_something_else(cluster):
    with tempfile.NamedTemporaryFile("wb", prefix="cloister-canary-", suffix=".png", dir="/tmp") as canary:
        canary.write(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + MARK.encode())
        canary.flush()
        os.chmod(canary.name, 0o644)
        box = Sandbox(cluster)
        result = box.call("execute_code", code=f"""
import os
png = {PNG}
open('true.png', 'wb').write(png)
open('page.png', 'w').write('<html><script>alert(1)</script>')
open('large.png', 'wb').write(png + bytes(5 << 20))
open('hollow.png', 'wb').write(png); os.truncate('hollow.png', 200 << 20)
open('shut.png', 'wb').write(png); os.chmod('shut.png', 0)
os.symlink({canary.name!r}, 'link.png'); os.mkfifo('pipe.png'); os.mkdir('directory.png')
open(b'name\\n\\xff.png', 'wb').write(png)
""")
        pictures = [part for part in result["content"] if part["type"] == "image"]
        rich = result["structuredContent"]["rich"]
        assert [r["name"] for r in rich] == ["name%0A%FF.png", "true.png"] and len(pictures) == 2, rich
        assert all(base64.b64decode(p["data"]).startswith(b"\x89PNG") for p in pictures) and MARK not in str(result)
        box.ok("sandbox_close_session")


def test_H16_pieces_go_where_they_belong(cluster):
    box, other = Sandbox(cluster), Sandbox(cluster)
    box.run("import os\nos.symlink('/etc/passwd', 'link'); os.mkfifo('pipe'); open('f', 'w').write('abc'); os.link('f', 'g')")
    for path in "link", "pipe", "/etc/passwd", "../f", "/proc/self/mem":
        box.refused("path_not_allowed", "sandbox_upload_file", filename=path, content_base64="eA==", offset=3)
        box.refused("path_not_allowed", "sandbox_read_artifact", path=path, offset=1, length=1)
    other.refused("not_found", "sandbox_upload_file", filename="f", content_base64="eA==", offset=3)
    box.refused("invalid_argument", "sandbox_upload_file", filename="f", content_base64="eA==", offset=2**63 - 1)
    box.ok("sandbox_upload_file", filename="g", content_base64="eA==", offset=3)
    assert box.read("f") == b"abcx"
    assert box.ok("sandbox_read_artifact", path="f", offset=2**63 - 1, length=1)["size"] == 0
    assert box.ok("sandbox_read_artifact", path="f", offset=2**63 - 1)["size"] == 0
    box.ok("sandbox_close_session")
    other.ok("sandbox_close_session")


def test_H17_fifty_megabytes_in_bounded_memory(cluster):
    def peak(pid):
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) >> 10

    with open(os.path.join(cluster.bin, "cloister-executor"), "rb") as program:
        sanitized = b"__asan_init" in program.read()
    data = os.urandom(50 << 20)
    with daemons.Cluster(cluster.bin, user=cluster.user) as own, own.client(flags=["--toolsets=all", "--result-bytes=0"]) as client:
        box = Sandbox(own)
        for _ in range(3):
            up = client.call("sandbox_upload_file", {"session_id": box.id, "filename": "big", "overwrite": True,
                                                     "content_base64": base64.b64encode(data).decode()}, timeout=120)
            assert up["structuredContent"]["sha256"] == hashlib.sha256(data).hexdigest()
        down = client.call("sandbox_read_artifact", {"session_id": box.id, "path": "big"}, timeout=120)
        assert base64.b64decode(down["structuredContent"]["content_base64"]) == data
        # The message, what it is parsed to, and the bytes; the bytes there, and the packet they came in.
        assert sanitized or (peak(client.process.pid) < 260 and peak(own.pid("executor")) < 180), (
            peak(client.process.pid), peak(own.pid("executor")))


def charged(cluster):
    """Bytes charged to the cgroups of all sandboxes of this cluster; None: there are no cgroups."""
    keeper = int(daemons_children(cluster.pid("executor"))[0])
    fds, open_there = f"/proc/{daemons_children(keeper)[0]}/fd", set()
    for fd in os.listdir(fds):
        with contextlib.suppress(FileNotFoundError):  # it makes boxes meanwhile
            st = os.stat(f"{fds}/{fd}")
            open_there.add((st.st_dev, st.st_ino))
    for knob in "memory.usage_in_bytes", "memory.current":
        for path in glob.glob(f"/sys/fs/cgroup/**/cloister-*/{knob}", recursive=True):
            st = os.stat(os.path.dirname(path))
            if (st.st_dev, st.st_ino) in open_there:
                with open(path, encoding="ascii") as file:
                    return int(file.read())
    return None


def daemons_children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return file.read().split()


def test_R03_uploads_count_as_files_of_programs(cluster):
    """R-03: uploaded or restored files count as memory of the sandboxes, which has a common limit, and not as other host memory."""
    box, before = Sandbox(cluster, max_disk_mb=200), charged(cluster)
    for i in range(3):
        box.ok("sandbox_upload_file", filename=str(i), content_base64=base64.b64encode(os.urandom(40 << 20)).decode())
    if before is None:
        print("no groups here: not counted")
    else:
        time.sleep(0.5)  # its file helper has ended, and its files stay charged
        assert charged(cluster) - before > 110 << 20, (before, charged(cluster))
    taken = box.ok("create_state_snapshot")
    restored = box.ok("restore_state_snapshot", snapshot_id=taken["snapshot_id"])["restored"]
    assert restored == taken["snapshot_id"] or restored, restored
    if before is not None:
        assert charged(cluster) - before > 110 << 20, (before, charged(cluster))
    assert len(box.read("0")) == 40 << 20
    box.ok("terminate_session")


def test_H13_our_names_are_not_in_the_way(cluster):
    box = Sandbox(cluster)
    box.run("import os\nfor n in '.cloister-0123456789abcdef', '.draft-0123456789abcdef', '.cloister-': os.mkdir(n)")
    box.ok("sandbox_upload_file", filename="f", content_base64="eA==")
    assert [n for n in box.names() if n != "f"] == []
    before = box.tree()
    box.restore(box.snapshot())
    assert box.tree() == before


def test_H14_T11_modes_and_what_may_not_be_read(cluster):
    box = Sandbox(cluster)
    box.run("import os\nfor m in (0o400, 0o644, 0o755, 0o777, 0o600): open(f'm{m:o}', 'w').close(); os.chmod(f'm{m:o}', m)\n"
            "os.mkdir('d'); os.chmod('d', 0o500); os.mkdir('s'); os.chmod('s', 0o700)")
    before = box.tree()
    taken = box.snapshot()
    box.run("import os\nfor n in os.listdir('.'): os.chmod(n, 0o755)")
    box.restore(taken)
    assert box.tree() == before
    box.run("import os\nopen('secret', 'w').write('x'); os.chmod('secret', 0)")
    assert any("secret" in s and "permissions" in s for s in box.list()["skipped"]), box.list()["skipped"]
    assert "secret" in box.refused("snapshot_refused", "create_state_snapshot")
    box.run("import os\nos.chmod('secret', 0o600); os.mkdir('shut'); os.chmod('shut', 0)")
    assert "shut" in box.refused("snapshot_refused", "create_state_snapshot")
    box.run("import os\nos.chmod('shut', 0o700)")
    box.snapshot()


def test_T02_a_link_where_a_directory_was(cluster):
    box = Sandbox(cluster)
    box.run("import os\nos.mkdir('d'); open('d/f', 'w').write('old')")
    taken = box.snapshot()
    box.run("import os, shutil\nshutil.rmtree('d'); os.symlink('/tmp', 'd'); os.mkdir('other'); os.symlink('..', 'other/up')")
    box.restore(taken)
    assert box.read("d/f") == b"old" and box.names() == ["d/f"]
    assert not os.path.exists("/tmp/f")


def test_T10_times_are_exact(cluster):
    box = Sandbox(cluster)
    box.run("import os\nos.mkdir('d'); os.symlink('x', 'd/l')\n"
            "for i, ns in enumerate((0, 1, -1, 999999999, -(10**9) - 5, 4102444800 * 10**9 + 7, 1700000000123456789)):\n"
            "    open(f'd/f{i}', 'w').close(); os.utime(f'd/f{i}', ns=(0, ns))\n"
            "os.utime('d/l', ns=(0, 12345678901), follow_symlinks=False)\nos.utime('d', ns=(0, 98765432109))")
    before = box.tree()
    taken = box.snapshot()
    for _ in range(2):
        box.run("import os\nfor n in os.listdir('d'): os.utime(f'd/{n}', follow_symlinks=False)\nopen('d/new', 'w').close()")
        box.restore(taken)
        assert box.tree() == before


def test_T14_snapshots_are_found_by_their_id_alone(cluster):
    box = Sandbox(cluster)
    taken = box.snapshot()
    for wrong in taken.upper(), taken[:-1], "../" + taken, "0" * 36, taken + "\u00e9", " " + taken:
        if wrong != taken:
            box.refused("not_found", "restore_state_snapshot", snapshot_id=wrong)
    box.ok("delete_state_snapshot", snapshot_id=taken)
    box.refused("not_found", "restore_state_snapshot", snapshot_id=taken)


# Swaps a directory with a symlink to the outside as fast as it can, until it finds the file `stop`.
SWAP = """
import ctypes, os
os.mkdir('d'); open('d/f', 'w').write('inside'); os.symlink(%r, 'l')
swap = ctypes.CDLL(None).renameat2
while not os.path.exists('stop'):
    for _ in range(1000): swap(-100, b'd', -100, b'l', 2)
"""


def test_F17_T03_races_win_nothing(cluster):
    with tempfile.TemporaryDirectory(prefix="cloister-canary-") as outside:
        os.chmod(outside, 0o777)
        with open(os.path.join(outside, "f"), "w", encoding="ascii") as canary:
            canary.write(MARK)
        box = Sandbox(cluster)
        with cluster.client(flags=["--toolsets=all", "--result-bytes=0"]) as client:
            racing = client.begin("tools/call", {"name": "execute_code", "arguments": {
                "code": SWAP % outside, "session_id": box.id, "timeout": 60}})
            time.sleep(0.5)
            answered = 0
            for _ in range(100):
                for tool, arguments in (("sandbox_read_artifact", {"path": "d/f"}), ("sandbox_list_artifacts", {}),
                                        ("create_state_snapshot", {})):
                    text = str(box.call(tool, **arguments))
                    assert MARK not in text and base64.b64encode(MARK.encode()).decode()[:20] not in text
                    answered += "session_busy" not in text
                box.call("sandbox_upload_file", filename="d/new", content_base64="eA==", overwrite=True)
                box.call("sandbox_upload_file", filename="d/f", content_base64="eA==", offset=len(MARK))
            stopped = box.call("sandbox_upload_file", filename="stop", content_base64="")
            if stopped.get("isError"):  # nothing is read nor written while a program runs
                assert answered == 0, "reads are let in and writes are not"
                client.notify("notifications/cancelled", {"requestId": racing.id})
            else:
                assert racing.result(90)["structuredContent"]["success"]
        assert sorted(os.listdir(outside)) == ["f"]
        assert open(os.path.join(outside, "f"), encoding="ascii").read() == MARK


def main():
    if sys.argv[2] == "root" and os.geteuid() != 0:
        daemons.skip("not root")
    nobody = pwd.getpwnam("nobody").pw_uid if sys.argv[2] == "rootless" and os.geteuid() == 0 else None
    with daemons.Cluster(sys.argv[1], user=nobody) as cluster:
        cases.run(sys.modules[__name__], cluster)


main()
