#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""validate_csv_data for files of a session that no message can hold: the report, memory, secrets, hostile files.

    csv_files.py BIN
"""

import base64
import glob
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import daemons  # noqa: E402

TOO_LARGE = ["--max-upload-bytes=4096"]  # a larger file is checked in a box
SECRET = "sk-0123456789-abcdef"
LARGE = """
row = "%d,person %d,someone@example.org,2024-02-29,3.25\\n"
with open("large.csv", "w") as file:
    file.write("id,name,mail,day,price\\n")
    for n in range(0, 1200000, 10000):
        file.writelines(row % (i, i) for i in range(n, n + 10000))
    file.write("last,x,nobody,2024-02-30,\\n")
"""
RULES = {"id": "int", "mail": "email", "day": "date"}
ANON_KB = 24 << 10
TEXTS = [
    ("id,name\n1,ann\nx,b\n" * 700, {"type_constraints": {"id": {"type": "int", "unique": True}}, "max_errors": 3}),
    ("\ufeffid;name\r\n1;\"a\nb\"\r\n2;c;d\r\n" + "3;e\r\n" * 2000 + "Total;9\r\n", {"required_headers": ["Name", "none"]}),
    ("!x\n'a;b';1.000,5\n" * 500, {"quote": "'", "comment": "!", "decimal": ",", "thousands": ".", "has_header": False}),
    ("a,b\n1,2\n" * 1000, {"statistics": False, "delimiter": ",", "skip_lines": 2}),
    ("a,b\n1,é\n" * 1000, {"encoding": "latin-1"}),
    ("x\n" * 4000, {"type_constraints": {"x": "integr"}}),
]


def session_with(cluster, code, **more):
    session = cluster.call("create_session", {"resource_limits": {"max_disk_mb": 256}})["structuredContent"]["session_id"]
    run(cluster, session, code, **more)
    return session


def run(cluster, session, code, **more):
    result = cluster.call("execute_code", {"session_id": session, "code": code, **more})
    assert not result["isError"], result
    return result


def check(cluster, session, path, **more):
    return cluster.call("validate_csv_data", {"session_id": session, "path": path, **more})


def end(cluster, session):
    cluster.call("terminate_session", {"session_id": session})


def checkers():
    """Numbers of the processes that check a file."""
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                if file.read() == b"/cloister/check/csv\0":
                    yield int(path.split("/")[2])
        except OSError:
            pass  # it has ended


def anonymous_kb(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("RssAnon:")), 0)
    except OSError:
        return 0


class Peak:
    """The most anonymous memory that a checker had meanwhile."""

    def __enter__(self):
        self.kb, self.over = 0, threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()
        return self

    def watch(self):
        while not self.over.wait(0.005):
            self.kb = max([self.kb, *map(anonymous_kb, checkers())])

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def test_a_large_file_takes_little_memory(bin):
    with daemons.Cluster(bin) as cluster:
        session = session_with(cluster, LARGE)
        with Peak() as peak:
            began = time.monotonic()
            result = check(cluster, session, "large.csv", type_constraints=RULES)
        print(f"  {time.monotonic() - began:.2f} s, {peak.kb} KiB")
        report = result["structuredContent"]
        assert (report["row_count"], report["error_count"], report["valid"]) == (1200001, 3, False), report
        assert [(e["row"], e["line"], e["column"]) for e in report["errors"]] == [(1200001, 1200002, c) for c in RULES], report
        assert report["columns"][1]["max"] == "x" and report["columns"][1]["unique_exact"] is False, report["columns"]
        assert 0 < peak.kb < ANON_KB, peak.kb


def test_the_report_is_the_validators(bin):
    with daemons.Cluster(bin, flags={"executor": TOO_LARGE}) as cluster:
        session = session_with(cluster, "pass")
        for text, more in TEXTS:
            data = text.encode("latin-1" if more.get("encoding") == "latin-1" else "utf-8")
            encoded = base64.b64encode(data).decode()
            run(cluster, session, f"import base64\nopen('t.csv', 'wb').write(base64.b64decode('{encoded}'))")
            here = cluster.call("validate_csv_data", {"csv_base64": encoded, **more})
            there = check(cluster, session, "/workspace/t.csv", **more)
            assert here == there, (more, here, there)


def test_secrets_are_masked(bin):
    """Also the beginning of one that a column's least value is cut in."""
    long = "A0" + "k3y" * 40
    with daemons.Cluster(bin, flags={"executor": TOO_LARGE}) as cluster:
        client = cluster.client()
        for name, value in ("KEY", SECRET), ("LONG", long):
            client.request("cloister/vault/add", {"name": name, "value": base64.b64encode(value.encode()).decode()})
        session = session_with(cluster, "import os\nwith open('t.csv', 'w') as file:\n file.write('id,name\\n' + 'x,y\\n' * 2000)\n "
                               "file.write(os.environ['KEY'] + ',' + os.environ['LONG'] + '\\n')", env_secrets=["KEY", "LONG"])
        result = check(cluster, session, "t.csv", type_constraints={"id": {"enum": ["x"]}})
        report = result["structuredContent"]
        assert report["errors"][0]["value"] == "*" * len(SECRET) and report["errors"][0]["row"] == 2001, report
        assert report["columns"][1]["min"] == "*" * 64, report
        assert "sk-0" not in str(result) and "A0k3y" not in str(result), result


