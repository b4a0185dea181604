# SPDX-License-Identifier: Apache-2.0
"""shim.py BIN: what sandboxmcp's own text shows, imported as `sandboxmcp`, against the real programs.

Run by an interpreter that has both wheels installed.
"""

import asyncio
import base64
import hashlib
import importlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import cases  # noqa: E402
from daemons import LEGACY, Client, Cluster  # noqa: E402

from cloister_sandbox.sandboxmcp import flat_yaml  # noqa: E402
from cloister_sandbox.sandboxmcp.mcp_server import settings_of  # noqa: E402
from cloister_sandbox.sandboxmcp.printing import printing  # noqa: E402
from cloister_sandbox import NotSupported, SandboxError, Server, StartError, ToolError  # noqa: E402
from sandboxmcp import ExecutionRequest, ExecutionResult, Language, ResourceLimits, SandboxFactory, SandboxPipeline, SandboxResult  # noqa: E402
from sandboxmcp.backends.process_rt import ProcessBackend  # noqa: E402
from sandboxmcp.core.models import AuditAction, SessionStatus  # noqa: E402
from sandboxmcp.events import SandboxEventType, sandbox_event_bus  # noqa: E402
from sandboxmcp.mcp_server import SandboxMCPServer  # noqa: E402
from sandboxmcp.security.crypto import ArtifactSigner  # noqa: E402
from sandboxmcp.security.egress import NetworkGuard  # noqa: E402
from sandboxmcp.security.pii import PIIRedactor  # noqa: E402
from sandboxmcp.security.resource import ResourceGuard  # noqa: E402
from sandboxmcp.security.validator import CodeValidator  # noqa: E402
from sandboxmcp.security.vault import EnvVault, InMemoryVault  # noqa: E402

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


def test_models():
    limits = ResourceLimits(max_ram_mb=64)
    assert limits.model_copy(update={"timeout_seconds": 1}) == ResourceLimits(max_ram_mb=64, timeout_seconds=1)
    assert limits.model_dump(include={"max_ram_mb"}) == {"max_ram_mb": 64} and "max_ram_mb" not in limits.model_dump(exclude={"max_ram_mb"})
    request = ExecutionRequest(code="1", metadata={"a": [1]})
    request.model_copy(deep=True).metadata["a"].append(2)
    assert request.metadata == {"a": [1]} and "session_id" not in request.model_dump_json(exclude_none=True)


def test_languages():
    assert execute("print(2 + 2)", language=Language.python).stdout == "4\n"
    assert execute("console.log(2 + 2)", language=Language.node).stdout == "4\n"
    assert execute("echo $((2 + 2))", language="shell").stdout == "4\n"
    raises(ValueError, lambda: ExecutionRequest(code="1", language="cobol"))
    raises(ValueError, lambda: ExecutionRequest(code=""))


def test_bare_expressions_are_printed():
    assert execute("x = 42\nx; 'é'\n(x, [x])  # two").stdout == "42\né\n(42, [42])\n"
    for code in ("'''text'''", "f(1)", "(\n1\n)", "if 1:\n  2", "x =", "await x", "a\rb", "\0"):
        assert printing(code) == code, code
    assert "line 2, in" in execute("1\n1 / 0").stderr


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
            result = await sandbox.execute_in_session(session.id, code)
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


def test_validator():
    check = CodeValidator().validate
    bad = check("f((1", Language.node)
    assert not bad.valid and bad.issues[0].line == 1 and check("echo 1", Language.shell).valid and check("", Language.python).valid
    assert "SyntaxError" in check("def f(:").issues[0].message and "zero byte" in check("a\0b").issues[0].message
    fixed = check("x = json.loads('1')")
    assert fixed.verdict == "fixed" and fixed.fixed_code.startswith("import json") and "import" in fixed.fixes_applied[0]
    plain = CodeValidator(auto_fix_enabled=False).validate("x = json.loads('1')")
    assert not plain.was_fixed and plain.fixed_code == plain.original_code
    assert check("fetch('https://a.example/x')", Language.node).fixes_applied == ["Detected domains: a.example"]
    assert CodeValidator().extract_domains("http://b.c:80/ 'https://d.e'") == ["b.c", "d.e"]

    async def inside():
        return check("1").valid
    assert asyncio.run(inside()), "a plain function, also where an event loop runs"


