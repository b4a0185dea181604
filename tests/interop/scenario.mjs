// SPDX-License-Identifier: Apache-2.0
// The cases of every client, in JavaScript; scenario.py is the same in Python.
//
// A case gets a connected peer: tools(), call(name, args, onProgress), abandon(name, args), which calls and cancels while
// the call runs.  A refused request throws an error with the code of JSON-RPC.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const cases = {
	async lists_tools(peer) {
		const tools = Object.fromEntries((await peer.tools()).map((tool) => [tool.name, tool]));
		const tool = tools.execute_code;
		assert.deepEqual(tool.inputSchema.required, ["code"]);
		assert.equal(tool.annotations.openWorldHint, false);
		assert.ok(tool.outputSchema.properties.stdout && tool.title && Object.keys(tools).length > 10);
	},
	async runs_code(peer) {
		const result = await peer.call("execute_code", { code: "print(6 * 7)\nresult = {'a': [1, None, 'é']}" });
		const value = result.structuredContent;
		assert.ok(!result.isError && value.success && value.isolation.layers.length > 0, JSON.stringify(result));
		assert.equal(value.stdout, "42\n");
		assert.deepEqual(value.result, { a: [1, null, "é"] });
	},
	async keeps_files(peer) {
		const session_id = (await peer.call("create_session", {})).structuredContent.session_id;
		const data = randomBytes(300000);
		const sent = await peer.call("sandbox_upload_file", {
			session_id, filename: "in/data.bin", content_base64: data.toString("base64") });
		assert.equal(sent.structuredContent.size, data.length);
		const ran = await peer.call("execute_code", {
			session_id, code: "open('out.bin', 'wb').write(open('in/data.bin', 'rb').read()[::-1])" });
		assert.deepEqual(ran.structuredContent.artifacts.map((a) => a.filename), ["out.bin"]);
		const got = await peer.call("sandbox_read_artifact", { session_id, path: "out.bin" });
		assert.ok(Buffer.from(got.structuredContent.content_base64, "base64").reverse().equals(data));
		const listed = await peer.call("sandbox_list_artifacts", { session_id });
		assert.deepEqual(listed.structuredContent.artifacts.map((a) => a.filename).sort(), ["in/data.bin", "out.bin"]);
		await peer.call("sandbox_close_session", { session_id });
	},
	async hears_of_errors(peer) {
		const failed = await peer.call("execute_code", { code: "1 / 0" });
		assert.ok(failed.isError && failed.content[0].text.includes("ZeroDivisionError"));
		const wrong = await peer.call("execute_code", { code: "1", timeout: -1 });
		assert.ok(wrong.isError && wrong.content[0].text.includes("timeout"));
		await assert.rejects(peer.call("no_such_tool", {}), (error) => error.code === -32602);
	},
	async sees_progress(peer) {
		const seen = [];
		const code = "import time\nfor n in range(5):\n    print(n, flush=True)\n    time.sleep(0.15)";
		await peer.call("execute_code", { code }, (report) => seen.push(report.progress));
		assert.ok(seen.length >= 2 && seen.every((n, i) => i === 0 || n > seen[i - 1]), String(seen));
	},
	async asks_much_at_once(peer) {
		const all = [...Array(16).keys()];
		const results = await Promise.all(all.map((n) => peer.call("execute_code", { code: `print(${n})` })));
		assert.deepEqual(results.map((r) => r.structuredContent.stdout), all.map((n) => `${n}\n`));
	},
	async gives_up(peer) {
		const query = { event: "execution.cancelled", limit: 1000 };
		const cancelled = async () => (await peer.call("audit_execution", query)).structuredContent.entries.length;
		const before = await cancelled();
		await peer.abandon("execute_code", { code: "import time\ntime.sleep(60)" });
		for (let i = 0; i < 50; i++) {
			if ((await cancelled()) > before) return;
			await sleep(100);
		}
		assert.fail("the server did not stop what was given up");
	},
};

export async function run(peer, name) {
	for (const [title, act] of Object.entries(cases)) {
		try {
			await Promise.race([act(peer), sleep(60000, null, { ref: false }).then(() => assert.fail("60 s passed"))]);
			console.log(`ok ${name}: ${title}`);
		} catch (error) {
			console.log(`not ok ${name}: ${title}: ${String(error.stack).replaceAll("\n", "\n    ")}`);
		}
	}
}

// Shared by both versions of the client.
export const peerOf = (client, callTool) => ({
	tools: async () => (await client.listTools()).tools,
	call: (name, args, onProgress) => callTool({ name, arguments: args }, onProgress ? { onprogress: onProgress } : {}),
	async abandon(name, args) {
		const giveUp = new AbortController();
		const called = callTool({ name, arguments: args }, { signal: giveUp.signal });
		setTimeout(() => giveUp.abort("enough"), 1000);
		await assert.rejects(called);
	},
});
