// SPDX-License-Identifier: Apache-2.0
// The AI SDK of Vercel: `generateText({ model, tools: { run_code: runCode(session) }, ... })`.
// What a model can correct is text: a program that fails, a refused call, a run without an end.  All else is thrown.
import { tool } from "ai";
import { z } from "zod";
import { RequestTimeout, ToolError } from "../errors.js";
import { MOST, shortened, textOf } from "./text.js";

/** @import { RunOptions } from "../../index.js" */
/** @import { Session } from "../session.js" */

const DESCRIPTION = "Run a program in a sandbox. Variables, imports and files in /workspace stay between calls. Returns what it " +
	"prints, the value of its last expression, and the names of new files.";

/** @param {Session} session @param {string} code @param {RunOptions & { most: number }} options */
async function run(session, code, { most, ...options }) {
	try {
		const result = await session.run(code, options);
		const images = result.images.map((one) => ({ mediaType: one.mimeType, data: Buffer.from(one.data).toString("base64") }));
		return { text: shortened(textOf(result), most), images };
	} catch (error) {
		if (error instanceof ToolError || error instanceof RequestTimeout) return { text: `error: ${error.message}`, images: [] };
		throw error;
	}
}

/** @param {Session} session @param {Omit<RunOptions, "session" | "signal"> & { most?: number }} [options] */
export const runCode = (session, { most = MOST, ...options } = {}) => tool({
	description: DESCRIPTION,
	inputSchema: z.object({ code: z.string().describe("The whole program.") }),
	execute: ({ code }, { abortSignal }) => run(session, code, { ...options, most, signal: abortSignal }),
	toModelOutput: ({ output: { text, images } }) => images.length === 0 ? { type: "text", value: text } : {
		type: "content",
		value: [{ type: "text", text }, ...images.map((one) => ({ type: /** @type {const} */ ("file-data"), ...one }))],
	},
});
