# SPDX-License-Identifier: Apache-2.0
"""shim.py BIN: what sandboxmcp's own text shows, imported as `sandboxmcp`, against the real programs.

Run by an interpreter that has both wheels installed.
"""

import asyncio
import base64
import hashlib
import os
import shlex
import sys
import tempfile
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from daemons import Cluster  # noqa: E402

from cloister_sandbox.sandboxmcp import flat_yaml  # noqa: E402
from sandboxmcp import ExecutionRequest, ExecutionResult, Language, ResourceLimits, SandboxFactory, SandboxResult  # noqa: E402
from sandboxmcp.core.models import AuditAction, SessionStatus  # noqa: E402
from sandboxmcp.events import SandboxEventType, sandbox_event_bus  # noqa: E402
from cloister_sandbox import NotSupported  # noqa: E402
from sandboxmcp.security.crypto import ArtifactSigner  # noqa: E402
from sandboxmcp.security.egress import NetworkGuard  # noqa: E402
from sandboxmcp.security.resource import ResourceGuard  # noqa: E402
from sandboxmcp.security.validator import CodeValidator  # noqa: E402
from sandboxmcp.security.vault import InMemoryVault  # noqa: E402

KEYS = {"request_id", "success", "exit_code", "stdout", "stderr", "duration_ms", "language", "artifacts", "resource_usage",
        "namespace", "metadata"}
# One pipeline in several event loops, as its users do.
SANDBOX = []


def execute(code, sandbox=None, **more):
    return asyncio.run((sandbox or SANDBOX[0]).execute(ExecutionRequest(code=code, **more)))


def raises(kind, function, *words):
    try:
        function()
    except kind as error:
        assert all(word in str(error) for word in words), (words, error)
        return
    raise AssertionError(f"no {kind.__name__}")


def test_quick_start():
    SANDBOX.append(SandboxFactory.default())
    result = execute("print('hello sandbox')")
    assert result.success and result.stdout == "hello sandbox\n" and result.exit_code == 0 and result.duration_ms > 0
    assert set(result.model_dump()) == KEYS and '"language": "python"' in result.model_dump_json()
    assert isinstance(result, SandboxResult) and ExecutionResult is SandboxResult


def test_languages():
    assert execute("print(2 + 2)", language=Language.python).stdout == "4\n"
    assert execute("console.log(2 + 2)", language=Language.node).stdout == "4\n"
    assert execute("echo $((2 + 2))", language="shell").stdout == "4\n"
    raises(ValueError, lambda: ExecutionRequest(code="1", language="cobol"))
    raises(ValueError, lambda: ExecutionRequest(code=""))


def test_variables_do_not_move_lines():
    values = {"A": "it's $HOME", "B": 'b "c"\n'}
    for language, code in (("python", "import os; print([os.environ[n] for n in 'AB'])"),
                           ("node", "console.log([process.env.A, process.env.B])"), ("shell", 'printf "%s|%s" "$A" "$B"')):
        out = execute(code, language=language, env_vars=values).stdout
        assert out in (str(list(values.values())) + "\n", "it's $HOME|b \"c\"\n") or language == "node" and "it's $HOME" in out, out
    assert "line 2, in" in execute("1\n1 / 0", env_vars=values).stderr
    raises(ValueError, lambda: execute("1", env_vars={"A;B": ""}), "env_vars")


def test_artifacts_have_their_content():
    result = execute("open('report.csv', 'w').write('a,b')")
    artifact, = result.artifacts
    assert (artifact.name, artifact.size_bytes, base64.b64decode(artifact.content_b64)) == ("report.csv", 3, b"a,b")
    assert artifact.sha256 == hashlib.sha256(b"a,b").hexdigest() and artifact.signature
    assert ArtifactSigner.verify(artifact, artifact.sha256) and asyncio.run(SANDBOX[0].verify_artifact(artifact, artifact.sha256))
    assert ArtifactSigner.sign_result_artifacts(result.artifacts) == {"report.csv": artifact.sha256}
    artifact.content_b64 = base64.b64encode(b"changed").decode()
    assert not ArtifactSigner.verify(artifact, artifact.sha256)


