#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Several gateways with one executor, and a client whose requests go to any of them.  several.py BIN"""

import base64
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from daemons import Cluster  # noqa: E402
from gateway import Gateway, call, modern, soon  # noqa: E402

TASKS = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}
ASKED = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
FLAGS = ["--task-after-ms=200"]


def execute(gateway, code):
    reply = gateway.post(call("execute_code", {"code": code}, meta=TASKS))
    return reply.json["result"]


def task(gateway, verb, id_, status=200):
    reply = gateway.post(modern("tasks/" + verb, {"taskId": id_}, meta=TASKS))
    assert reply.status == status, reply
    return reply.json.get("result", reply.json.get("error"))


def ended(gateway, id_):
    return (found := task(gateway, "get", id_))["status"] != "working" and found


# A task created through one gateway is read through a second and cancelled through a third.
def test_tasks_go_round(bin):
    with Cluster(bin) as cluster, Gateway(bin, FLAGS, cluster) as a, Gateway(bin, FLAGS, cluster) as b, \
            Gateway(bin, FLAGS, cluster) as c:
        made = execute(a, "import time\nprint('here')\ntime.sleep(2)\nprint('there')")
        assert made["resultType"] == "task", made
        for gateway in (b, c, a):
            assert task(gateway, "get", made["taskId"])["status"] == "working"
        found = soon(lambda: ended(b, made["taskId"]), "it ends")
        assert found["status"] == "completed", found
        assert found["result"]["structuredContent"]["stdout"] == "here\nthere\n", found
        endless = execute(b, "import time\ntime.sleep(600)")["taskId"]
        assert task(c, "cancel", endless)["resultType"] == "complete"
        for gateway in (a, b, c):
            assert task(gateway, "get", endless)["status"] == "cancelled"


# The gateway that created a task is killed: the program continues, and another gateway returns its result.
def test_tasks_outlive_their_gateway(bin):
    with Cluster(bin) as cluster, Gateway(bin, FLAGS, cluster) as b:
        a = Gateway(bin, FLAGS, cluster).__enter__()
        made = execute(a, "import time\ntime.sleep(2)\nprint('still here')")
        a.process.kill()
        a.process.wait()
        assert task(b, "get", made["taskId"])["status"] == "working"
        found = soon(lambda: ended(b, made["taskId"]), "it ends")
        assert found["result"]["structuredContent"]["stdout"] == "still here\n", found


# A listener at one gateway is notified of the end of a task that was created and cancelled through another.
def test_ends_are_heard_everywhere(bin):
    with Cluster(bin) as cluster, Gateway(bin, FLAGS, cluster) as a, Gateway(bin, FLAGS, cluster) as b:
        made = execute(a, "import time\ntime.sleep(600)")["taskId"]
        listening = b.post_open(modern("subscriptions/listen", {"notifications": {"taskIds": [made]}}, meta=TASKS))
        agreed = listening.message()
        assert agreed["params"]["notifications"]["taskIds"] == [made], agreed
        time.sleep(0.5)
        task(a, "cancel", made)
        heard = listening.message()
        assert heard["method"] == "notifications/tasks" and heard["params"]["status"] == "cancelled", heard
        listening.close()


# Output omitted from a result of one gateway is read through another, whole and in pieces, but not by other principals.
def test_outputs_are_read_everywhere(bin):
    with Cluster(bin) as cluster, Gateway(bin, FLAGS, cluster) as a, Gateway(bin, FLAGS, cluster) as b:
        result = a.post(call("execute_code", {"code": "print('x' * 100000 + 'end')"})).json["result"]
        link = next(c for c in result["content"] if c["type"] == "resource_link")
        whole = "x" * 100000 + "end\n"
        a.end()
        for offset, expected in (("", whole), ("/0", whole[:40000]), ("/80000", whole[80000:])):
            read = b.post(modern("resources/read", {"uri": link["uri"] + offset})).json["result"]["contents"][0]
            assert read["text"] == expected, (offset, len(read["text"]))


def confirmed(gateway, session, **more):
    reply = gateway.post(modern("tools/call", {"name": "terminate_session", "arguments": {"session_id": session}, **more}, meta=ASKED))
    return reply.json.get("result") or reply.json["error"]


# A consent that was used or refused at one gateway is refused by another one with the same key.
def test_a_consent_is_used_once(bin):
    with Cluster(bin) as cluster, tempfile.NamedTemporaryFile("w") as key:
        key.write(base64.b64encode(os.urandom(32)).decode())
        key.flush()
        flags = ["--confirm-destructive", "--seal-key=" + key.name]
        with Gateway(bin, flags, cluster) as a, Gateway(bin, flags, cluster) as b:
            for action in ("accept", "decline"):
                session = a.post(call("create_session")).json["result"]["structuredContent"]["session_id"]
                state = confirmed(a, session)["requestState"]
                more = {"requestState": state, "inputResponses": {"confirm": {"action": action, "content": {"confirm": True}}}}
                first = confirmed(a, session, **more)
                assert first["isError"] == (action == "decline"), first
                more["inputResponses"]["confirm"]["action"] = "accept"
                for gateway in (b, a):
                    again = confirmed(gateway, session, **more)
                    assert again.get("code") == -32602 and "used before" in again["message"], again
            # A consent requested by one gateway can be given to the other.
            session = b.post(call("create_session")).json["result"]["structuredContent"]["session_id"]
            more["requestState"] = confirmed(a, session)["requestState"]
            assert confirmed(b, session, **more)["structuredContent"]["status"] == "terminated"


# A listener at one gateway is notified of changes through another, and of a change without a call: a session that expires.
def test_changes_are_heard_everywhere(bin):
    with Cluster(bin) as cluster, Gateway(bin, FLAGS, cluster) as a, Gateway(bin, FLAGS, cluster) as b:
        b.post(call("list_runtimes"))  # its executor is connected, so it need not report that changes may have been missed
        session = a.post(call("create_session", {"ttl": 5})).json["result"]["structuredContent"]["session_id"]
        file = f"sandbox://artifacts/{session}/new.txt"
        listening = b.post_open(modern("subscriptions/listen", {"notifications": {
            "resourcesListChanged": True, "resourceSubscriptions": [file, "sandbox://logs"]}}))
        assert listening.message()["method"] == "notifications/subscriptions/acknowledged"
        time.sleep(0.5)
        a.post(call("execute_code", {"session_id": session, "code": "open('new.txt', 'w').write('x')"}))
        heard = [listening.message()["params"]["uri"] for _ in range(2)]
        assert sorted(heard) == [file, "sandbox://logs"], heard
        expired = listening.message()
        assert expired["method"] == "notifications/resources/list_changed", expired
        listening.close()


if __name__ == "__main__":
    cases.run(sys.modules[__name__], os.path.abspath(sys.argv[1]))
