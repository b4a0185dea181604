#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What snapshotd keeps for each owner, snapshots and schemas, what it refuses, and which changes of its store it detects.

    snapshotd_store.py BIN ASKER
"""

import base64
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from keeper import Keeper, Refused, flip, sha256, shorten  # noqa: E402

TREE = {"a": None, "a/b.txt": b"one", "a/copy": b"one", "empty": b"", "link": ("link", "/etc/shadow"),
        "na%FF%0A": b"odd", "z.bin": bytes(range(256)) * 5000}


def put(content):
    return {"sha256": sha256(content), "content": base64.b64encode(content).decode()}


def wait_for(condition, timeout=10):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def test_a_snapshot_is_what_was_saved(bin, asker):
    with Keeper(bin, asker) as keeper:
        first = keeper.save(TREE, description="first")
        assert first["file_count"] == 5 and first["total_bytes"] == 3 + 3 + 3 + 256 * 5000, first
        assert first["new_bytes"] == 3 + 3 + 256 * 5000 and first["description"] == "first"
        second = keeper.save({**TREE, "new": b"more"}, parent=first["snapshot_id"])
        assert second["new_bytes"] == 4 and second["parent"] == first["snapshot_id"]
        assert keeper.restore(first["snapshot_id"]) == TREE
        assert keeper.list() == [first, second]
        nothing = keeper.save({}, session="s2")
        assert keeper.list(session="s2") == [nothing] and keeper.restore(nothing["snapshot_id"]) == {}
        keeper.restart("snapshotd")
        assert keeper.list() == [first, second, nothing]
        assert keeper.restore(first["snapshot_id"]) == TREE
        assert keeper.drop(first["snapshot_id"]) == {"snapshot_id": first["snapshot_id"], "status": "deleted"}
        for message in "snapshot_open", "snapshot_drop":
            assert keeper.refusal(message, {"snapshot_id": first["snapshot_id"]}).code == "not_found"
        assert keeper.restore(second["snapshot_id"])["new"] == b"more"


def test_principals_share_nothing(bin, asker):
    with Keeper(bin, asker) as keeper:
        mine = keeper.save({"f": b"secret"}, namespace="work")
        digest = sha256(b"secret")
        for who in ({"principal": "bob"}, {"principal": "bob", "namespace": "work"}):
            assert keeper.ask("snapshot_offer", {"sha256": [digest]}, **who)["sha256"] == [digest]
            commit = {"session_id": "s", "new_bytes": 0, "entries": [
                {"path": "f", "type": "file", "mode": 0, "mtime_ns": 0, "size": 6, "sha256": digest}]}
            assert keeper.refusal("snapshot_commit", commit, **who).code == "not_found"
        for who in ({"principal": "bob"}, {"principal": "bob", "namespace": "work"}, {"principal": "alice"},
                    {"principal": "alice", "namespace": "play"}):
            assert keeper.list(**who) == []
            same = keeper.refusal("snapshot_open", {"snapshot_id": "00000000-0000-4000-8000-000000000000"}, **who)
            for message, request in (("snapshot_open", {}), ("snapshot_drop", {}), ("snapshot_get", {"sha256": digest})):
                refused = keeper.refusal(message, {"snapshot_id": mine["snapshot_id"], **request}, **who)
                assert (refused.code, refused.text) == (same.code, same.text) == ("not_found", same.text), refused
        assert keeper.restore(mine["snapshot_id"], namespace="work") == {"f": b"secret"}
        assert keeper.refusal("snapshot_query", {}, principal=None).code == "denied"


def test_a_content_of_another_snapshot_is_not_given(bin, asker):
    with Keeper(bin, asker) as keeper:
        one = keeper.save({"f": b"one"})
        keeper.save({"f": b"two"})
        refused = keeper.refusal("snapshot_get", {"snapshot_id": one["snapshot_id"], "sha256": sha256(b"two")})
        assert refused.code == "not_found", refused


def test_what_is_not_what_it_says_is_refused(bin, asker):
    with Keeper(bin, asker) as keeper:
        refused = keeper.refusal("snapshot_put", {**put(b"true"), "sha256": sha256(b"false")})
        assert refused.code == "invalid_argument" and "SHA-256" in refused.text, refused
        assert keeper.contents() == set()
        for digest in "x" * 64, "A" * 64, "../" * 21 + "x":
            assert keeper.refusal("snapshot_put", {**put(b""), "sha256": digest}).code == "invalid_argument"
            assert keeper.refusal("snapshot_offer", {"sha256": [digest]}).code == "invalid_argument"
        keeper.ask("snapshot_put", put(b"four"))
        wrong = {"path": "f", "type": "file", "mode": 0, "mtime_ns": 0, "size": 5, "sha256": sha256(b"four")}
        commit = {"session_id": "s", "new_bytes": 0, "entries": [wrong]}
        assert keeper.refusal("snapshot_commit", commit).code == "not_found"
        commit["entries"] = [{**wrong, "size": 4}]
        assert keeper.refusal("snapshot_commit", {**commit, "new_bytes": 5}).code == "invalid_argument"
        assert keeper.ask("snapshot_commit", commit)["file_count"] == 1


def test_trees_that_could_not_be_restored_are_refused(bin, asker):
    def file(path, **more):
        return {"path": path, "type": "file", "mode": 0, "mtime_ns": 0, "size": 0, "sha256": sha256(b""), **more}

    def directory(path, **more):
        return {"path": path, "type": "directory", "mode": 0, "mtime_ns": 0, "size": 0, **more}

    def link(path, target="x", **more):
        return {"path": path, "type": "symlink", "mode": 0, "mtime_ns": 0, "size": 0, "target": target, **more}

    bad = [[file(path)] for path in (
        "..", ".", "/etc/passwd", "../x", "a/../b", "x/", "/", "a\nb", "a%2Fb", "%2e%2e", "a%00b", "a%4", "%", "%zz",
        "a" * 256, "%FF" * 256, "a%2E")]
    bad += [[file("f"), file("f")], [file("b"), file("a")], [file("a/b")], [file("a"), file("a/b")],
            [link("a"), file("a/b")], [directory("a"), link("a/b"), file("a/b/c")], [directory("a"), file("a")],
            [file("f", sha256=None)], [directory("f", sha256=sha256(b""))], [directory("f", target="x")],
            [link("f", target=None)], [file("f", target="x")], [directory("f", size=1)], [link("f", size=1)],
            [file("f", sha256="A" * 64)], [link("f", target="a%00")], [link("f", target="%2")],
            [file("f", same_as="g")], [file("f", same_as="f")], [file("f", same_as="../f"), file("g")],
            [directory("d"), file("f", same_as="d")], [file("f"), link("l", same_as="f")],
            [file("f"), file("g", same_as="f", size=1)], [file("f"), file("g", same_as="f"), file("h", same_as="g")],
            [file("f"), file("g", same_as="f", sha256=sha256(b"x"))], [directory("d", same_as="f"), file("f")],
            [directory("a"), *(file("a/" + "b" * n) for n in range(250, 257))]]
    good = [[directory("a"), file("a-"), file("a/b"), file("ab")], [link("l", "../../etc/%FF")], [file("%FF%25%0A")],
            [file("...")], [file("-rf *")], [file("a", same_as="b"), file("b"), file("c", same_as="b")], [directory("a"), directory("a/b"), link("a/b/c", "/"), file("a/d")]]
    with Keeper(bin, asker) as keeper:
        keeper.ask("snapshot_put", put(b""))
        for entries in bad:
            refused = keeper.refusal("snapshot_commit", {"session_id": "s", "new_bytes": 0, "entries": entries})
            assert refused.code == "invalid_argument", (entries, refused)
        assert keeper.list() == []
        for entries in good:
            assert keeper.ask("snapshot_commit", {"session_id": "s", "new_bytes": 0, "entries": entries})
        assert os.listdir(os.path.join(keeper.owner(), "snapshots")).sort() == [
            s["snapshot_id"] for s in keeper.list()].sort()


def test_limits_are_named(bin, asker):
    flags = {"snapshotd": ["--max-principal-bytes=2097152", "--max-snapshots=2", "--max-store-bytes=4194304"]}
    with Keeper(bin, asker, flags=flags) as keeper:
        first = keeper.save({"f": b"1" * 1000000})
        refused = keeper.refusal("snapshot_put", put(b"2" * 1200000))
        assert refused.code == "limit_exceeded" and "max_principal_bytes" in refused.text, refused
        keeper.ask("snapshot_put", put(b"3" * 2000000), principal="bob")
        refused = keeper.refusal("snapshot_put", put(b"4" * 1900000), principal="carol")
        assert refused.code == "limit_exceeded" and "max_store_bytes" in refused.text, refused
        keeper.save({})
        refused = keeper.refusal("snapshot_commit", {"session_id": "s", "new_bytes": 0, "entries": []})
        assert refused.code == "limit_exceeded" and "max_snapshots" in refused.text, refused
        keeper.restart("snapshotd")
        assert "max_snapshots" in keeper.refusal(
            "snapshot_commit", {"session_id": "s", "new_bytes": 0, "entries": []}).text
        keeper.drop(first["snapshot_id"])
        keeper.save({"f": b"5" * 10})
    with Keeper(bin, asker, flags={"snapshotd": ["--keep-free-bytes=9223372036854775807"]}) as keeper:
        refused = keeper.refusal("snapshot_put", put(b"x"))
        assert refused.code == "limit_exceeded" and "keep_free_bytes" in refused.text, refused


HELD = 1.2  # seconds, with the flag below


def test_what_nobody_needs_goes_and_nothing_else(bin, asker):
    with Keeper(bin, asker, flags={"snapshotd": ["--hold-seconds=1"]}) as keeper:
        keeper.save({"f": b"shared", "g": b"kept"})
        second = keeper.save({"f": b"shared", "h": b"alone"})
        time.sleep(HELD)
        keeper.drop(second["snapshot_id"])
        wait_for(lambda: keeper.contents() == {sha256(b"shared"), sha256(b"kept")})


def test_what_was_offered_stays_for_its_commit(bin, asker):
    def offer_and_drop(keeper, between):
        snapshot = keeper.save({"h": b"alone"})
        time.sleep(HELD)
        assert keeper.ask("snapshot_offer", {"sha256": [sha256(b"alone")]})["sha256"] == []
        between()
        keeper.drop(snapshot["snapshot_id"])
        time.sleep(0.3)
        entry = {"path": "f", "type": "file", "mode": 0, "mtime_ns": 0, "size": 5, "sha256": sha256(b"alone")}
        again = keeper.ask("snapshot_commit", {"session_id": "s", "new_bytes": 0, "entries": [entry]})
        assert keeper.restore(again["snapshot_id"]) == {"f": b"alone"}
        keeper.drop(again["snapshot_id"])

    with Keeper(bin, asker, flags={"snapshotd": ["--hold-seconds=1"]}) as keeper:
        offer_and_drop(keeper, lambda: None)
        # A restarted daemon does not know the offers to its predecessor.
        offer_and_drop(keeper, lambda: keeper.restart("snapshotd"))


def test_a_changed_content_is_noticed_and_mended(bin, asker):
    with Keeper(bin, asker) as keeper:
        saved = keeper.save({"f": b"good content", "g": b"other"})
        digest = sha256(b"good content")
        get = {"snapshot_id": saved["snapshot_id"], "sha256": digest}
        path, other = keeper.content_file(digest), keeper.content_file(sha256(b"other"))
        assert oct(os.stat(path).st_mode) == "0o100400"

        def broken(change):
            change()
            refused = keeper.refusal("snapshot_get", get)
            assert refused.code == "snapshot_corrupt", refused
            assert keeper.ask("snapshot_get", {**get, "sha256": sha256(b"other")})
            assert keeper.ask("snapshot_offer", {"sha256": [digest]})["sha256"] == [digest]
            keeper.ask("snapshot_put", put(b"good content"))
            assert keeper.restore(saved["snapshot_id"])["f"] == b"good content"

        def replace(content=None, link=None, fifo=False):
            os.unlink(path)
            if content is not None:
                with open(path, "wb") as file:
                    file.write(content)
            if link is not None:
                os.symlink(link, path)
            if fifo:
                os.mkfifo(path)

        broken(lambda: flip(path, 3))
        broken(lambda: flip(path, -1))
        broken(lambda: shorten(path, 5))
        broken(lambda: shorten(path, 0))
        broken(replace)
        broken(lambda: replace(b"good content and more"))
        broken(lambda: replace(b"bad content!"))
        broken(lambda: replace(link="/etc/passwd"))
        broken(lambda: replace(link=other))
        broken(lambda: replace(fifo=True))
        assert "a content of a snapshot is corrupt" in keeper.log("snapshotd")


def test_a_changed_manifest_is_noticed(bin, asker):
    with Keeper(bin, asker) as keeper:
        size = os.path.getsize(keeper.manifest_file(keeper.save({"f": b"x"})["snapshot_id"]))
        good = keeper.save({"f": b"x"})
        for at in (0, 9, 20, 41, 45, 50, 60, 70, size // 2, size - 1):
            saved = keeper.save({"f": b"x"})
            flip(keeper.manifest_file(saved["snapshot_id"]), at)
            assert keeper.refusal("snapshot_open", {"snapshot_id": saved["snapshot_id"]}).code == "snapshot_corrupt"
        # Another snapshot's manifest in its place has a valid digest, but is the wrong one.
        first, second = keeper.save({"f": b"1"}), keeper.save({"f": b"2"})
        paths = [keeper.manifest_file(s["snapshot_id"]) for s in (first, second)]
        os.rename(paths[0], paths[1])
        for saved in first, second:
            assert keeper.refusal("snapshot_open", {"snapshot_id": saved["snapshot_id"]}).code == "snapshot_corrupt"
        assert keeper.restore(good["snapshot_id"]) == {"f": b"x"}


def test_a_start_sets_broken_manifests_aside(bin, asker):
    with Keeper(bin, asker) as keeper:
        good = keeper.save({"f": b"x"})
        torn, flipped, cut, swapped = (keeper.save({"f": b"y%d" % i}) for i in range(4))
        theirs = keeper.save({"f": b"z"}, principal="bob")
        keeper.kill("snapshotd", signal.SIGTERM)
        shorten(keeper.manifest_file(torn["snapshot_id"]), 100)
        flip(keeper.manifest_file(flipped["snapshot_id"]), 200)
        shorten(keeper.manifest_file(cut["snapshot_id"]), 0)
        os.rename(keeper.manifest_file(theirs["snapshot_id"], "bob"), keeper.manifest_file(swapped["snapshot_id"]))
        keeper.restart("snapshotd")
        assert keeper.log("snapshotd").count("set aside") == 4
        assert keeper.list() == [good] and keeper.list(principal="bob") == []
        for broken in torn, flipped, cut, swapped:
            refused = keeper.refusal("snapshot_open", {"snapshot_id": broken["snapshot_id"]})
            assert refused.code == "snapshot_corrupt", refused
            assert os.path.exists(keeper.manifest_file(broken["snapshot_id"], directory="broken"))
        # The contents that broken manifests name are kept while the manifests can still be repaired by hand.
        assert {sha256(b"y%d" % i) for i in range(4)} <= keeper.contents()
        keeper.restart("snapshotd")
        for broken in torn, flipped, cut, swapped:
            keeper.drop(broken["snapshot_id"])
            assert keeper.refusal("snapshot_open", {"snapshot_id": broken["snapshot_id"]}).code == "not_found"
        assert keeper.restore(good["snapshot_id"]) == {"f": b"x"}


def test_a_start_removes_drafts_and_leaves_strangers(bin, asker):
    with Keeper(bin, asker) as keeper:
        keeper.save({"f": b"x"})
        keeper.kill("snapshotd")
        owner = os.stat(keeper.owner())
        drafts = [os.path.join(keeper.owner(), directory, ".draft-0123456789abcdef") for directory in
                  ("snapshots", "contents/0", "contents/f")]
        strangers = [os.path.join(keeper.owner(), name) for name in
                     ("snapshots/README", "contents/0/" + "f" * 64, "contents/0/x")]
        for path in drafts + strangers:
            with open(path, "w", encoding="ascii") as file:
                file.write("x")
            os.chown(path, owner.st_uid, owner.st_gid)
        keeper.restart("snapshotd")
        assert not any(map(os.path.exists, drafts)) and all(map(os.path.exists, strangers))
        assert keeper.log("snapshotd").count("the store ignores a file that is not its own") == 3
        assert len(keeper.list()) == 1


def test_a_full_disk_is_answered_and_got_over(bin, asker):
    if os.geteuid() != 0:
        raise cases.Skip("only root can mount a small disk")
    keeper = Keeper(bin, asker, flags={"snapshotd": ["--keep-free-bytes=0"]})
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=0755", "tmpfs", keeper.state], check=True)
    try:
        with keeper:
            first = keeper.save({"f": b"1" * 2000000})
            refused = keeper.refusal("snapshot_put", put(b"2" * 3000000))
            assert refused.code == "limit_exceeded" and "disk" in refused.text, refused
            puts = [keeper.asker.begin("snapshot_put", put(b"%d" % i * 300000)) for i in range(10)]
            answers = [answer.get(timeout=30) for answer in puts]
            codes = {answer["error"]["code"] for answer in answers if "error" in answer}
            assert codes == {"limit_exceeded"}, codes
            assert not any(name.startswith(".draft") for name in keeper.contents())
            assert keeper.restore(first["snapshot_id"]) == {"f": b"1" * 2000000}
            subprocess.run(["mount", "-o", "remount,size=64m", keeper.state], check=True)
            keeper.restore(keeper.save({"g": b"2" * 3000000})["snapshot_id"])
    finally:
        subprocess.run(["umount", keeper.state], check=True)


def test_a_disk_without_inodes_is_answered_and_got_over(bin, asker):
    """The same at a start without free descriptors: the directories of a principal are half made."""
    if os.geteuid() != 0:
        raise cases.Skip("only root can mount a small disk")
    keeper = Keeper(bin, asker, flags={"snapshotd": ["--keep-free-bytes=0"]})
    subprocess.run(["mount", "-t", "tmpfs", "-o", "nr_inodes=64,mode=0755", "tmpfs", keeper.state], check=True)
    try:
        with keeper:
            first = keeper.save({name: name.encode() for name in "abcdefghijklmnopqrs"})
            refused = keeper.refusal("snapshot_put", put(b"x"), principal="bob")
            assert refused.code == "limit_exceeded" and "64 inodes" in refused.text, refused
            refused = keeper.refusal("snapshot_put", put(b"x"))
            assert refused.code == "limit_exceeded" and "64 inodes" in refused.text, refused
            keeper.restart("snapshotd")
            assert len(keeper.restore(first["snapshot_id"])) == 19
            for snapshot in keeper.list():
                keeper.drop(snapshot["snapshot_id"])
            keeper.restore(keeper.save({"a": b"a"})["snapshot_id"])
            subprocess.run(["mount", "-o", "remount,nr_inodes=200", keeper.state], check=True)
            keeper.restore(keeper.save({"g": b"g"}, principal="bob")["snapshot_id"], principal="bob")
    finally:
        subprocess.run(["umount", keeper.state], check=True)


def test_large_contents_hold_nobody_up(bin, asker):
    """Other calls are answered while a content of 100 MB is hashed and made durable."""
    with Keeper(bin, asker) as keeper:
        small = keeper.save({"f": b"small"})
        large, slowest, other = os.urandom(100 << 20), 0, keeper.another("2")
        request = {"snapshot_id": small["snapshot_id"], "sha256": sha256(b"small")}
        waiting = keeper.asker.begin("snapshot_put", put(large))
        while waiting.empty():
            began = time.monotonic()
            other.ask("snapshot_get", request)
            slowest = max(slowest, time.monotonic() - began)
        other.close()
        keeper.asker.wait(waiting)
        assert keeper.ask("snapshot_offer", {"sha256": [sha256(large)]})["sha256"] == []
        print(f"slowest answer meanwhile: {slowest * 1000:.0f} ms")
        assert slowest < 1.5, slowest  # a server that is silent for two seconds is given up


def test_a_second_daemon_on_the_store_is_refused(bin, asker):
    with Keeper(bin, asker) as keeper:
        first = keeper.processes.pop("snapshotd")
        keeper._spawn("snapshotd")
        assert keeper.processes["snapshotd"].wait(10) == 1
        keeper.processes["snapshotd"] = first
        keeper.save({"f": b"x"})


def register(keeper, name, schema, description="", replace=False, **who):
    return keeper.ask("register_schema", {"name": name, "schema": schema, "description": description, "replace": replace}, **who)


def schema_of(keeper, name, **who):
    return keeper.ask("get_schema", {"name": name}, **who)["schema"]


def names_of(keeper, **who):
    return [schema["name"] for schema in keeper.ask("list_schemas", {}, **who)["schemas"]]


def test_schemas_are_each_owner_s(bin, asker):
    with Keeper(bin, asker) as keeper:
        first = register(keeper, "order", {"type": "object"}, "first", namespace="work")
        assert first["description"] == "first" and first["size"] == len('{"type":"object"}'), first
        for who in ({}, {"principal": "bob"}, {"principal": "bob", "namespace": "work"}, {"namespace": "play"}):
            assert names_of(keeper, **who) == []
            for message in "get_schema", "remove_schema":
                refused = keeper.refusal(message, {"name": "order"}, **who)
                assert (refused.code, refused.text) == (
                    "not_found", "no schema has the name order; there are config, dataset, user"), refused
        assert keeper.refusal("register_schema", {"name": "order", "schema": {}}, principal=None).code == "denied"
        assert keeper.refusal("list_schemas", {}, principal=None).code == "denied"
        register(keeper, "order", {"type": "null"})
        assert (schema_of(keeper, "order"), schema_of(keeper, "order", namespace="work")) == ('{"type":"null"}', '{"type":"object"}')


def test_limits_of_schemas_are_named(bin, asker):
    large = {"const": "x" * (4194304 - len('{"const":""}'))}
    with Keeper(bin, asker) as keeper:
        # All at once: those that write take turns, so that the limit holds.
        begun = [keeper.asker.begin("register_schema", {"name": f"n{i}", "schema": large}) for i in range(6)]
        codes = []
        for answer in begun:
            try:
                codes.append("ok" if keeper.asker.wait(answer) else "")
            except Refused as refused:
                assert "over the limit of 16777216" in refused.text, refused
                codes.append(refused.code)
        assert sorted(codes) == ["limit_exceeded"] * 2 + ["ok"] * 4, codes
        register(keeper, names_of(keeper)[0], {}, replace=True)
        register(keeper, "again", {})
        for i in range(64):
            register(keeper, f"s{i:02}", {}, principal="bob")
        refused = keeper.refusal("register_schema", {"name": "s64", "schema": {}}, principal="bob")
        assert (refused.code, "you have 64 schemas" in refused.text) == ("limit_exceeded", True), refused
        refused = keeper.refusal("get_schema", {"name": "s65"}, principal="bob")
        assert "did you mean s" in refused.text and refused.text.endswith(" more"), refused
        register(keeper, "s00", {"type": "null"}, principal="bob", replace=True)


def test_schemas_outlive_a_kill_at_any_time(bin, asker):
    with Keeper(bin, asker) as keeper:
        kept, number = {}, 0
        for _ in range(8):
            end = time.monotonic() + 0.1
            while time.monotonic() < end:
                name, number = f"n{number % 40}", number + 1
                register(keeper, name, {"const": number}, replace=True)
                kept[name] = number
            # One that was not acknowledged is there as it was, or as it should be.
            begun = keeper.asker.begin("register_schema", {"name": "n0", "schema": {"const": "x" * 3000000}, "replace": True})
            time.sleep(0.002 * (number % 7))
            keeper.restart("snapshotd")
            try:
                keeper.asker.wait(begun)
                kept["n0"] = "x" * 3000000
            except Refused as refused:
                assert refused.code == "unavailable", refused
            found = json.loads(schema_of(keeper, "n0"))["const"]
            assert found in (kept["n0"], "x" * 3000000), str(found)[:80]
            kept["n0"] = found
            assert names_of(keeper) == sorted(kept)
            for name, value in kept.items():
                assert json.loads(schema_of(keeper, name)) == {"const": value}, name
            where = os.path.join(keeper.state, "snapshotd", "schemas", sha256(b"alice"))
            assert not [n for n in os.listdir(where) if n.startswith(".draft-")]
        assert number > 30, number


def test_a_damaged_schema_is_said_to_be_one(bin, asker):
    with Keeper(bin, asker) as keeper:
        register(keeper, "a", {"type": "object"})
        flip(os.path.join(keeper.state, "snapshotd", "schemas", sha256(b"alice"), "a"), -3)
        refused = keeper.refusal("get_schema", {"name": "a"})
        assert (refused.code, "damaged" in refused.text) == ("schema_invalid", True), refused
        keeper.ask("remove_schema", {"name": "a"})
        assert names_of(keeper) == []


def main():
    cases.run(sys.modules[__name__], sys.argv[1], sys.argv[2])


main()
