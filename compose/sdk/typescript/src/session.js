// SPDX-License-Identifier: Apache-2.0
import { posix } from "node:path";
import { contentOf, filesUnder } from "./directory.js";
import { Closed, ToolError } from "./errors.js";

/**
 * @import { Content, FileOptions, RunOptions, Snapshot } from "../index.js"
 * @import { Sandbox } from "./sandbox.js"
 */

const GONE = ["not_found", "session_expired"];

/** A session: its variables, imports and files stay between runs. */
export class Session {
	#sandbox;
	#id;
	#own;
	#open = true;

	/** @param {Sandbox} sandbox @param {string} id @param {boolean} own */
	constructor(sandbox, id, own) {
		this.#sandbox = sandbox;
		this.#id = id;
		this.#own = own;
	}

	get id() {
		if (!this.#open) throw new Closed("the session is closed");
		return this.#id;
	}

	/** Ends the session and deletes its files. */
	async close() {
		const { id } = this;
		this.#open = false;
		await this.#sandbox.call("terminate_session", { session_id: id });
	}

	// A session that was joined stays; one that has ended is no fault.
	async [Symbol.asyncDispose]() {
		if (!this.#own || !this.#open) return;
		try {
			await this.close();
		} catch (error) {
			if (!(error instanceof ToolError && GONE.includes(error.code))) throw error;
		}
	}

	/** @param {string} code @param {Omit<RunOptions, "session">} [options] */
	async run(code, options) { return this.#sandbox.run(code, { ...options, session: this.id }); }

	/** @param {string} filename @param {Content} content @param {Omit<FileOptions, "session"> & { overwrite?: boolean }} [options] */
	async upload(filename, content, options) { await this.#sandbox.upload(filename, content, { ...options, session: this.id }); }

	/** @param {string} path @param {Omit<FileOptions, "session"> & { to?: string, maxFiles?: number, maxBytes?: number }} [options] */
	async uploadDir(path, { to = ".", maxFiles, maxBytes, ...options } = {}) {
		const names = [];
		for (const file of await filesUnder(path, { maxFiles, maxBytes })) {
			const name = posix.join(to, file.name);
			await this.upload(name, await contentOf(file.path), options);
			names.push(name);
		}
		return names;
	}

	/** @param {string} path @param {Omit<FileOptions, "session">} [options] */
	async read(path, options) { return this.#sandbox.read(path, { ...options, session: this.id }); }

	/** @param {Omit<FileOptions, "session">} [options] */
	async files(options) { return this.#sandbox.files({ ...options, session: this.id }); }

	/** @param {string} [description] */
	async snapshot(description) { return this.#sandbox.snapshot(description, { session: this.id }); }

	/** @param {Snapshot | string} from */
	async restore(from) { return this.#sandbox.restore(from, { session: this.id }); }

	/** @param {string} key @param {unknown} data */
	async bridge(key, data) { await this.#sandbox.call("bridge_data", { session_id: this.id, key, data }); }

	async state() { return this.#sandbox.call("inspect_state", { session_id: this.id }); }
}