HOSTILE = """
import os
os.makedirs("d/e")
open("d/e/t.csv", "w").write("a,b\\n" * 3000)
os.symlink("d/e/t.csv", "link.csv")
os.symlink("d", "way")
os.symlink("/etc/passwd", "out.csv")
os.mkfifo("fifo.csv")
open("latin.csv", "wb").write(b"a,\\xe9\\n" * 3000000)
open("zero.csv", "wb").truncate(50 << 20)
"""


def test_hostile_files(bin):
    with daemons.Cluster(bin) as cluster:
        session = session_with(cluster, HOSTILE)
        assert not check(cluster, session, "d/e/t.csv")["isError"]
        for path, says in (("link.csv", "link"), ("out.csv", "link"), ("way/e/t.csv", "link"), ("fifo.csv", "fifo.csv"), ("d", "directory"),
                           ("../etc/passwd", "not allowed"), ("/etc/passwd", "outside"), ("none.csv", "none.csv"), ("", "path"),
                           ("latin.csv", "only UTF-8 is checked"), ("zero.csv", "only UTF-8 is checked")):
            result = check(cluster, session, path)
            assert result["isError"] and says in result["content"][0]["text"], (path, result)
        result = check(cluster, session, "d/e/t.csv", csv_content="a\n1\n")
        assert "give csv_content, csv_base64 or the path" in result["content"][0]["text"], result


def test_names_in_a_box(bin):
    """The checker itself follows no link, whatever the gateway's first look at the file said."""
    with daemons.Cluster(bin, flags={"executor": TOO_LARGE}) as cluster:
        session = session_with(cluster, HOSTILE)
        assert check(cluster, session, "d/e/t.csv")["structuredContent"]["row_count"] == 2999
        for path, says in (("link.csv", "is a link"), ("out.csv", "is a link"), ("way/e/t.csv", "is a link"), ("d", "not a regular file"),
                           ("fifo.csv", "not a regular file"), ("none.csv", "No such file"), ("../etc/passwd", "not allowed"), ("/etc/passwd", "outside")):
            result = check(cluster, session, path)
            assert result["isError"] and says in result["content"][0]["text"], (path, result)
        end(cluster, session)
        assert check(cluster, session, "d/e/t.csv")["isError"]


def test_a_file_that_shrinks(bin):
    with daemons.Cluster(bin) as cluster:
        client = cluster.client()
        session = session_with(cluster, LARGE)
        waiting = client.begin("tools/call", {"name": "validate_csv_data", "arguments": {"session_id": session, "path": "large.csv", "type_constraints": RULES}})
        await_checker()
        run(cluster, session, "import os\nos.truncate('large.csv', 100)")
        text = waiting.result()["content"][0]["text"]
        assert "became shorter" in text and "session_busy" in text, text


def await_checker(there=True):
    """Until one is at work, or none is left."""
    until = time.monotonic() + 20
    while any(anonymous_kb(pid) > 1000 for pid in checkers()) != there:
        assert time.monotonic() < until, "no checker came or went"
        time.sleep(0.002)


def test_a_check_is_cancelled(bin):
    with daemons.Cluster(bin) as cluster:
        client = cluster.client()
        session = session_with(cluster, LARGE)
        arguments = {"session_id": session, "path": "large.csv", "type_constraints": RULES}
        waiting = client.begin("tools/call", {"name": "validate_csv_data", "arguments": arguments})
        await_checker()
        client.notify("notifications/cancelled", {"requestId": waiting.id})
        await_checker(there=False)
        waiting = client.begin("tools/call", {"name": "validate_csv_data", "arguments": arguments})
        await_checker()
        end(cluster, session)
        await_checker(there=False)
        assert "the session ended" in waiting.result()["content"][0]["text"]


if __name__ == "__main__":
    cases.run(sys.modules[__name__], os.path.abspath(sys.argv[1]))