def test_dangerous_code():
    warns, refuses = CodeValidator(), CodeValidator(reject_dangerous=True)
    for code, word in (("import os\nos.system('ls')", "os.system"), ("e = exec\ne('1')", "exec()"), ("import ctypes", "ctypes"),
                       ("getattr(__builtins__, 'ex')", "__builtins__"), ("import subprocess as s\ns.run('ls', shell=True)", "shell=True"),
                       ("if x\n    exec('1')", "exec()")):
        result = warns.validate(code)
        assert result.valid and any(word in one.message and one.severity == "warning" for one in result.issues), (code, result)
        assert refuses.validate(code).verdict == "reject", code
    for code in ("import os\nprint(os.getcwd())", "import math\nprint(math.pi)"):
        assert refuses.validate(code).valid and not refuses.validate(code).issues, code
    lenient = CodeValidator(reject_dangerous=True)
    lenient.disable_pattern("os.system()")
    assert lenient.validate("import os\nos.system('ls')").valid and lenient.disabled_patterns == {"os.system()"}
    lenient.enable_pattern("os.system()")
    assert not lenient.validate("import os\nos.system('ls')").valid
    refusing = SandboxPipeline(code_validator=refuses)
    refused = execute("exec('1')", refusing)
    assert not refused.success and refused.stderr.startswith("Validation failed: [REJECT]") and not refused.metadata["validation"]["valid"]
    assert execute("print(math.pi)", refusing).stdout.startswith("3.14"), "fixed, and run"


def test_vault():
    async def work():
        sandbox = SANDBOX[0]
        await sandbox.vault_add("ns", "API_KEY", "a long secret")
        for _ in range(5):
            await sandbox.execute(ExecutionRequest(code="1", namespace="ns"))
            newest, *_ = await sandbox.audit_log("ns", limit=2)
            assert newest.action == AuditAction.execute, "that of its secret may arrive before that of the run"
        assert await sandbox.vault_list("ns") == ["API_KEY"] and await sandbox.vault_list("other") == []
        show = "import os; print(os.environ.get('API_KEY'))"
        own = await sandbox.execute(ExecutionRequest(code=show, namespace="ns"))
        other = await sandbox.execute(ExecutionRequest(code=show))
        assert own.stdout == "***REDACTED***\n" and other.stdout == "None\n", (own, other)
        vault = InMemoryVault()
        assert await vault.list_keys("ns") == ["API_KEY"]
        for _ in range(2):
            await vault.delete_secret("ns", "API_KEY")
        assert await sandbox.vault_list("ns") == []
    asyncio.run(work())
    raises(NotSupported, lambda: asyncio.run(InMemoryVault().get_secrets("ns")), "list_keys")
    raises(NotSupported, lambda: asyncio.run(InMemoryVault().set_secret("ns", "K", "a long secret", ttl_seconds=5)), "vault_delete")
    raises(ToolError, lambda: asyncio.run(SANDBOX[0].vault_add("ns", "K", "short")), "8")


def test_secrets_of_the_environment():
    os.environ["SANDBOXMCP_SECRET_NS_TOKEN"] = "of the environment"
    try:
        vault = EnvVault()
        assert asyncio.run(vault.list_keys("ns")) == ["TOKEN"] and asyncio.run(vault.get_secrets("other")) == {}
        code = "import os; print(os.environ['TOKEN'], len(os.environ['TOKEN']))"
        assert execute(code, SandboxFactory.create(vault="env"), namespace="ns").stdout == "***REDACTED*** 18\n"
        asyncio.run(vault.delete_secret("ns", "TOKEN"))
        assert asyncio.run(vault.list_keys("ns")) == []
    finally:
        os.environ.pop("SANDBOXMCP_SECRET_NS_TOKEN", None)
    assert InMemoryVault.mask_output("a secret, abc", {"A": "secret", "B": "abc"}) == "a ***REDACTED***, abc"


