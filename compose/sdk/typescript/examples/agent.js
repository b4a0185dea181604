// SPDX-License-Identifier: Apache-2.0
// A tool for a model's program: it never throws for what the model did wrong, waits where the server is full, and can be
// cancelled.  The text is what the model should read.
import { Sandbox, ToolError } from "cloister-sandbox";

const sandbox = await Sandbox.open({ retry: 30 });
const session = await sandbox.session({ ttl: 600 });

/** @param {{ code: string, language?: string }} call @param {AbortSignal} [signal] */
async function runCode({ code, language }, signal) {
	try {
		const run = await session.run(code, { language, timeout: 20, signal });
		const files = run.files.map((file) => `new file: ${file.filename}, ${file.size} bytes`);
		return [run.stdout, run.stderr, run.result === undefined ? "" : `result: ${JSON.stringify(run.result)}`, ...files, run.error?.hint]
			.filter(Boolean).join("\n");
	} catch (error) {
		if (error instanceof ToolError) return error.message;
		throw error;
	}
}

try {
	console.log(await runCode({ code: "x = [1, 2]\nopen('note.txt', 'w').write('hi')\nlen(x)" }));
	console.log(await runCode({ code: "x[5]" }));
	console.log(await runCode({ code: "1", language: "cobol" }));
	await runCode({ code: "while True: pass" }, AbortSignal.timeout(500)).catch((error) => console.log(error.name));
} finally {
	await session.close();
	await sandbox.close();
}
