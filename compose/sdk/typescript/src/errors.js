// SPDX-License-Identifier: Apache-2.0
// Every way in which a call can fail.  A program that fails is not an error: its Result has success = false.

/** The base of all errors of this package. */
export class SandboxError extends Error {
	get name() { return this.constructor.name; }
}

/** The server's command could not be started, or its URL not be reached. */
export class StartError extends SandboxError {}

/** The server ended, or closed the connection, before it replied.  Whether it ran the request is not known. */
export class ConnectionLost extends SandboxError {}

/** The server sent what MCP, JSON or HTTP does not allow. */
export class ProtocolError extends SandboxError {}

/** No reply within the deadline.  The request has been cancelled at the server. */
export class RequestTimeout extends SandboxError {}

/** The sandbox or session was used after it was closed. */
export class Closed extends SandboxError {}

/** Thrown by Result.check() for a program that failed. */
export class ExecutionError extends SandboxError {}

/** The server replied with a JSON-RPC error, or refused the request with an HTTP status, which is then the code. */
export class RpcError extends SandboxError {
	/** @param {number} code @param {string} message @param {unknown} [data] @param {ErrorOptions} [options] */
	constructor(code, message, data, options) {
		super(`${message} (${code})`, options);
		this.code = code;
		this.data = data;
	}
}

/** The server refused a call.  code is a word of cloister's table of errors, such as "limit_exceeded". */
export class ToolError extends SandboxError {
	/** @param {{ code: string, message: string, hint?: string, retryMs?: number }} refusal */
	constructor({ code, message, hint, retryMs }) {
		super(`${code}: ${message}${hint ? `. ${hint}` : ""}`);
		this.code = code;
		this.hint = hint;
		this.retryMs = retryMs;
	}

	/**
	 * The refusal that a server's object {code, message, hint, retry_ms} describes; undefined if it is another object.
	 * @param {any} said
	 * @param {string} [message]
	 */
	static of(said, message = said?.message) {
		if (typeof said?.code !== "string") return undefined;
		return new ToolError({
			code: said.code, message: String(message ?? ""), hint: typeof said.hint === "string" ? said.hint : undefined,
			retryMs: typeof said.retry_ms === "number" ? said.retry_ms : undefined,
		});
	}
}