def test_signer():
    signed = ArtifactSigner.sign_hmac("out", b"data", "key")
    assert ArtifactSigner.verify_hmac(signed, b"key") and not ArtifactSigner.verify_hmac(signed, "other")
    assert not ArtifactSigner.verify_hmac(ArtifactSigner.sign("out", b"data"), "key")


def test_limits():
    result = execute("while True: pass", resource_limits=ResourceLimits(timeout_seconds=0.5))
    assert not result.success and result.exit_code == -1 and "Execution timed out after 0.5s" in result.stderr
    assert len(execute("print('x' * 5000)", resource_limits=ResourceLimits(max_output_bytes=1000)).stdout) <= 1000
    refused = execute("1", resource_limits=ResourceLimits(max_ram_mb=99999))
    assert not refused.success and "limit" in refused.stderr and refused.metadata["error"] == "limit_exceeded"
    assert "max_ram_mb" in execute("1", resource_limits=ResourceLimits(max_ram_mb=0)).stderr
    # The factory's limits hold for requests without any: in the original they have no effect.
    small = SandboxFactory.create(timeout_seconds=0.5, memory_limit="100m")
    assert "timed out after 0.5s" in execute("while True: pass", small).stderr
    assert not execute("bytearray(300 << 20)", small).success


def test_sessions():
    async def work():
        sandbox = SANDBOX[0]
        session = await sandbox.create_session(Language.python)
        for code in ("x = 5", "print(x)"):
            result = await sandbox.execute(ExecutionRequest(code=code, session_id=session.id))
        assert result.stdout == "5\n" and session.id in [one.id for one in await sandbox.list_sessions()]
        await sandbox.kill_session(session.id)
        assert [one.status for one in await sandbox.list_sessions() if one.id == session.id] == [SessionStatus.killed]
        lost = await sandbox.execute(ExecutionRequest(code="1", session_id=session.id))
        assert not lost.success and lost.metadata["error"] in ("not_found", "session_expired")
    asyncio.run(work())


def test_many_at_once_leave_no_session():
    async def work():
        results = await asyncio.gather(*(SANDBOX[0].execute(ExecutionRequest(code=f"print({i})")) for i in range(10)))
        assert [result.stdout for result in results] == [f"{i}\n" for i in range(10)]
        assert (await SANDBOX[0].get_stats())["sessions"] == 0
    asyncio.run(work())


def test_stats_runtimes_audit():
    stats = asyncio.run(SANDBOX[0].get_stats())
    assert {"max_concurrent", "active", "queued", "total_processed"} <= set(stats["queue"]) and stats["queue"]["max_concurrent"] == 4
    assert {one["language"] for one in asyncio.run(SANDBOX[0].list_runtimes())} >= {"python", "node", "shell"}
    created = len(asyncio.run(SANDBOX[0].audit_log(action=AuditAction.create_session)))
    execute("1")
    entries = asyncio.run(SANDBOX[0].audit_log(limit=3))
    assert len(entries) == 3 and entries[0].action == AuditAction.execute and entries[0].success and entries[0].language == "python"
    only = asyncio.run(SANDBOX[0].audit_log(action=AuditAction.create_session))
    assert len(only) == created, "sessions of single runs are not listed"


def test_validation():
    bad = asyncio.run(SANDBOX[0].validate_code("x =", Language.python))
    assert not bad.valid and bad.verdict == "reject" and bad.issues[0].line == 1 and bad.summary() == "[REJECT] 1 issue(s)"
    fixed = asyncio.run(SANDBOX[0].validate_code("x = np.zeros(1)", Language.python))
    assert fixed.valid and fixed.was_fixed and fixed.fixed_code.startswith("import numpy as np")


def test_parts_of_its_implementation():
    bad = asyncio.run(CodeValidator().validate("f((1", Language.node))
    assert not bad.valid and bad.issues[0].line == 1, bad
    assert asyncio.run(CodeValidator().validate("echo 1", Language.shell)).valid
    for guard, word in (NetworkGuard, "reach"), (ResourceGuard, "ResourceLimits"), (InMemoryVault, "secrets"):
        raises(NotSupported, guard, guard.__name__, word)


