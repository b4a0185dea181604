// SPDX-License-Identifier: Apache-2.0
// The package against the real programs.  Arguments: the options of Sandbox.open() as JSON; those of a server with one place.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Closed, ExecutionError, RequestTimeout, Result, Sandbox, SandboxError, Session, ToolError } from "cloister-sandbox";
import { children, play, soon } from "./typescript_cases.mjs";

const [options, crowded] = process.argv.slice(2).map((text) => JSON.parse(text));
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
const FOREVER = "import time; time.sleep(60)";
const text = (bytes) => new TextDecoder().decode(bytes);
const running = async (sandbox) => (await sandbox.stats()).queue.running;

const cases = {
	async a_program(sandbox) {
		const result = await sandbox.run("print('out')\nimport sys; print('err', file=sys.stderr)\n{'answer': 6 * 7}");
		assert.ok(result instanceof Result && result.success && result.exitCode === 0 && result.error === undefined && result.check() === result);
		assert.deepEqual([result.stdout, result.stderr, result.result], ["out\n", "err\n", { answer: 42 }]);
		assert.ok(result.language === "python" && result.executionId.startsWith("exec_") && result.seconds > 0 && !result.timedOut);
		assert.ok(result.isolation.layers.includes("seccomp") && result.usage.wall_ms > 0 && result.raw.success);
		assert.equal((await sandbox.run("None")).result ?? null, null);
	},
	async each_language(sandbox) {
		assert.equal((await sandbox.run("console.log(1 + 1)", { language: "node" })).stdout, "2\n");
		assert.equal((await sandbox.run("echo $((2 + 2))", { language: "shell" })).stdout, "4\n");
		const languages = (await sandbox.runtimes()).map((one) => one.language);
		assert.ok(["python", "node", "shell"].every((one) => languages.includes(one)), String(languages));
	},
	async a_program_that_fails_is_a_result(sandbox) {
		const result = await sandbox.run("1 / 0");
		assert.ok(!result.success && result.exitCode === 1 && result.stderr.includes("ZeroDivisionError"));
		const { code, message, type, line, hint } = result.error;
		assert.deepEqual([code, message, type, line], ["program_failed", "division by zero", "ZeroDivisionError", 1]);
		assert.ok(hint);
		assert.throws(() => result.check(), (error) => error instanceof ExecutionError && error.message.includes("division by zero"));
		assert.equal((await sandbox.run("x =")).error.code, "syntax_error");
	},
	async long_output(sandbox) {
		const result = await sandbox.run("print('x' * 300_000)");
		assert.ok(result.stdout.length === 300_001 && !result.stdoutTruncated);
		assert.ok((await sandbox.run("print('x' * 5000)", { limits: { maxOutputBytes: 1000 } })).stdoutTruncated);
	},
	async a_program_that_runs_too_long(sandbox) {
		const result = await sandbox.run("print('begun', flush=True)\nwhile True: pass", { timeout: 1 });
		assert.deepEqual([result.timedOut, result.error.code, result.stdout], [true, "timeout", "begun\n"]);
		assert.ok((await sandbox.run("while True: pass", { limits: { timeoutSeconds: 0.3 } })).timedOut);
	},
	async other_arguments(sandbox) {
		const program = "import sys; print(sys.argv[1:], input())";
		assert.equal((await sandbox.run(program, { arguments: ["a"], stdin: "b" })).stdout, "['a'] b\n");
		assert.ok(!(await sandbox.run("import os", { allowedImports: ["json"] })).success);
		await assert.rejects(sandbox.run("1", { allowedDomains: ["no.example"] }), (error) => error.code === "egress_denied" && error.hint !== undefined);
	},
	async refusals(sandbox) {
		const refused = (error) => error instanceof ToolError && error.code === "limit_exceeded" && error.hint && error.message.includes("max_ram_mb");
		await assert.rejects(sandbox.run("1", { limits: { maxRamMb: 99999 } }), refused);
		await assert.rejects(sandbox.run("1", { noSuch: "x" }), (error) => error.code === "invalid_argument" && error.message.includes("no_such"));
		await assert.rejects(sandbox.call("no_such_tool"), /no_such_tool/);
	},
	async files_go_in_with_the_program(sandbox) {
		const result = await sandbox.run("open('out.bin', 'wb').write(open('in/a', 'rb').read() * 2)", { files: { "in/a": new Uint8Array([0, 255]) } });
		assert.deepEqual(result.files.map((file) => [file.filename, file.size, file.path]), [["out.bin", 4, "/workspace/out.bin"]]);
		assert.ok(result.files[0].signature);
		assert.deepEqual((await sandbox.artifacts(result.executionId)).map((file) => file.sha256), [result.files[0].sha256]);
	},
	async output_as_it_arrives(sandbox) {
		const pieces = [];
		const code = "import sys, time\nprint('one', flush=True); time.sleep(0.3)\nprint('two', file=sys.stderr, flush=True); time.sleep(0.3)";
		await sandbox.run(code, { onOutput: (channel, piece) => pieces.push([channel, piece]) });
		assert.deepEqual(pieces, [["stdout", "one\n"], ["stderr", "two\n"]]);
	},
	async an_error_of_the_callback_ends_the_run(sandbox) {
		const onOutput = () => { throw new RangeError("enough"); };
		await assert.rejects(sandbox.run(`print('x', flush=True); ${FOREVER}`, { onOutput }), RangeError);
		await soon(async () => (await running(sandbox)) === 0, "the program still runs");
	},
	async pictures(sandbox) {
		const { images } = await sandbox.run(`import base64; open('dot.png', 'wb').write(base64.b64decode('${PNG}'))`);
		assert.deepEqual(images.map((image) => [image.mimeType, image.data]), [["image/png", new Uint8Array(Buffer.from(PNG, "base64"))]]);
	},
	async a_session(sandbox) {
		const session = await sandbox.session({ ttl: 60 });
		assert.ok(session instanceof Session);
		(await session.run("x = 41")).check();
		assert.equal((await session.run("x + 1")).result, 42);
		await session.upload("a.txt", "é");
		assert.equal((await session.run("open('a.txt').read()")).result, "é");
		assert.equal(text(await session.read("a.txt")), "é");
		assert.deepEqual((await session.files()).map((file) => file.filename), ["a.txt"]);
		await assert.rejects(session.upload("a.txt", "", { overwrite: false }), (error) => error.code === "file_exists");
		await session.bridge("key", { a: [1] });
		assert.deepEqual((await session.run("bridge['key']['a']")).result, [1]);
		assert.ok(JSON.stringify((await session.state()).variables).includes("x"));
		const again = await sandbox.session({ id: session.id });
		assert.equal((await again.run("x")).result, 41);
		await again[Symbol.asyncDispose]();
		assert.equal((await session.run("x")).result, 41, "a session that was joined is not ended");
		const { id } = session;
		await session[Symbol.asyncDispose]();
		await assert.rejects(sandbox.run("1", { session: id }), (error) => ["not_found", "session_expired"].includes(error.code));
		await assert.rejects(session.run("1"), Closed);
	},
	async a_session_that_ended_before(sandbox) {
		const session = await sandbox.session({ language: "shell" });
		assert.equal((await session.run("pwd")).stdout, "/workspace\n");
		await sandbox.call("terminate_session", { session_id: session.id });
		await session[Symbol.asyncDispose]();
	},
	async large_files(sandbox) {
		const content = randomBytes(10_000_000), session = await sandbox.session();
		await session.upload("large", content);
		assert.ok(content.equals(await session.read("large")));
		await session.upload("empty", new ArrayBuffer(0));
		assert.equal((await session.read("empty")).length, 0);
		await session.close();
	},
	async a_directory(sandbox) {
		const top = mkdtempSync(join(tmpdir(), "cloister-sdk-")), session = await sandbox.session();
		try {
			mkdirSync(join(top, "in", "deep"), { recursive: true });
			for (const [name, content] of [["a.txt", "1"], ["in/c", ""], ["in/deep/b", "\0"]]) writeFileSync(join(top, name), content);
			symlinkSync("/etc/passwd", join(top, "link"));
			symlinkSync("/etc", join(top, "in", "directory"));
			assert.deepEqual(await session.uploadDir(top), ["a.txt", "in/c", "in/deep/b"]);
			assert.deepEqual(await session.uploadDir(join(top, "in"), { to: "copy" }), ["copy/c", "copy/deep/b"]);
			assert.equal(text(await session.read("copy/deep/b")), "\0");
			for (const limit of [{ maxFiles: 2 }, { maxBytes: 1 }])
				await assert.rejects(session.uploadDir(top, { to: "no", ...limit }), new RegExp(Object.keys(limit)[0]));
			await assert.rejects(session.uploadDir(join(top, "none")), /ENOENT/);
			assert.equal((await session.files()).length, 5);
		} finally {
			rmSync(top, { recursive: true });
			await session.close();
		}
	},
	async snapshots(sandbox) {
		const session = await sandbox.session();
		await session.upload("keep", "1");
		const snapshot = await session.snapshot("before");
		assert.deepEqual([snapshot.description, snapshot.files, snapshot.bytes], ["before", 1, 1]);
		(await session.run("import os; os.remove('keep'); open('new', 'w').close()")).check();
		assert.deepEqual((await session.restore(snapshot)).recreated, ["keep"]);
		assert.ok((await sandbox.snapshots()).some((one) => one.id === snapshot.id));
		await sandbox.deleteSnapshot(snapshot);
		assert.ok(!(await sandbox.snapshots()).some((one) => one.id === snapshot.id));
		await session.close();
	},
	async the_default_session(sandbox) {
		const session = await sandbox.upload("mine", "1");
		assert.equal(text(await sandbox.read("mine")), "1");
		assert.ok((await sandbox.files()).some((file) => file.filename === "mine" && file.sessionId === session));
		assert.equal((await sandbox.call("sandbox_close_session", {})).session_id, session);
	},
	async validation(sandbox) {
		const refused = await sandbox.validate("import os");
		assert.ok(!refused.valid && refused.findings[0].line === 1 && refused.message);
		assert.ok((await sandbox.validate("import os", { profile: "open" })).valid);
		assert.match((await sandbox.validate("x = np.zeros(3)", { profile: "open", autoFix: true })).fixedCode, /^import numpy as np/);
	},
	async secrets(sandbox) {
		await sandbox.addSecret("API_KEY", "a long secret", "sdk");
		const result = await sandbox.run("import os; print(os.environ['API_KEY'])", { namespace: "sdk", envSecrets: ["API_KEY"] });
		assert.equal(result.stdout, "***REDACTED***\n");
		assert.deepEqual(await sandbox.secrets("sdk"), ["API_KEY"]);
		await sandbox.deleteSecret("API_KEY", "sdk");
		assert.deepEqual(await sandbox.secrets("sdk"), []);
		await assert.rejects(sandbox.deleteSecret("API_KEY", "sdk"), (error) => error instanceof ToolError && error.code === "secret_not_found");
	},
	async the_server_itself(sandbox) {
		assert.ok((await sandbox.info()).success && (await sandbox.stats()).queue.max_concurrent > 0);
		assert.equal((await sandbox.setLimits({ maxOutputBytes: 500_000 })).max_output_bytes, 500_000);
		const { executionId } = await sandbox.run("1");
		await soon(async () => (await sandbox.audit({ executionId })).length === 2, "the records of a run");
		assert.ok((await sandbox.tools()).includes("execute_code"));
	},
	async much_at_once(sandbox) {
		const all = [...Array(12).keys()];
		const results = await Promise.all(all.map((i) => sandbox.run(`${i} * 2`)));
		assert.deepEqual(results.map((result) => result.result), all.map((i) => 2 * i));
	},
	async cancellation(sandbox) {
		const giveUp = new AbortController(), reason = new Error("not needed any more");
		const run = sandbox.run(FOREVER, { signal: giveUp.signal });
		run.catch(() => {});
		await soon(async () => (await running(sandbox)) > 0, "the program does not run");
		giveUp.abort(reason);
		await assert.rejects(run, (error) => error === reason);
		await soon(async () => (await running(sandbox)) === 0, "the program still runs");
		await assert.rejects(sandbox.run("1", { signal: giveUp.signal }), (error) => error === reason);
		assert.equal((await sandbox.run("1")).result, 1);
	},
	async a_deadline_cancels_at_the_server(sandbox) {
		await assert.rejects(sandbox.run(FOREVER, { deadline: 2 }), RequestTimeout);
		await soon(async () => (await running(sandbox)) === 0, "the program still runs");
		const hasty = await Sandbox.open({ ...options, deadline: 2 });
		assert.ok((await hasty.run("import time; time.sleep(2.5)", { timeout: 5 })).success, "a run has its timeout in addition");
		await hasty.close();
	},
	async a_server_that_is_full(sandbox) {
		const one = await Sandbox.open(crowded), many = [...Array(5).keys()];
		const code = "import time; time.sleep(0.3)";
		const outcomes = await Promise.allSettled(many.map(() => one.run(code)));
		const refused = outcomes.filter((outcome) => outcome.status === "rejected").map((outcome) => outcome.reason);
		assert.ok(refused.length > 0 && refused.every((error) => error instanceof ToolError && error.code === "queue_full" && error.retryMs > 0), String(refused));
		const patient = await Promise.all(many.map(() => one.run(code, { retry: 30 })));
		assert.ok(patient.every((result) => result.success));
		const waits = one.run("while True: pass", { timeout: 3 });
		await soon(async () => (await running(one)) > 0, "the program does not run");
		await assert.rejects(one.run("1", { retry: 60, signal: AbortSignal.timeout(300) }), (error) => error.name === "TimeoutError");
		await assert.rejects(one.run("1", { retry: 0.5 }), (error) => error.code === "queue_full");
		assert.ok((await waits).timedOut);
		await one.close();
	},
	async after_the_end() {
		const before = await children();
		const sandbox = await Sandbox.open(options);
		assert.equal((await sandbox.run("1")).result, 1);
		const open = sandbox.run(FOREVER);
		open.catch(() => {});
		await soon(async () => (await running(sandbox)) > 0, "the program does not run");
		await sandbox.close();
		await sandbox[Symbol.asyncDispose]();
		await assert.rejects(open, SandboxError);
		await assert.rejects(sandbox.run("1"), Closed);
		await soon(async () => (await children()).length === before.length, "the server still runs");
	},
	async tools_without_a_method_of_their_own(sandbox) {
		assert.equal((await sandbox.call("validate_json_data", { data: { a: 1 }, schema_name_or_dict: { required: ["b"] } })).valid, false);
		assert.equal((await sandbox.call("validate_csv_data", { csv_content: "a,b\n1,2\n" })).row_count, 1);
		assert.ok("events" in (await sandbox.call("follow_events", {})));
	},
};

const server = options.url ? "over HTTP" : "over stdio";
const sandbox = await Sandbox.open(options);
await play(cases, sandbox, server);
await sandbox.close();