def test_personal_data():
    redact = PIIRedactor().redact
    for text, masked in (("to a.b@c.example!", "to [EMAIL]!"), ("4111 1111 1111 1111", "[CARD]"), ("4111 1111 1111 1112", "4111 1111 1111 1112"),
                         ("078-05-1120", "[SSN]"), ("+1 (415) 555-0132", "[PHONE]"), ("2026-11-27 10:00, 3.14159", "2026-11-27 10:00, 3.14159")):
        assert redact(text) == masked, redact(text)
    assert execute("print('a@b.example')", SandboxFactory.create(redact_pii=True)).stdout == "[EMAIL]\n"


def test_network():
    guard = NetworkGuard(enable_network=True, global_allowed=["a.example"])
    assert guard.is_allowed("a.example", []) and guard.is_allowed("b.example", ["b.example"]) and not guard.is_allowed("c.example", [])
    assert not NetworkGuard(global_allowed=["a.example"]).is_allowed("a.example", []) and guard.allowed_domains == ["a.example"]
    assert guard.pending_requests == []
    raises(NotSupported, lambda: guard.approve_egress("default", "a.example"), "cloister egress approve")
    refused = execute("1", allowed_domains=["b.example"])
    assert not refused.success and refused.metadata["error"] == "egress_denied" and "b.example" in refused.stderr, refused
    assert "a.example" in execute("1", SandboxFactory.create(enable_network=True, allowed_domains=["a.example"])).stderr


def test_a_person_is_asked(egress):
    async def work():
        queue = sandbox_event_bus.subscribe()
        for namespace, verdict in (("default", "approve"), ("ns", "deny")):
            guard = NetworkGuard()
            asked = asyncio.ensure_future(guard.request_egress("c.example", namespace))
            await asyncio.sleep(0.3)
            assert guard.pending_requests == [{"namespace": namespace, "domain": "c.example"}]
            await asyncio.get_running_loop().run_in_executor(None, egress, verdict)
            assert await asked == (verdict == "approve") and guard.pending_requests == []
            assert guard.allowed_domains == (["c.example"] if verdict == "approve" else [])
        sandbox_event_bus.unsubscribe(queue)
        kind = SandboxEventType
        seen = [queue.get_nowait().type for _ in range(queue.qsize())]
        assert seen == [kind.egress_requested, kind.egress_approved, kind.egress_requested, kind.egress_denied], seen
    asyncio.run(work())
    assert execute("print(1)", allowed_domains=["c.example"]).stdout == "1\n"


def test_over_http(tokens):
    """What a token may do decides."""
    usual, keeper, approver = ({"url": tokens.url, "token": tokens.make(scopes)}
                               for scopes in ("read,run,monitor", "read,run,vault", "read,run,approve"))
    show, sandbox = "import os; print(os.environ.get('API_KEY'))", SandboxFactory.create(**keeper)
    asyncio.run(sandbox.vault_add("default", "API_KEY", "a long secret"))
    assert execute(show, sandbox).stdout == "***REDACTED***\n"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plain = SandboxFactory.create(**usual)
        assert [execute(show, plain).stdout for _ in range(2)] == ["None\n", "None\n"]
    assert [str(one.message).partition(":")[0] for one in caught] == ["programs run without secrets"], caught
    raises(SandboxError, lambda: asyncio.run(plain.vault_list("default")), "scope")

    async def ask():
        guard, person = NetworkGuard(server=Server(**usual)), NetworkGuard(server=Server(**approver))
        asked = asyncio.ensure_future(guard.request_egress("d.example"))
        await asyncio.sleep(0.3)
        raises(NotSupported, lambda: guard.approve_egress("default", "d.example"), "scope approve")
        assert not person.approve_egress("default", "other.example") and person.approve_egress("default", "d.example")
        assert await asked and guard.allowed_domains == ["d.example"]
    asyncio.run(ask())
    raises(NotSupported, SandboxMCPServer(plain).run, "URL")
    assert CodeValidator(server=Server(**usual)).validate("1").valid


