// SPDX-License-Identifier: Apache-2.0
// The official TypeScript server, version 2, written as in its documentation, with one tool that has no effects.
//
//	typescript_server.mjs stdio
//	typescript_server.mjs http      prints its port
import { createServer } from "node:http";
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const make = () => {
	const server = new McpServer({ name: "peer", version: "1.0.0" }, { capabilities: { tools: {} } });
	server.registerTool("echo", { description: "Says it again.", inputSchema: z.object({ text: z.string() }) },
		async ({ text }) => ({ content: [{ type: "text", text }] }));
	return server;
};

if (process.argv[2] === "stdio") {
	serveStdio(make);
} else {
	const host = localhostHostValidation();
	const origin = localhostOriginValidation();
	const serve = toNodeHandler(createMcpHandler(make));
	const listener = createServer((request, response) => {
		if (host(request, response) && origin(request, response)) serve(request, response);
	});
	listener.listen(0, "127.0.0.1", () => console.log(listener.address().port));
}
