// SPDX-License-Identifier: Apache-2.0
// What came of a run, a check, a snapshot: the server's objects with names of JavaScript.  `raw` has all that the server sent.
import { ExecutionError } from "./errors.js";
import { decode, objects, optional, required } from "./values.js";

/** @import { Dictionary } from "./values.js" */

/** @param {any} raw @param {string} [sessionId] */
export const artifact = (raw, sessionId) => ({
	filename: required(raw, "filename", "string"),
	path: required(raw, "path", "string"),
	size: required(raw, "size", "number"),
	sha256: optional(raw, "sha256", "string"),
	mimeType: optional(raw, "mime_type", "string"),
	signature: optional(raw, "signature", "string"),
	downloadUrl: optional(raw, "download_url", "string"),
	sessionId,
	raw,
});

/** @param {Dictionary} raw */
const failure = (raw) => ({
	code: required(raw, "code", "string"),
	message: optional(raw, "message", "string") ?? "",
	type: optional(raw, "type", "string"),
	line: optional(raw, "line", "number"),
	hint: optional(raw, "hint", "string"),
});

/** A run. */
export class Result {
	/** @param {any} raw @param {Dictionary[]} content */
	constructor(raw, content) {
		const error = optional(raw, "error", "object");
		this.success = required(raw, "success", "boolean");
		this.stdout = optional(raw, "stdout", "string") ?? "";
		this.stderr = optional(raw, "stderr", "string") ?? "";
		this.result = raw.result;
		this.error = error && failure(error);
		this.images = content.filter((one) => one.type === "image")
			.map((one) => ({ mimeType: required(one, "mimeType", "string"), data: decode(required(one, "data", "string")) }));
		this.sessionId = optional(raw, "session_id", "string");
		this.files = objects(raw, "artifacts").map((one) => artifact(one, this.sessionId));
		this.exitCode = optional(raw, "exit_code", "number") ?? 0;
		this.timedOut = optional(raw, "timed_out", "boolean") ?? false;
		this.executionId = required(raw, "execution_id", "string");
		this.language = optional(raw, "language", "string") ?? "";
		this.seconds = optional(raw, "execution_time", "number") ?? 0;
		this.stdoutTruncated = optional(raw, "stdout_truncated", "boolean") ?? false;
		this.stderrTruncated = optional(raw, "stderr_truncated", "boolean") ?? false;
		this.isolation = optional(raw, "isolation", "object");
		this.usage = optional(raw, "usage", "object");
		this.notes = (optional(raw, "notes", "array") ?? []).map(String);
		this.raw = raw;
	}

	/** Returns this; throws ExecutionError if the program failed. */
	check() {
		if (this.success) return this;
		const why = this.error ? `${this.error.code}: ${this.error.message}` : "the program failed";
		throw new ExecutionError(this.stderr ? `${why}\n${this.stderr}` : why);
	}
}

/** @param {any} raw */
export const snapshot = (raw) => ({
	id: required(raw, "snapshot_id", "string"),
	createdAt: optional(raw, "created_at", "string") ?? "",
	description: optional(raw, "description", "string"),
	files: optional(raw, "file_count", "number") ?? 0,
	bytes: optional(raw, "total_bytes", "number") ?? 0,
	raw,
});

/** @param {any} raw */
export const validation = (raw) => {
	const verdict = required(raw, "validation", "object");
	return {
		valid: required(verdict, "valid", "boolean"),
		message: optional(verdict, "message", "string") ?? "",
		findings: objects(raw, "findings"),
		fixedCode: optional(raw, "fixed_code", "string"),
		raw,
	};
};