def test_backend_and_guard():
    for hardened in (False, True):
        assert asyncio.run(ProcessBackend(hardened=hardened).execute(ExecutionRequest(code="print(1)"))).stdout == "1\n"
    assert execute("print(2)", SandboxPipeline(ProcessBackend(), InMemoryVault(), NetworkGuard())).stdout == "2\n"
    for limits, allowed in (ResourceLimits(), True), (ResourceLimits(max_ram_mb=99999), False), (ResourceLimits(timeout_seconds=0), False):
        assert ResourceGuard().check_limits(ExecutionRequest(code="1", resource_limits=limits)) == allowed, limits
    raises(NotSupported, lambda: ResourceGuard().get_preexec_fn(ResourceLimits()), "ResourceLimits")
    for argument in ("backend", "queue", "audit_logger"):
        raises(NotSupported, lambda argument=argument: SandboxPipeline(**{argument: object()}), argument)


def test_what_is_absent_says_why():
    for module, word in (("security.audit", "audit_log"), ("security.host_guard", "upload"), ("security.docker_config", "Docker"),
                         ("backends.docker_rt", "Docker"), ("pipeline.queue", "max_concurrent_jobs"), ("utils.web_extractor", "web"),
                         ("runtimes.python_env", "install_package"), ("api.app", "--rest"), ("integration", "remove")):
        raises(NotSupported, lambda module=module: importlib.import_module("sandboxmcp." + module), "sandboxmcp", word)
        raises(ModuleNotFoundError, lambda module=module: importlib.import_module("sandboxmcp." + module), word)
    raises(ModuleNotFoundError, lambda: importlib.import_module("sandboxmcp.nosuch"), "No module named")
    raises(NotSupported, lambda: importlib.import_module("sandboxmcp.core.base").BaseBackend, "SandboxFactory")
    raises(AttributeError, lambda: importlib.import_module("sandboxmcp.core.base").nosuch, "nosuch")


def test_mcp_server():
    """As a program of its own, because it serves on its standard streams."""
    code = "from sandboxmcp import SandboxFactory; from sandboxmcp.mcp_server import SandboxMCPServer; " \
           "SandboxMCPServer(SandboxFactory.create(timeout_seconds=7)).run()"
    with Client([sys.executable, "-c", code], revision=LEGACY[0], stderr=subprocess.DEVNULL) as client:
        tools = [tool["name"] for tool in client.request("tools/list")["tools"]]
        assert "execute_code" in tools and "sandbox_upload_file" not in tools, tools
        result = json.loads(client.call("execute_code", {"code": "print(6 * 7)"})["content"][0]["text"])
        assert result["stdout"] == "42\n" and KEYS <= set(result), result
    settings = settings_of(SandboxFactory.create(timeout_seconds=7, max_processes=99, enable_network=True, allowed_domains=["a.b"]))
    assert settings == {"SANDBOXMCP_MAX_RAM_MB": "512", "SANDBOXMCP_TIMEOUT": "7", "SANDBOXMCP_MAX_CONCURRENT": "4",
                        "CLOISTER_EXECUTOR_PROCESSES": "99", "CLOISTER_EXECUTOR_EGRESS_DOMAINS": "a.b"}, settings
    raises(StartError, SandboxMCPServer(SandboxFactory.create(command=["/bin/false"])).run, "status 1")


