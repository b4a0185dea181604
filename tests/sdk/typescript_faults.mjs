// SPDX-License-Identifier: Apache-2.0
// Servers that are dead, slow or wrong.  Each call ends in time with a clear error.  Argument: options with a wrong token.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import {
	Closed, ConnectionLost, ProtocolError, RequestTimeout, RpcError, Sandbox, SandboxError, StartError, ToolError,
} from "cloister-sandbox";
import { play } from "./typescript_cases.mjs";

// A real server, and a token that it does not know.
const guarded = JSON.parse(process.argv[2]);

// A server over stdio; the reply to a tool call is the value of an expression of `id`, or nothing.
const fake = (reply) => ({ command: [process.execPath, "-e", `
const say = (message) => process.stdout.write((typeof message === "string" ? message : JSON.stringify(message)) + "\\n");
const hello = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "fake", version: "1" } };
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
	const { id, method } = JSON.parse(line);
	if (method === "initialize") say({ jsonrpc: "2.0", id, result: hello });
	if (method === "tools/call") { ${reply} }
});
process.stdin.on("end", () => process.exit());`] });
const replies = (result) => fake(`say({ jsonrpc: "2.0", id, result: ${JSON.stringify(result)} })`);

async function fails(kind, options, words, act = (sandbox) => sandbox.call("tool")) {
	let sandbox;
	const began = performance.now();
	await assert.rejects(async () => {
		sandbox = await Sandbox.open({ deadline: kind === RequestTimeout ? 2 : 20, ...options });
		await act(sandbox);
	}, (error) => error instanceof SandboxError && error instanceof kind && error.name === kind.name
		&& (words.test(error.message) || assert.fail(`${error.message} lacks ${words}`)));
	await sandbox?.close();
	assert.ok(performance.now() - began < 15_000, "it took too long");
}

/** A server over HTTP that answers each request with what act() sends. */
async function serving(act, use) {
	const server = createServer(async (request, response) => {
		let body = "";
		for await (const piece of request) body += piece;
		act(response, body ? JSON.parse(body) : {}, request);
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	try {
		return await use({ url: `http://127.0.0.1:${server.address().port}/mcp` });
	} finally {
		server.closeAllConnections();
		server.close();
	}
}

/** A URL at which no server is. */
const nobody = () => serving(() => {}, ({ url }) => url);

const says = (response, status, body, headers) => response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
const hello = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "fake", version: "1" } };
const answers = (response, { id, method }, headers, result = { content: [], structuredContent: { done: true } }) =>
	id === undefined ? response.writeHead(method ? 202 : 405).end()
		: says(response, 200, { jsonrpc: "2.0", id, result: method === "initialize" ? hello : result }, headers);

