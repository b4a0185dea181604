# SPDX-License-Identifier: Apache-2.0
"""The cases of every client, in Python; scenario.mjs is the same in JavaScript.

A case gets a connected peer: .version, await .tools() -> list of dicts, await .call(name, arguments, on_progress) -> dict of
the result as on the wire, await .abandon(name, arguments), which calls and cancels while the call runs.  A refused request
raises Refused.
"""

import asyncio
import base64
import os
import traceback


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


async def lists_tools(peer):
    tools = {tool["name"]: tool for tool in await peer.tools()}
    tool = tools["execute_code"]
    assert tool["inputSchema"]["required"] == ["code"] and tool["description"]
    assert tool["annotations"]["openWorldHint"] is False and tool["annotations"]["readOnlyHint"] is False
    assert tool["outputSchema"]["properties"]["stdout"] and tool["title"]
    assert len(tools) > 10


async def runs_code(peer):
    result = await peer.call("execute_code", {"code": "print(6 * 7)\nresult = {'a': [1, None, 'é']}"})
    value = result["structuredContent"]
    assert not result.get("isError") and value["success"] and value["stdout"] == "42\n", value
    assert value["result"] == {"a": [1, None, "é"]} and value["isolation"]["layers"], value


async def keeps_files(peer):
    session = (await peer.call("create_session", {}))["structuredContent"]["session_id"]
    data = os.urandom(300000)
    sent = await peer.call("sandbox_upload_file", {
        "session_id": session, "filename": "in/data.bin", "content_base64": base64.b64encode(data).decode()})
    assert sent["structuredContent"]["size"] == len(data)
    ran = await peer.call("execute_code", {
        "session_id": session, "code": "open('out.bin', 'wb').write(open('in/data.bin', 'rb').read()[::-1])"})
    assert [a["filename"] for a in ran["structuredContent"]["artifacts"]] == ["out.bin"], ran
    got = await peer.call("sandbox_read_artifact", {"session_id": session, "path": "out.bin"})
    assert base64.b64decode(got["structuredContent"]["content_base64"]) == data[::-1]
    listed = await peer.call("sandbox_list_artifacts", {"session_id": session})
    assert {a["filename"] for a in listed["structuredContent"]["artifacts"]} == {"in/data.bin", "out.bin"}
    await peer.call("sandbox_close_session", {"session_id": session})


async def hears_of_errors(peer):
    failed = await peer.call("execute_code", {"code": "1 / 0"})
    assert failed["isError"] and "ZeroDivisionError" in failed["content"][0]["text"]
    wrong = await peer.call("execute_code", {"code": "1", "timeout": -1})
    assert wrong["isError"] and "timeout" in wrong["content"][0]["text"]
    try:
        await peer.call("no_such_tool", {})
        raise AssertionError("an unknown tool was called")
    except Refused as refused:
        assert refused.code == -32602, refused


async def sees_progress(peer):
    seen = []
    code = "import time\nfor n in range(5):\n    print(n, flush=True)\n    time.sleep(0.15)"
    await peer.call("execute_code", {"code": code}, seen.append)
    assert len(seen) >= 2 and seen == sorted(set(seen)), seen


async def gives_up(peer):
    async def cancelled():
        page = await peer.call("audit_execution", {"event": "execution.cancelled", "limit": 1000})
        return len(page["structuredContent"]["entries"])

    before = await cancelled()
    await peer.abandon("execute_code", {"code": "import time\ntime.sleep(60)"})
    for _ in range(50):
        if await cancelled() > before:
            return
        await asyncio.sleep(0.1)
    raise AssertionError("the server did not stop what was given up")


async def asks_much_at_once(peer):
    results = await asyncio.gather(*(peer.call("execute_code", {"code": f"print({n})"}) for n in range(16)))
    assert [r["structuredContent"]["stdout"] for r in results] == [f"{n}\n" for n in range(16)]


async def run(peer, name, canceller=True):
    for case in (lists_tools, runs_code, keeps_files, hears_of_errors, sees_progress, asks_much_at_once, gives_up):
        if case is gives_up and not canceller:
            continue
        try:
            await asyncio.wait_for(case(peer), 60)
            print(f"ok {name}: {case.__name__}", flush=True)
        except Exception:  # pylint: disable=broad-except
            print(f"not ok {name}: {case.__name__}: " + traceback.format_exc().replace("\n", "\n    "), flush=True)
