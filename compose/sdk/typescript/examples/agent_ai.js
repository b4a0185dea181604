// SPDX-License-Identifier: Apache-2.0
// An agent of Vercel's AI SDK.  A script stands in for the model; put one of a provider in its place.
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { Sandbox } from "cloister-sandbox";
import { runCode } from "cloister-sandbox/ai";

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const calls = (/** @type {string} */ code) => ({
	content: [{ type: "tool-call", toolCallId: code, toolName: "run_code", input: JSON.stringify({ code }) }],
	finishReason: { unified: "tool-calls" }, usage, warnings: [],
});
const says = (/** @type {string} */ text) => ({ content: [{ type: "text", text }], finishReason: { unified: "stop" }, usage, warnings: [] });
const script = [calls("x = 6"), calls("print(x * 7)"), calls("1 / 0"), says("The answer is 42.")];
const model = new MockLanguageModelV3({ doGenerate: async () => /** @type {any} */ (script.shift()) });

const sandbox = await Sandbox.open();
const session = await sandbox.session({ ttl: 600 });
try {
	const done = await generateText({
		model, prompt: "What is 6 * 7?", tools: { run_code: runCode(session, { timeout: 20 }) }, stopWhen: stepCountIs(8),
	});
	for (const step of done.steps) for (const call of step.toolResults) console.log("tool:", /** @type {any} */ (call.output).text);
	console.log("ai:", done.text);
} finally {
	await session.close();
	await sandbox.close();
}