def test_events():
    async def work():
        queue, other = sandbox_event_bus.subscribe(namespace="default"), sandbox_event_bus.subscribe(namespace="other")
        seen = []

        async def follow():
            async for event in sandbox_event_bus.stream():
                seen.append(event.type)
        task = asyncio.ensure_future(follow())
        await asyncio.sleep(0)
        for code in ("open('f', 'w').close()", "1 / 0"):
            await SANDBOX[0].execute(ExecutionRequest(code=code))
        await SANDBOX[0].execute(ExecutionRequest(code="while 1: pass", resource_limits=ResourceLimits(timeout_seconds=0.3)))
        await asyncio.sleep(0)
        task.cancel()
        kind = SandboxEventType
        assert seen == [kind.execution_started, kind.execution_completed, kind.artifact_signed, kind.execution_started,
                        kind.execution_failed, kind.execution_started, kind.execution_timeout], seen
        assert queue.qsize() == len(seen) and other.empty() and queue.get_nowait().namespace == "default"
        sandbox_event_bus.unsubscribe(queue)
        sandbox_event_bus.unsubscribe(other)
    asyncio.run(work())


def test_what_the_server_lacks():
    sandbox = SANDBOX[0]
    for ask, word in ((lambda: sandbox.vault_add("n", "k", "v"), "vault"), (lambda: sandbox.vault_list("n"), "vault"),
                      (lambda: sandbox.vault_delete("n", "k"), "vault"),
                      (lambda: sandbox.install_package(Language.shell, ["x"]), "install_package"),
                      (lambda: sandbox.execute(ExecutionRequest(code="1", language=Language.shell, packages=["x"])), "install_package"),
                      (lambda: sandbox.execute(ExecutionRequest(code="1", allowed_domains=["a.b"])), "request_egress")):
        raises(NotImplementedError, lambda ask=ask: asyncio.run(ask()), word)
    raises(NotImplementedError, lambda: SandboxFactory.create(redact_pii=True), "redact_pii")


def test_settings(directory):
    path = os.path.join(directory, "sandbox.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("# settings\ndefault_backend: docker\nmax_concurrent_jobs: 2  # two\nallowed_domains:\n  - a.b\ntimeout_seconds: 0.5\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sandbox = SandboxFactory.from_yaml(path)
        os.environ.update(SANDBOXMCP_NETWORK="true", SANDBOXMCP_TIMEOUT="1", SANDBOXMCP_SECRET_A_B="x", SANDBOXMCP_AUDIT="sqlite")
        SandboxFactory.from_env()
        SandboxFactory.create(default_backend="process", max_concurrent_jobs=4, enable_network=False, vault="memory", audit="sqlite",
                              max_ram_mb=512, max_cpu_cores=1, timeout_seconds=60, max_processes=10, sqlite_path="sandboxmcp.db")
    texts = [str(one.message).partition(" ")[0] for one in caught if one.category is UserWarning]
    assert texts == ["default_backend='docker'", "allowed_domains=['a.b']", "SANDBOXMCP_SECRET_…", "enable_network=True"], texts
    assert asyncio.run(sandbox.get_stats())["queue"]["max_concurrent"] == 2
    assert "after 0.5s" in execute("while 1: pass", sandbox).stderr


def test_flat_yaml():
    text = "a: 1\nb: -2.5\nc: 'it''s # x' # y\nd: \"q\\n\"\ne: [1, two, 'x']\nf:\ng: true\nh: a b#c\ni:\n- x\n- 2\n---\n"
    assert flat_yaml.read(text) == {"a": 1, "b": -2.5, "c": "it's # x", "d": "q\n", "e": [1, "two", "x"], "f": None, "g": True,
                                    "h": "a b#c", "i": ["x", 2]}
    for wrong in ("a", "a: {b: c}", "a:\n  b: c", "- x", "a: &x 1", "a: b: c", "a: |\n  x", "a: [[1]]", "a: 1\n- x"):
        raises(ValueError, lambda wrong=wrong: flat_yaml.read(wrong), "line")


def main(binaries):
    with tempfile.TemporaryDirectory() as directory, Cluster(binaries) as cluster:
        os.environ["CLOISTER_COMMAND"] = shlex.join([*cluster.command("gateway"), "--toolsets=core,monitor", "--result-bytes=0"])
        counts = cases.play(sys.modules[__name__], named={"directory": directory})
        asyncio.run(SANDBOX[0].close())
    cases.end(counts)


if __name__ == "__main__":
    main(sys.argv[1])
