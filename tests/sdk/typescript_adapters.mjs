// SPDX-License-Identifier: Apache-2.0
// The tool for the AI SDK, as that calls it, against the real programs.  Argument: the options of Sandbox.open() as JSON.
import assert from "node:assert/strict";
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { Sandbox } from "cloister-sandbox";
import { runCode } from "cloister-sandbox/ai";
import { play, soon } from "./typescript_cases.mjs";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
const DRAWN = `import base64; open('plot.png', 'wb').write(base64.b64decode('${PNG}'))`;
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const calls = (code) => ({
	content: [{ type: "tool-call", toolCallId: code, toolName: "run_code", input: JSON.stringify({ code }) }],
	finishReason: { unified: "tool-calls" }, usage, warnings: [],
});
const DONE = { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop" }, usage, warnings: [] };

/** What the model is sent for these programs. */
async function sent(tool, ...codes) {
	const script = [...codes.map(calls), DONE];
	const model = new MockLanguageModelV3({ doGenerate: async () => script.shift() });
	const done = await generateText({ model, prompt: "go", tools: { run_code: tool }, stopWhen: stepCountIs(9) });
	assert.equal(done.text, "done");
	const last = model.doGenerateCalls.at(-1);
	return { outputs: last.prompt.filter((one) => one.role === "tool").flatMap((one) => one.content.map((part) => part.output)), tools: last.tools };
}

const cases = {
	async a_tool(sandbox) {
		const session = await sandbox.session();
		const { outputs, tools } = await sent(runCode(session, { timeout: 20 }), "x = 5", "print('out')\nx + 1", "y", DRAWN);
		assert.deepEqual(Object.keys(tools[0].inputSchema.properties), ["code"]);
		assert.ok(tools[0].description.length < 300);
		assert.deepEqual(outputs.slice(0, 2).map((one) => one.value), ["no output", "out\nresult: 6"]);
		assert.match(outputs[2].value, /NameError/);
		const [text, picture] = outputs[3].value;
		assert.match(text.text, /new file: plot.png/);
		assert.deepEqual([picture.type, picture.mediaType, picture.data], ["file-data", "image/png", PNG]);
		await session.close();
	},
	async limits_and_refusals_are_text(sandbox) {
		const session = await sandbox.session();
		const execute = (options, code) => runCode(session, options).execute({ code }, { toolCallId: "1", messages: [] });
		const slow = await execute({ timeout: 1 }, "while True: pass");
		assert.match(slow.text, /error: timeout.*\n.*longer timeout/s);
		assert.match((await execute({ language: "cobol" }, "1")).text, /^error: .*cobol/s);
		const long = (await execute({}, "print('a' * 30000 + 'b' * 30000)")).text;
		assert.ok(long.length < 20_100 && long.startsWith("a") && long.endsWith("b") && long.includes("characters are left out"));
		await session.close();
	},
	async an_aborted_call_is_cancelled(sandbox) {
		const session = await sandbox.session();
		const stop = new AbortController();
		const call = runCode(session).execute({ code: "import time; time.sleep(60)" }, { toolCallId: "1", messages: [], abortSignal: stop.signal });
		await soon(async () => (await sandbox.stats()).queue.running > 0, "the program does not run");
		stop.abort();
		await assert.rejects(call);
		await soon(async () => (await sandbox.stats()).queue.running === 0, "the program still runs");
		await session.close();
	},
};

const sandbox = await Sandbox.open(JSON.parse(process.argv[2]));
await play(cases, sandbox, "of the AI SDK");
await sandbox.close();
