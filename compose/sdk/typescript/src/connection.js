// SPDX-License-Identifier: Apache-2.0
// A connection to an MCP server by the official client: made at the first call, and again after it was lost.
import { readFileSync } from "node:fs";
import { Client, ProtocolError as Refusal, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import { Closed, ConnectionLost, ProtocolError, RequestTimeout, RpcError, SandboxError, StartError, ToolError } from "./errors.js";
import { serverOf } from "./server.js";

/**
 * @import { ServerOptions } from "../index.js"
 * @import { RequestOptions } from "@modelcontextprotocol/client"
 * @import { Dictionary } from "./values.js"
 */

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const NOT_FOUND = 404;
/** @type {readonly string[]} */
const LOST = [SdkErrorCode.NotConnected, SdkErrorCode.ConnectionClosed, SdkErrorCode.SendFailed];

// The methods of this package check what they read; another check could only refuse members that are new.
const anything = /** @type {any} */ ({
	"~standard": { version: 1, vendor: "cloister-sandbox", validate: (/** @type {unknown} */ value) => ({ value }) },
});

/** @param {unknown} error @returns {string} */
const textOf = (error) => error instanceof Error ? (error.cause instanceof Error ? `${error.message}: ${textOf(error.cause)}` : error.message)
	: String(error);

/** @param {SdkHttpError} error */
function httpError(error) {
	const text = String(error.data?.text ?? error.message).slice(0, 300);
	const hints = /** @type {Record<number, string>} */ ({ 401: "; pass a token", 403: "; the token lacks a scope", 404: "; check the path of the URL" });
	return new RpcError(error.status, `the server replied with an HTTP status: ${text}${hints[error.status] ?? ""}`, undefined, { cause: error });
}

/**
 * The error of this package for one of the official client.
 * @param {any} error
 */
function named(error) {
	if (error instanceof SandboxError) return error;
	if (error instanceof Refusal) return ToolError.of(error.data, error.message) ?? new RpcError(error.code, error.message, error.data, { cause: error });
	if (error instanceof SdkHttpError && error.status !== undefined) return httpError(error);
	const code = error instanceof SdkError ? error.code : "";
	if (code === SdkErrorCode.RequestTimeout) return new RequestTimeout(`no reply: ${error.message}`, { cause: error });
	// fetch() throws a TypeError where the connection fails.
	if (LOST.includes(code) || error instanceof TypeError) return new ConnectionLost(textOf(error), { cause: error });
	return new ProtocolError(textOf(error), { cause: error });
}

export class Connection {
	/** @type {Promise<Client> | undefined} */ #client;
	#closed = false;
	#lastWords = () => "";
	#options;
	#deadlineMs;

	/** @param {ServerOptions} options @param {number} deadlineMs */
	constructor(options, deadlineMs) {
		this.#options = options;
		this.#deadlineMs = deadlineMs;
	}

	/** @returns {Promise<Client>} */
	open() {
		if (this.#closed) return Promise.reject(new Closed("the sandbox is closed"));
		if (this.#client === undefined) {
			const opening = this.#open(() => this.#forget(opening));
			this.#client = opening;
			opening.catch(() => this.#forget(opening));
		}
		return this.#client;
	}

	/** @param {Promise<Client>} client */
	#forget(client) {
		if (this.#client === client) this.#client = undefined;
	}

	/** @param {() => void} onEnd */
	async #open(onEnd) {
		const { transport, lastWords } = serverOf(this.#options);
		this.#lastWords = lastWords;
		const client = new Client({ name: "cloister-sandbox", version });
		client.onclose = onEnd;
		try {
			await client.connect(transport, { timeout: this.#deadlineMs });
			return client;
		} catch (error) {
			await client.close().catch(() => {});
			const why = named(error);
			if (why instanceof RpcError || why instanceof RequestTimeout) throw why;
			throw new StartError(`cannot use the server: ${[textOf(error), lastWords()].filter(Boolean).join("\n")}`, { cause: error });
		}
	}

	/**
	 * The result of a request.
	 * @param {string} method
	 * @param {Dictionary} params
	 * @param {RequestOptions} [options]
	 * @returns {Promise<Dictionary>}
	 */
	async request(method, params, options = {}) {
		options.signal?.throwIfAborted();
		try {
			return await this.#send(method, params, { timeout: this.#deadlineMs, ...options });
		} catch (error) {
			options.signal?.throwIfAborted();
			const why = named(error);
			throw why instanceof ConnectionLost ? new ConnectionLost([why.message, this.#lastWords()].filter(Boolean).join("\n"), { cause: error }) : why;
		}
	}

	/** @param {string} method @param {Dictionary} params @param {RequestOptions} options @returns {Promise<Dictionary>} */
	async #send(method, params, options) {
		const opened = this.open();
		const client = await opened;
		try {
			return await client.request({ method, params }, anything, options);
		} catch (error) {
			// The server knows the session of HTTP no more, and so did not carry out the request.
			if (!(error instanceof SdkHttpError && error.status === NOT_FOUND && this.#client === opened)) throw error;
			this.#forget(opened);
			await client.close();
			return await (await this.open()).request({ method, params }, anything, options);
		}
	}

	/** Never rejects. */
	async close() {
		this.#closed = true;
		const client = await this.#client?.catch(() => undefined);
		const transport = /** @type {any} */ (client?.transport);
		await transport?.terminateSession?.().catch(() => {});
		await client?.close().catch(() => {});
	}
}
