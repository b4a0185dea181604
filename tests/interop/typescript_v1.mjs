// SPDX-License-Identifier: Apache-2.0
// The official TypeScript client, version 1: initialize only.  Arguments: the gateway's command, or its URL.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { peerOf, run } from "./scenario.mjs";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "interop", version: "1.0.0" });
await client.connect(command.startsWith("http")
	? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args }));
assert.equal(client.getServerVersion().name, "cloister");
await client.ping();
await run(peerOf(client, (params, options) => client.callTool(params, undefined, options)), "typescript 1");
await client.close();