def test_mcp_server_starts_daemons_with_its_settings(directory, cluster):
    code = "from sandboxmcp import SandboxFactory as F; from sandboxmcp.mcp_server import SandboxMCPServer as S; " \
           "S(F.create(timeout_seconds=1, max_ram_mb=100)).run(); open('returned', 'w').close()"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLOISTER_")}
    where = {**kept, "PATH": f"{os.path.abspath(cluster.bin)}:{os.environ['PATH']}", "CLOISTER_RUN": os.path.join(directory, "run"),
             "CLOISTER_STATE": os.path.join(directory, "state"), "CLOISTER_SUPERVISOR_IDLE_S": "1"}
    os.chmod(directory, 0o755)
    try:
        with Client([sys.executable, "-c", code], revision=LEGACY[0], env=where, stderr=subprocess.DEVNULL, cwd=directory) as client:
            for program, word in (("while 1: pass", "timed out after 1s"), ("bytearray(300 << 20)", "limit of 104857600 bytes")):
                result = json.loads(client.call("execute_code", {"code": program})["content"][0]["text"])
                assert not result["success"] and word in result["stderr"], result
        assert os.path.exists(os.path.join(directory, "returned")), "run() returns when the client leaves"
    finally:
        subprocess.run([os.path.join(cluster.bin, "cloister"), "down"], env=where, stdout=subprocess.DEVNULL, check=True)