const cases = {
	no_such_command: () => fails(StartError, { command: ["/nonexistent"] }, /nonexistent/),
	a_command_that_ends: () => fails(StartError, { command: ["/bin/sh", "-c", "echo last words >&2; exit 3"] }, /last words/),
	a_command_that_is_silent: () => fails(RequestTimeout, { command: ["/bin/sleep", "30"] }, /no reply/),
	no_server_there: async () => fails(StartError, { url: await nobody() }, /ECONNREFUSED/),
	a_token_of_two_lines: () => assert.rejects(Sandbox.open({ url: "http://127.0.0.1/mcp", token: "a\nb" }),
		(error) => error instanceof TypeError && !error.message.includes("a\nb")),
	no_url: () => fails(StartError, { url: "nowhere" }, /nowhere/),
	both: () => assert.rejects(Sandbox.open({ url: "http://x", command: "y" }), TypeError),
	no_cloister_in_path: async () => {
		const { PATH } = process.env;
		try {
			process.env.PATH = "/nonexistent";
			await fails(StartError, {}, /no cloister was found.*CLOISTER_COMMAND/);
			process.env.CLOISTER_COMMAND = "/nonexistent/too";
			await fails(StartError, {}, /nonexistent.too/);
			process.env.CLOISTER_URL = await nobody();
			await fails(StartError, {}, /ECONNREFUSED/);
		} finally {
			Object.assign(process.env, { PATH });
			delete process.env.CLOISTER_COMMAND;
			delete process.env.CLOISTER_URL;
		}
	},
	it_ends_during_a_call: () => fails(ConnectionLost, fake("console.error('out of luck'); process.exit(1)"), /out of luck/),
	it_never_replies: () => fails(RequestTimeout, fake(""), /no reply/),
	it_says_what_is_no_json: () => fails(RequestTimeout, fake("say('what?')"), /no reply/),
	an_error_of_json_rpc: () => fails(RpcError, fake(`say({ jsonrpc: "2.0", id, error: { code: -32000, message: "no" } })`), /no \(-32000\)/),
	a_refusal_of_json_rpc: () => fails(ToolError, fake(`say({ jsonrpc: "2.0", id, error: { code: -32000, message: "m", data: { code: "busy", retry_ms: 5 } } })`), /busy: m/),
	a_refusal_without_a_reason: () => fails(ToolError, replies({ isError: true, content: [] }), /unknown: .*without a reason/),
	a_refusal_in_words: () => fails(ToolError, replies({ isError: true, content: [{ type: "text", text: "go away" }] }), /go away/),
	a_result_without_members: () => fails(ProtocolError, replies({ content: [], structuredContent: { success: true } }), /lacks execution_id/, (sandbox) => sandbox.run("1")),
	a_result_of_another_type: () => fails(ProtocolError, replies({ content: [], structuredContent: { success: 1 } }), /success as number/, (sandbox) => sandbox.run("1")),
	files_of_another_type: () => fails(ProtocolError, replies({ content: [], structuredContent: { artifacts: [1] } }), /no object/, (sandbox) => sandbox.files()),
	// A server that sends empty pieces of a file must not make read() wait for ever.
	a_file_without_an_end: async () => {
		const sandbox = await Sandbox.open(replies({ content: [], structuredContent: { content_base64: "", total_size: 5 } }));
		assert.equal((await sandbox.read("x")).length, 0);
		await sandbox.close();
	},
	it_is_started_again_after_it_was_lost: async () => {
		const sandbox = await Sandbox.open(fake("process.exit(1)"));
		await assert.rejects(sandbox.call("tool"), ConnectionLost);
		await assert.rejects(sandbox.call("tool"), ConnectionLost);
		await sandbox.close();
		await assert.rejects(sandbox.call("tool"), Closed);
	},
	a_wrong_token: () => fails(RpcError, guarded, /401.*pass a token|token/),
	a_session_that_the_server_forgot: () => {
		let calls = 0;
		return serving((response, asked, request) => {
			const forgotten = asked.method === "tools/call" && calls++ === 1 && request.headers["mcp-session-id"];
			if (forgotten) says(response, 404, { jsonrpc: "2.0", id: null, error: { code: -32001, message: "no such session" } });
			else answers(response, asked, { "mcp-session-id": `s${calls}` });
		}, async (options) => {
			const sandbox = await Sandbox.open(options);
			for (let i = 0; i < 3; i++) assert.deepEqual(await sandbox.call("tool"), { done: true });
			assert.equal(calls, 4);
			await sandbox.close();
		});
	},
	a_connection_that_breaks: () => serving((response, asked) => asked.method === "tools/call" ? response.destroy() : answers(response, asked), (options) =>
		fails(ConnectionLost, options, /./)),
	the_token_is_sent: () => {
		const seen = new Set();
		return serving((response, asked, request) => {
			seen.add(request.headers.authorization);
			answers(response, asked);
		}, async (options) => {
			const sandbox = await Sandbox.open({ ...options, token: "t" });
			await sandbox.call("tool");
			await sandbox.close();
			assert.deepEqual([...seen], ["Bearer t"]);
		});
	},
};

await play(cases, undefined, "with a fake server");
