# SPDX-License-Identifier: Apache-2.0
"""native.py BIN: the SDK's own API against the real programs, over stdio and HTTP, synchronous and asynchronous.

Run by an interpreter that has the SDK's wheel installed.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
import index  # noqa: E402
import shop  # noqa: E402
from daemons import Cluster  # noqa: E402

from cloister_sandbox import AsyncSandbox, NotSupported, Question, RequestTimeout, Sandbox, Server, ToolError  # noqa: E402
from cloister_sandbox import Closed, ExecutionError  # noqa: E402

FLAGS = ["--toolsets=core,monitor", "--result-bytes=0"]
# A server that runs one program, and lets one wait.
SMALL = {"executor": ["--max-concurrent=1", "--max-waiting=1"]}
COVERED = set()
# A domain of the index, which no setting allows: a person must.
DOMAIN = f"index.test:{shop.INDEX.port}"
FETCH = f"import urllib.request\nurllib.request.urlopen('http://{DOMAIN}/simple/base/', timeout=10).status"
THREAD_SECONDS = 5


def raises(kind, function, *words):
    try:
        function()
    except kind as error:
        assert all(word in str(error) for word in words), (words, error)
        return error
    raise AssertionError(f"no {kind.__name__}")


def soon(check, what, seconds=10):
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def test_a_program(sandbox):
    result = sandbox.run("print('out')\nimport sys; print('err', file=sys.stderr)\n{'answer': 6 * 7}")
    assert result.success and result.exit_code == 0 and result.error is None and result.check() is result
    assert (result.stdout, result.stderr, result.result) == ("out\n", "err\n", {"answer": 42}), result
    assert result.language == "python" and result.execution_id.startswith("exec_") and result.seconds > 0
    assert "seccomp" in result.isolation["layers"] and result.raw["success"] is True


def test_each_language(sandbox):
    assert sandbox.run("console.log(1 + 1)", language="node").stdout == "2\n"
    assert sandbox.run("echo $((2 + 2))", language="shell").stdout == "4\n"
    assert {"python", "node", "shell"} <= {runtime.language for runtime in sandbox.runtimes()}


def test_a_program_that_fails_is_a_result(sandbox):
    result = sandbox.run("1 / 0")
    assert not result.success and result.exit_code == 1 and "ZeroDivisionError" in result.stderr
    assert (result.error.code, result.error.message, result.error.line) == ("program_failed", "division by zero", 1)
    raises(ExecutionError, result.check, "division by zero")
    assert sandbox.run("x =").error.code == "syntax_error"


def test_long_output(sandbox):
    result = sandbox.run("print('x' * 300_000)")
    assert len(result.stdout) == 300_001 and not result.stdout_truncated
    assert sandbox.run("print('x' * 5000)", limits={"max_output_bytes": 1000}).stdout_truncated


def test_a_program_that_runs_too_long(sandbox):
    result = sandbox.run("print('begun', flush=True)\nwhile True: pass", timeout=1)
    assert result.timed_out and result.error.code == "timeout" and result.stdout == "begun\n", result
    assert sandbox.run("while True: pass", limits={"timeout_seconds": 0.3}).timed_out


def test_limits(sandbox):
    result = sandbox.run("bytearray(400 << 20)", limits={"max_ram_mb": 100})
    assert not result.success and result.error.code == "out_of_memory", result
    refusal = raises(ToolError, lambda: sandbox.run("1", limits={"max_ram_mb": 99999}), "limit_exceeded", "max_ram_mb")
    assert refusal.code == "limit_exceeded" and refusal.hint
    raises(ToolError, lambda: sandbox.call("execute_code", code="1", no_such="x"), "invalid_argument", "no_such")


def test_files_go_in_with_the_program(sandbox):
    result = sandbox.run("open('out.bin', 'wb').write(open('in/a', 'rb').read() * 2)", files={"in/a": b"\0\xff"})
    assert [(one.filename, one.size) for one in result.artifacts] == [("out.bin", 4)], result
    assert result.artifacts[0].signature and result.artifacts[0].path == "/workspace/out.bin"
    assert [one.sha256 for one in sandbox.artifacts(result.execution_id)] == [result.artifacts[0].sha256]


def test_arguments_and_input(sandbox):
    result = sandbox.run("import sys; print(sys.argv[1:], sys.stdin.read())", arguments=["a", "b c"], stdin="text\u00e9")
    assert result.stdout == "['a', 'b c'] text\u00e9\n", result
    assert sandbox.run("import sys; sys.stdin.buffer.read().hex()", stdin=b"\0\xff").result == "00ff"
    raises(TypeError, lambda: sandbox.run("1", arguments="abc"), "arguments", "list")
    raises(TypeError, lambda: sandbox.run("1", no_such="x"), "no_such")


def test_allowed_imports(sandbox):
    assert not sandbox.run("import math, csv", allowed_imports=["math"]).success
    assert sandbox.run("import math; math.floor(1.5)", allowed_imports=["math"]).result == 1


def test_packages(sandbox):
    assert sandbox.run("import base; base.version", packages=["base<2"]).result == "1.0"
    with sandbox.session(packages=["base"]) as session:
        assert session.run("import base; base.version").result == "2.0"
        assert session.run("import free; free.x", packages=["free"]).result == 1
    raises(ToolError, lambda: sandbox.run("1", packages=["no-such-package"]), "install_failed", "no-such-package")


def test_environments(sandbox):
    assert sandbox.run("import hello; hello.base.version", environment="tools").result == "1.0"
    with sandbox.session(environment="tools") as session:
        assert session.run("import hello; hello.base.version").result == "1.0"
    raises(ToolError, lambda: sandbox.run("1", environment="none"), "none")


def test_a_person_allows_a_domain(sandbox, server):
    """Without on_question nobody is asked, and a command for the operator is returned."""
    asked, answers, new = [], ["deny", None, "namespace"], f"sdk{time.monotonic_ns()}"
    refusal = raises(ToolError, lambda: sandbox.run(FETCH, allowed_domains=[DOMAIN]))
    assert refusal.code == "egress_denied" and refusal.retry_ms is None, refusal

    def ask(one, namespace):
        return one.call("request_egress", domain="index.test", port=shop.INDEX.port, namespace=namespace)
    assert raises(ToolError, lambda: ask(sandbox, new + "-a")).code == "approval_required"
    with Sandbox(server, on_question=lambda question: asked.append(question) or answers.pop(0)) as own:
        assert raises(ToolError, lambda: ask(own, new + "-b")).code == "approval_denied"
        assert raises(ToolError, lambda: ask(own, new + "-c")).code == "approval_required"
        assert ask(own, new)["duration"] == "namespace"
        assert own.run(FETCH, allowed_domains=[DOMAIN], namespace=new).result == 200
        with own.session(allowed_domains=[DOMAIN], namespace=new) as session:
            assert session.run(FETCH, allowed_domains=[DOMAIN], namespace=new).result == 200
    assert len(asked) == 3 and isinstance(asked[0], Question) and DOMAIN in asked[0].message, asked
    assert asked[0].choices == ["deny", "once", "namespace"] and asked[0].asks_for == "decision", asked


# Asynchronous, and with the whole form as the answer.
def test_a_coroutine_that_answers(server):
    async def answer(question):
        await asyncio.sleep(0)
        return {question.asks_for: "once"}

    async def work():
        async with AsyncSandbox(server, on_question=answer) as own:
            return await own.call("request_egress", domain=f"x{time.monotonic_ns()}.test")
    assert asyncio.run(work())["duration"] == "once"


def test_a_question_with_yes_and_no(confirming):
    answers = ["no", "yes"]
    with Sandbox(confirming, on_question=lambda question: question.choices == ["yes", "no"] and answers.pop(0)) as own:
        session = own.session()
        raises(ToolError, session.close)
        with own.session(own.call("create_session")["session_id"]) as other:
            own.call("terminate_session", session_id=other.id)
    assert answers == []


def test_output_as_it_arrives(sandbox):
    pieces = []
    code = "import sys, time\nprint('one', flush=True); time.sleep(0.3)\nprint('two', file=sys.stderr, flush=True); time.sleep(0.3)"
    sandbox.run(code, on_output=lambda channel, text: pieces.append((channel, text)))
    assert pieces == [("stdout", "one\n"), ("stderr", "two\n")], pieces


def test_pictures(sandbox):
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
    result = sandbox.run(f"import base64; open('dot.png', 'wb').write(base64.b64decode('{png}'))")
    assert [(image.mime_type, image.data[:4]) for image in result.images] == [("image/png", b"\x89PNG")], result


def test_a_session(sandbox):
    with sandbox.session() as session:
        session.run("x = 41").check()
        assert session.run("x + 1").result == 42
        session.upload("a.txt", "text")
        assert session.run("open('a.txt').read()").result == "text"
        assert session.read("a.txt") == b"text" and [one.filename for one in session.list()] == ["a.txt"]
        raises(ToolError, lambda: session.upload("a.txt", "", overwrite=False), "file_exists")
        session.bridge("key", {"a": [1]})
        assert session.run("bridge['key']['a']").result == [1]
        assert "x" in str(session.state()["variables"])
        with sandbox.session(session.id) as again:
            assert again.run("x").result == 41
        assert session.run("x").result == 41, "a session that was joined is not ended"
    refusal = raises(ToolError, lambda: sandbox.run("1", session=again.id))
    assert refusal.code in ("not_found", "session_expired"), refusal
    raises(Closed, lambda: session.run("1"))


def test_a_session_that_ended_before(sandbox):
    with sandbox.session(language="shell", ttl=60) as session:
        assert session.run("echo $0 >/dev/null; pwd").stdout == "/workspace\n"
        sandbox.call("terminate_session", session_id=session.id)


def test_large_files(sandbox):
    content = os.urandom(70_000_000)
    with sandbox.session() as session:
        session.upload("large", content)
        assert session.read("large") == content


def test_directories(sandbox):
    with tempfile.TemporaryDirectory() as top, sandbox.session() as session:
        for name, content in (("a.txt", b"1"), ("in/deep/b", b"\0\xff"), ("in/c", b"")):
            os.makedirs(os.path.dirname(os.path.join(top, "from", name)), exist_ok=True)
            with open(os.path.join(top, "from", name), "wb") as file:
                file.write(content)
        os.symlink("/etc/passwd", os.path.join(top, "from", "link"))
        os.symlink("/etc", os.path.join(top, "from", "in", "directory"))
        os.mkfifo(os.path.join(top, "from", "pipe"))
        assert session.upload_dir(os.path.join(top, "from")) == ["a.txt", "in/c", "in/deep/b"]
        assert session.upload_dir(os.path.join(top, "from", "in"), to="copy/") == ["copy/c", "copy/deep/b"]
        assert [one.filename for one in session.list()] == ["a.txt", "copy/c", "copy/deep/b", "in/c", "in/deep/b"]
        assert session.read("in/deep/b") == b"\0\xff"
        for limits in {"max_files": 2}, {"max_bytes": 2}:
            raises(ValueError, lambda limits=limits: session.upload_dir(os.path.join(top, "from"), "no", **limits), *limits)
            raises(ValueError, lambda limits=limits: session.download_dir(top + "/no", **limits), *limits)
        assert len(session.list()) == 5 and not os.path.exists(top + "/no")
        raises(OSError, lambda: session.upload_dir(top + "/none"))
        assert session.download_dir(top + "/to", of="in") == ["c", "deep/b"] and sorted(os.listdir(top + "/to")) == ["c", "deep"]
        with open(top + "/to/deep/b", "rb") as file:
            assert file.read() == b"\0\xff"
        os.symlink(top, top + "/to/copy")
        raises(ValueError, lambda: session.download_dir(top + "/to"), "symbolic link")


def test_snapshots(sandbox):
    with sandbox.session() as session:
        session.upload("keep", "1")
        snapshot = session.snapshot("before")
        assert (snapshot.description, snapshot.files, snapshot.bytes) == ("before", 1, 1)
        session.run("import os; os.remove('keep'); open('new', 'w').close()").check()
        assert session.restore(snapshot)["recreated"] == ["keep"]
        assert [one.filename for one in session.list()] == ["keep"]
        assert snapshot.id in [one.id for one in sandbox.snapshots()]
        sandbox.delete_snapshot(snapshot)
        assert snapshot.id not in [one.id for one in sandbox.snapshots()]


def test_the_default_session(sandbox):
    session = sandbox.upload("mine", b"1")
    assert sandbox.read("mine") == b"1" and "mine" in [one.filename for one in sandbox.list()]
    assert sandbox.restore(sandbox.snapshot())["restored"] >= 1
    assert sandbox.call("sandbox_close_session")["session_id"] == session


def test_validation(sandbox):
    refused = sandbox.validate("import os")
    assert not refused.valid and refused.findings[0].line == 1 and "os" in refused.findings[0].message
    assert sandbox.validate("import os", profile="open").valid
    assert sandbox.validate("x = np.zeros(3)", profile="open", auto_fix=True).fixed_code.startswith("import numpy as np")


def test_the_server_itself(sandbox):
    assert sandbox.stats()["queue"]["max_concurrent"] > 0
    assert sandbox.info()["success"] is True
    assert sandbox.set_limits(max_output_bytes=500_000)["max_output_bytes"] == 500_000
    run = sandbox.run("1")
    soon(lambda: len(sandbox.audit(execution_id=run.execution_id)) == 2, "the records of a run")
    assert {one["event"]["event"] for one in sandbox.audit(execution_id=run.execution_id)} == {"execution.started", "execution.completed"}


def test_what_the_server_lacks(sandbox):
    raises(NotSupported, lambda: sandbox.call("host_exec", command="id"), "host_exec", "upload the files")
    raises(NotSupported, lambda: sandbox.call("no_such_tool"), "no_such_tool", "tools()")


def test_many_threads(sandbox):
    results = [None] * 12

    def work(i):
        results[i] = sandbox.run(f"{i} * 2").result
    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2 * i for i in range(len(results))], results


# A notebook has a running loop; the synchronous API works in it.
def test_within_a_running_loop(sandbox):
    async def cell():
        return sandbox.run("40 + 2").result
    assert asyncio.run(cell()) == 42


def test_a_deadline_cancels_at_the_server(sandbox, server):
    with Sandbox(server, deadline=2) as hasty:
        raises(RequestTimeout, lambda: hasty.run("import time; time.sleep(60)"), "2 s")
        soon(lambda: sandbox.stats()["queue"]["running"] == 0, "the program still runs")
        assert hasty.run("1 + 1").result == 2, "the connection stays usable"


def test_asynchronous(server):
    async def work():
        async with AsyncSandbox(server) as sandbox:
            results = await asyncio.gather(*(sandbox.run(f"{i} * 3") for i in range(8)))
            assert [result.result for result in results] == [3 * i for i in range(8)]
            async with sandbox.session() as session:
                await session.run("y = 1")
                await session.upload("f", "x")
                assert (await session.run("y")).result == 1 and await session.read("f") == b"x"
                assert [one.filename for one in await session.list()] == ["f"]
                await session.restore(await session.snapshot())
            other = await sandbox.session()
            await other.close()
    asyncio.run(work())


def test_cancellation(sandbox, server):
    async def work():
        async with AsyncSandbox(server) as own:
            task = asyncio.ensure_future(own.run("import time; time.sleep(60)"))
            while (await own.stats())["queue"]["running"] == 0:
                await asyncio.sleep(0.02)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                pass
            else:
                raise AssertionError("it was not cancelled")
            assert (await own.run("1")).result == 1
    asyncio.run(work())
    soon(lambda: sandbox.stats()["queue"]["running"] == 0, "the program still runs")


def test_a_server_that_is_full(crowded):
    code, outcomes = "import time; time.sleep(0.3)", []

    def work(sandbox, **more):
        try:
            outcomes.append(sandbox.run(code, **more).success)
        except ToolError as error:
            outcomes.append(error)

    def at_once(sandbox, **more):
        outcomes.clear()
        threads = [threading.Thread(target=work, args=(sandbox,), kwargs=more) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [one for one in outcomes if one is not True]
    with Sandbox(crowded) as hasty, Sandbox(crowded, retry=30) as patient:
        refused = at_once(hasty)
        assert refused and all(one.code == "queue_full" and one.retry_ms > 0 for one in refused), refused
        assert at_once(patient) == [] and at_once(hasty, retry=30) == [] and at_once(patient, retry=0) != []


def test_after_the_end(server):
    sandbox = Sandbox(server)
    assert sandbox.run("1").result == 1
    sandbox.close()
    sandbox.close()
    raises(Closed, lambda: sandbox.run("1"))


def test_secrets(sandbox):
    """No method returns a value."""
    sandbox.add_secret("API_KEY", "a long secret", "sdk")
    result = sandbox.run("import os; print(os.environ['API_KEY'])", namespace="sdk", env_secrets=["API_KEY"])
    assert result.stdout == "***REDACTED***\n" and sandbox.secrets("sdk") == ["API_KEY"], result
    assert sandbox.method("cloister/vault/list", {"namespace": "sdk"})["secrets"][0]["name"] == "API_KEY"
    sandbox.delete_secret("API_KEY", "sdk")
    assert sandbox.secrets("sdk") == []
    assert raises(ToolError, lambda: sandbox.delete_secret("API_KEY", "sdk")).code == "secret_not_found"


def test_tools_without_a_method_of_their_own(sandbox):
    assert sandbox.call("validate_json_data", data={"a": 1}, schema_name_or_dict={"required": ["b"]})["valid"] is False
    assert sandbox.call("validate_csv_data", csv_content="a,b\n1,2\n")["row_count"] == 1
    assert sandbox.call("register_schema", name="listed", schema={"required": ["b"]})["name"] == "listed"
    assert sandbox.call("validate_json_data", data={"a": 1}, schema_name_or_dict="listed")["valid"] is False
    assert "listed" in [one["name"] for one in sandbox.call("list_schemas")["schemas"]]
    assert sandbox.call("remove_schema", name="listed")["status"] == "removed"
    assert "events" in sandbox.call("follow_events")
    raises(ToolError, lambda: sandbox.call("request_egress", domain="192.0.2.1"), "domain")
    raises(ToolError, lambda: sandbox.call("install_package", packages=["x"], language="shell"), "language")


# The last test: the others used every tool of the toolset `core`.
def test_every_tool_was_called(sandbox):
    missing = set(sandbox.tools()) - COVERED
    assert not missing, missing


def watch():
    """Notes the tools that are called."""
    call = AsyncSandbox._call

    async def noted(self, tool, *more, **named):
        COVERED.add(tool)
        return await call(self, tool, *more, **named)
    AsyncSandbox._call = noted


# A thread of asyncio that waits for the server's end may itself end a moment after it has notified the loop.
def threads_left(before):
    others = [one for one in threading.enumerate() if one not in before]
    for one in others:
        one.join(THREAD_SECONDS)
    return [one.name for one in others if one.is_alive()]


def play(server, label, **more):
    before, threads = len(os.listdir("/proc/self/fd")), threading.enumerate()
    with Sandbox(server) as sandbox:
        counts = cases.play(sys.modules[__name__], label=label, named={"sandbox": sandbox, "server": server, **more})
    left = len(os.listdir("/proc/self/fd")) - before
    threads = threads_left(threads)
    if left > 0 or threads:
        print(f"failed: {left} descriptors and the threads {threads} are left")
        counts["failed"] += 1
    return counts


def environment(binaries, state):
    """The operator's environment `tools`."""
    os.chmod(state, 0o755)
    place = {"PIP_INDEX_URL": f"http://{index.HOST}:{shop.INDEX.port}/simple", "PIP_EXTRA_INDEX_URL": "", "PIP_TRUSTED_HOST": index.HOST}
    subprocess.run([os.path.join(binaries, "cloister"), "environment", "add", "tools", "Hello.World", f"--state={state}"],
                   env={**os.environ, **place}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)


def over_both(cluster, small):
    ask = ["--confirm-destructive"]
    with cluster.served(FLAGS) as served, cluster.served([*FLAGS, *ask]) as confirming, small.served(FLAGS) as full:
        command = [*cluster.command("gateway"), *FLAGS]
        over_stdio = play(Server(command), " over stdio", confirming=Server([*command, *ask]), crowded=Server([*small.command("gateway"), *FLAGS]))
        COVERED.clear()
        return over_stdio, play(Server(url=served.url), " over HTTP", confirming=Server(url=confirming.url), crowded=Server(url=full.url))


def main(binaries):
    watch()
    shop.publish()
    shop.INDEX.serve()
    with tempfile.TemporaryDirectory(prefix="cloister-sdk-", dir="/var/tmp") as state:
        environment(binaries, state)
        flags = {**shop.FLAGS, "executor": [*shop.FLAGS["executor"], f"--environments={state}/environments"]}
        with Cluster(binaries, env=shop.ENVIRONMENT, flags=flags) as cluster, Cluster(binaries, flags=SMALL) as small:
            over_stdio, over_http = over_both(cluster, small)
    cases.end(over_stdio, over_http)


if __name__ == "__main__":
    main(sys.argv[1])