def test_console_scripts(directory, cluster):
    """They become `cloister` under the name sandboxmcp."""
    program = os.path.join(directory, "program.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write("print(6 * 7)")
    where = {"PATH": os.path.abspath(cluster.bin), "CLOISTER_RUN": cluster.run, "CLOISTER_STATE": cluster.state}
    ran = subprocess.run([os.path.join(os.path.dirname(sys.executable), "sandboxmcp"), "run", program], env=where,
                         capture_output=True, text=True, check=False)
    assert ran.stdout == "42\n", ran
    fake = os.path.join(directory, "cloister")
    with open(fake, "w", encoding="utf-8") as file:
        file.write("#!/usr/bin/python3\nimport json, sys\nprint(json.dumps(open('/proc/self/cmdline').read().split(chr(0))[2:-1]))\n")
    os.chmod(fake, 0o755)
    scripts = os.path.dirname(sys.executable)
    for name, said, path, expected in (("sandboxmcp", ["run", "a.py"], directory, ["run", "a.py"]),
                                       ("sandboxmcp-api", [], directory, ["serve", "--transport=http", "--rest", "--listen=127.0.0.1:8000"])):
        done = subprocess.run([os.path.join(scripts, name), *said], env={"PATH": path}, capture_output=True, text=True, check=False)
        assert json.loads(done.stdout) == expected, done
        lost = subprocess.run([os.path.join(scripts, name)], env={"PATH": "/nonexistent"}, capture_output=True, text=True, check=False)
        assert lost.returncode == 127 and "install cloister" in lost.stderr, lost


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


def test_events_of_all_types():
    """Those of runs and of a person's answers are in other tests."""
    kind = SandboxEventType

    async def work():
        queue, sandbox = sandbox_event_bus.subscribe(), SANDBOX[0]
        session = await sandbox.create_session()
        await sandbox.kill_session(session.id)
        await sandbox.vault_add("ev", "API_KEY", "a long secret")
        await sandbox.execute(ExecutionRequest(code="bytearray(900 << 20)", namespace="ev"))
        await sandbox.vault_delete("ev", "API_KEY")
        await sandbox.execute(ExecutionRequest(code="1", allowed_domains=["no.example"]))
        sandbox_event_bus.unsubscribe(queue)
        return [queue.get_nowait().type for _ in range(queue.qsize())]
    seen = asyncio.run(work())
    assert seen == [kind.session_created, kind.session_killed, kind.vault_accessed, kind.execution_started, kind.vault_accessed,
                    kind.resource_exceeded, kind.execution_started, kind.egress_denied, kind.execution_failed], seen


def test_a_full_queue(cluster):
    """Of a server with one place and no room to wait."""
    async def work(server):
        queue, sandbox = sandbox_event_bus.subscribe(), SandboxPipeline(server=server)
        await asyncio.gather(*(sandbox.execute(ExecutionRequest(code="import time; time.sleep(0.5)")) for _ in range(3)))
        await sandbox.close()
        return [queue.get_nowait().type for _ in range(queue.qsize())]
    with Cluster(cluster.bin, flags={"executor": ["--max-concurrent=1", "--max-waiting=0"]}) as small:
        seen = asyncio.run(work(Server(command=[*small.command("gateway"), "--toolsets=core,monitor"])))
    assert SandboxEventType.queue_backpressure in seen, seen


def test_what_the_server_lacks():
    sandbox = SANDBOX[0]
    for ask in (lambda: sandbox.install_package(Language.shell, ["x"]),
                lambda: sandbox.execute(ExecutionRequest(code="1", language=Language.shell, packages=["x"]))):
        raises(NotImplementedError, lambda ask=ask: asyncio.run(ask()), "install_package")


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
    assert texts == ["default_backend='docker'", "SANDBOXMCP_SECRET_…"], texts
    assert asyncio.run(sandbox.get_stats())["queue"]["max_concurrent"] == 2
    assert "after 0.5s" in execute("while 1: pass", sandbox).stderr


def test_flat_yaml():
    text = "a: 1\nb: -2.5\nc: 'it''s # x' # y\nd: \"q\\n\"\ne: [1, two, 'x']\nf:\ng: true\nh: a b#c\ni:\n- x\n- 2\n---\n"
    assert flat_yaml.read(text) == {"a": 1, "b": -2.5, "c": "it's # x", "d": "q\n", "e": [1, "two", "x"], "f": None, "g": True,
                                    "h": "a b#c", "i": ["x", 2]}
    for wrong in ("a", "a: {b: c}", "a:\n  b: c", "- x", "a: &x 1", "a: b: c", "a: |\n  x", "a: [[1]]", "a: 1\n- x"):
        raises(ValueError, lambda wrong=wrong: flat_yaml.read(wrong), "line")


def answerer(cluster):
    """A person who answers the newest request, in a terminal."""
    def answer(verdict):
        cloister = [os.path.join(cluster.bin, "cloister"), "egress"]
        where = {"env": {**os.environ, "CLOISTER_RUN": cluster.run, "CLOISTER_STATE": cluster.state}, "text": True, "check": True}
        waiting = json.loads(subprocess.run([*cloister, "list", "--json"], stdout=subprocess.PIPE, **where).stdout)["approvals"]
        request, = (one["request_id"] for one in waiting if one["state"] == "pending")
        subprocess.run([*cloister, verdict, request], stdout=subprocess.DEVNULL, **where)
    return answer


class Tokens:
    """Of a gateway over HTTP."""

    def __init__(self, cluster, url):
        self._cluster, self.url = cluster, url

    def make(self, scopes):
        command = [os.path.join(self._cluster.bin, "cloister"), "token", "add", scopes.replace(",", "-"), f"--scopes={scopes}"]
        made = subprocess.run([*command, "--state=" + self._cluster.state], check=True, capture_output=True, text=True)
        return made.stdout.strip()


def main(binaries):
    with tempfile.TemporaryDirectory() as directory, Cluster(binaries) as cluster, \
            cluster.served(["--toolsets=core,monitor", "--result-bytes=0"]) as served:
        os.environ["CLOISTER_COMMAND"] = shlex.join([*cluster.command("gateway"), "--toolsets=core,monitor", "--result-bytes=0"])
        counts = cases.play(sys.modules[__name__], named={"directory": directory, "egress": answerer(cluster), "cluster": cluster,
                                                             "tokens": Tokens(cluster, served.url)})
        asyncio.run(SANDBOX[0].close())
    cases.end(counts)


if __name__ == "__main__":
    main(sys.argv[1])
