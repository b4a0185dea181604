// SPDX-License-Identifier: Apache-2.0
// The official TypeScript client, version 2: with a negotiated, a pinned, and a legacy revision.  Arguments: the gateway's command, or its URL.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { peerOf, run } from "./scenario.mjs";

const [command, ...args] = process.argv.slice(2);
const modes = [["auto", "2026-07-28"], [{ pin: "2026-07-28" }, "2026-07-28"], ["legacy", "2025-11-25"]];

for (const [mode, version] of modes) {
	const client = new Client({ name: "interop", version: "1.0.0" }, { versionNegotiation: { mode } });
	await client.connect(command.startsWith("http")
		? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args }));
	assert.equal(client.getNegotiatedProtocolVersion(), version);
	assert.equal(client.getServerVersion().name, "cloister");
	const name = `typescript 2, ${typeof mode === "string" ? mode : "pinned"}`;
	await run(peerOf(client, (params, options) => client.callTool(params, options)), name);
	await client.close();
}
