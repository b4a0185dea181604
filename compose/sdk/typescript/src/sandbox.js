// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "./connection.js";
import { ToolError } from "./errors.js";
import { artifact, Result, snapshot, validation } from "./result.js";
import { Session } from "./session.js";
import { bytes, decode, objects, optional, required, snakes } from "./values.js";

/**
 * @import { AuditFilters, CallOptions, Content, FileOptions, Limits, OpenOptions, RunOptions, SessionOptions, Snapshot,
 *           ValidateOptions } from "../index.js"
 * @import { Dictionary } from "./values.js"
 */

const SECOND = 1000;
const DEADLINE_SECONDS = 120;
// Files travel in pieces.
const PIECE = 4 * 1024 * 1024;
const MAX_PAGES = 100;

/** @param {string | { id: string }} one */
const idOf = (one) => typeof one === "string" ? one : one.id;

/** @param {Record<string, Content>} [files] */
const filesOf = (files) => files && Object.entries(files)
	.map(([filename, content]) => ({ filename, content_base64: bytes(content).toString("base64") }));

/**
 * The structured content of a reply; throws ToolError where the server refused the call.
 * @param {Dictionary} reply
 * @returns {Dictionary}
 */
function structured(reply) {
	const content = optional(reply, "structuredContent", "object");
	if (content && (!reply.isError || "success" in content)) return content;
	const text = objects(reply, "content").map((one) => one.type === "text" ? one.text : "").join("");
	if (reply.isError) throw refusal(content, text);
	return { text };
}

/** @param {Dictionary | undefined} content @param {string} text */
function refusal(content, text) {
	try {
		const error = ToolError.of((content ?? JSON.parse(text)).error);
		if (error) return error;
	} catch { /* It is no JSON. */ }
	return new ToolError({ code: "unknown", message: text || "the server refused the call without a reason" });
}

export class Sandbox {
	#connection;
	#deadline;
	#retry;

	/** @param {OpenOptions} options */
	constructor({ deadline = DEADLINE_SECONDS, retry = 0, ...server }) {
		this.#connection = new Connection(server, deadline * SECOND);
		this.#deadline = deadline;
		this.#retry = retry;
	}

	/** @param {OpenOptions} [options] */
	static async open(options = {}) {
		const sandbox = new Sandbox(options);
		await sandbox.#connection.open();
		return sandbox;
	}

	close() { return this.#connection.close(); }

	[Symbol.asyncDispose]() { return this.close(); }

	// ---- any tool ----

	/** @param {string} tool @param {Dictionary} [args] @param {CallOptions} [options] @returns {Promise<any>} */
	async call(tool, args = {}, options = {}) {
		return structured(await this.#call(tool, args, options));
	}

	/**
	 * The reply of a tool, which did not refuse the call.
	 * @param {string} tool
	 * @param {Dictionary} args
	 * @param {CallOptions & { onProgress?: (report: Dictionary) => void }} options
	 */
	#call(tool, args, { onProgress, ...options }) {
		return this.#patiently(options, async () => {
			const reply = await this.#request("tools/call", { name: tool, arguments: args }, options, onProgress);
			structured(reply);
			return reply;
		});
	}

	/** @param {string} name @param {Dictionary} [params] @param {CallOptions} [options] @returns {Promise<any>} */
	method(name, params = {}, options = {}) {
		return this.#patiently(options, () => this.#request(name, params, options));
	}

	/** @param {string} method @param {Dictionary} params @param {CallOptions} options @param {(report: any) => void} [onprogress] */
	#request(method, params, { signal, deadline = this.#deadline }, onprogress) {
		return this.#connection.request(method, params, { signal, onprogress, timeout: deadline * SECOND });
	}

	/**
	 * Repeats what the server refused for now, within `retry` seconds.  Some of the wait is random, so that many that were
	 * refused at once do not come back at once.
	 * @template T
	 * @param {CallOptions} options
	 * @param {() => Promise<T>} act
	 * @returns {Promise<T>}
	 */
	async #patiently({ signal, retry = this.#retry }, act) {
		const end = performance.now() + retry * SECOND;
		for (;;) {
			try {
				return await act();
			} catch (error) {
				if (!(error instanceof ToolError) || error.retryMs === undefined) throw error;
				const wait = error.retryMs * (1 + Math.random());
				if (performance.now() + wait > end) throw error;
				await sleep(wait, undefined, { signal }).catch(() => signal?.throwIfAborted());
			}
		}
	}

	/** The names of the server's tools. */
	async tools() {
		return (await this.listTools()).map((tool) => required(tool, "name", "string"));
	}

	/** The tools as MCP lists them, with their schemas. */
	async listTools() {
		const tools = [];
		let cursor;
		for (let page = 0; page < MAX_PAGES; page++) {
			const reply = await this.method("tools/list", { cursor });
			tools.push(...objects(reply, "tools"));
			cursor = optional(reply, "nextCursor", "string");
			if (cursor === undefined) break;
		}
		return tools;
	}

	// ---- programs ----

	/** @param {string} code @param {RunOptions} [options] */
	async run(code, options = {}) {
		const { session, files, limits, onOutput, signal, deadline, retry, ...more } = options;
		const failed = new AbortController();
		// The server knows how long a program without a timeout may run; a caller who wants more says so.
		const seconds = (deadline ?? this.#deadline) + (deadline === undefined ? more.timeout ?? limits?.timeoutSeconds ?? 0 : 0);
		const reply = await this.#call("execute_code", {
			code, session_id: session && idOf(session), files: filesOf(files), resource_limits: limits && snakes(limits), ...snakes(more),
		}, {
			retry, deadline: seconds, signal: signal ? AbortSignal.any([signal, failed.signal]) : failed.signal,
			onProgress: onOutput && outputTo(onOutput, failed),
		});
		return new Result(structured(reply), objects(reply, "content"));
	}

	/** @param {string} code @param {ValidateOptions} [options] */
	async validate(code, options = {}) {
		return validation(await this.call("validate_code", { code, language: "python", ...snakes(options) }));
	}

	/** @param {SessionOptions} [options] */
	async session({ id, limits, ...more } = {}) {
		if (id !== undefined) return new Session(this, id, false);
		const made = await this.call("create_session", { ...snakes(more), resource_limits: limits && snakes(limits) });
		return new Session(this, required(made, "session_id", "string"), true);
	}

	// ---- files; without a session: those of the principal's default session ----

	/** @param {string} filename @param {Content} content @param {FileOptions & { overwrite?: boolean }} [options] */
	async upload(filename, content, { session, overwrite = true, ...options } = {}) {
		const data = bytes(content);
		let sessionId = session && idOf(session);
		for (let offset = 0; offset === 0 || offset < data.length; offset += PIECE) {
			const piece = data.subarray(offset, offset + PIECE).toString("base64");
			const reply = await this.call("sandbox_upload_file", {
				filename, content_base64: piece, session_id: sessionId, overwrite, offset: offset || undefined }, options);
			sessionId = required(reply, "session_id", "string");
		}
		return sessionId ?? "";
	}

	/** @param {string} path @param {FileOptions} [options] */
	async read(path, { session, ...options } = {}) {
		const pieces = [];
		for (let offset = 0, size = 1; offset < size;) {
			const reply = await this.call("sandbox_read_artifact", {
				path, session_id: session && idOf(session), offset: offset || undefined, length: PIECE }, options);
			const piece = decode(required(reply, "content_base64", "string"));
			pieces.push(piece);
			offset += piece.length;
			size = piece.length ? optional(reply, "total_size", "number") ?? 0 : 0;
		}
		return new Uint8Array(Buffer.concat(pieces));
	}

	/** @param {FileOptions} [options] */
	async files({ session, ...options } = {}) {
		const reply = await this.call("sandbox_list_artifacts", { session_id: session && idOf(session) }, options);
		return objects(reply, "artifacts").map((one) => artifact(one, optional(reply, "session_id", "string")));
	}

	/** @param {string} executionId */
	async artifacts(executionId) {
		const reply = await this.call("get_artifacts", { request_id: executionId });
		return objects(reply, "artifacts").map((one) => artifact(one, optional(reply, "session_id", "string")));
	}

	// ---- snapshots ----

	/** @param {string} [description] @param {FileOptions} [options] */
	async snapshot(description, { session, ...options } = {}) {
		return snapshot(await this.call("create_state_snapshot", { description, session_id: session && idOf(session) }, options));
	}

	/** @param {Snapshot | string} from @param {FileOptions} [options] */
	restore(from, { session, ...options } = {}) {
		return this.call("restore_state_snapshot", { snapshot_id: idOf(from), session_id: session && idOf(session) }, options);
	}

	async snapshots() {
		return objects(await this.call("list_state_snapshots"), "snapshots").map(snapshot);
	}

	/** @param {Snapshot | string} which */
	async deleteSnapshot(which) {
		await this.call("delete_state_snapshot", { snapshot_id: idOf(which) });
	}

	// ---- secrets: environment variables of programs that name them in envSecrets; no call returns a value ----

	/** @param {string} name @param {Content} value @param {string} [namespace] */
	async addSecret(name, value, namespace) {
		await this.method("cloister/vault/add", { name, value: bytes(value).toString("base64"), namespace });
	}

	/** @param {string} [namespace] */
	async secrets(namespace = "default") {
		const reply = await this.method("cloister/vault/list", { namespace });
		return objects(reply, "secrets").map((one) => required(one, "name", "string"));
	}

	/** @param {string} name @param {string} [namespace] */
	async deleteSecret(name, namespace) {
		await this.method("cloister/vault/delete", { name, namespace });
	}

	// ---- the server ----

	async runtimes() { return objects(await this.call("list_runtimes"), "runtimes"); }

	/** @param {Limits} limits */
	setLimits(limits) { return this.call("set_resource_limits", { resource_limits: snakes(limits) }); }

	stats() { return this.call("sandbox_stats"); }

	info() { return this.call("get_sandbox_info"); }

	/** @param {AuditFilters} [filters] */
	async audit(filters = {}) { return objects(await this.call("audit_execution", snakes(filters)), "entries"); }
}

/**
 * An error of the callback ends the run, which rejects with it.
 * @param {NonNullable<RunOptions["onOutput"]>} onOutput
 * @param {AbortController} failed
 */
function outputTo(onOutput, failed) {
	return (/** @type {Dictionary} */ report) => {
		const channel = report._meta?.["cloister/channel"];
		if ((channel !== "stdout" && channel !== "stderr") || failed.signal.aborted) return;
		try {
			onOutput(channel, String(report.message ?? ""));
		} catch (error) {
			failed.abort(error);
		}
	};
}
