// SPDX-License-Identifier: Apache-2.0
// The types of the package.  Those of tools come from tools.d.ts, which is generated from tools/list.
/// <reference lib="esnext.disposable" />
import type { ToolArguments, ToolName, ToolResults } from "./tools.js";

export type { ToolArguments, ToolName, ToolResults } from "./tools.js";

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;
type Camels<Members> = { [Name in keyof Members as Name extends string ? Camel<Name> : never]: Members[Name] };
type Flat<Members> = { [Name in keyof Members]: Members[Name] };

export type Content = string | Uint8Array | ArrayBuffer;

/** Without url and command: CLOISTER_URL with CLOISTER_TOKEN, else CLOISTER_COMMAND, else `cloister` in PATH. */
export interface ServerOptions {
	/** Starts this program as the server.  One word is a program's path and gets the arguments that it needs. */
	command?: string | readonly string[];
	/** More variables for the command. */
	env?: Record<string, string>;
	/** The command's directory. */
	cwd?: string;
	/** A server over HTTP. */
	url?: string | URL;
	token?: string;
}

export interface CallOptions {
	/** Cancels the call at the server; it then rejects with the signal's reason. */
	signal?: AbortSignal;
	/** Seconds until the call rejects with RequestTimeout; a run has its timeout in addition to that of open(). */
	deadline?: number;
	/** Seconds within which a call that the server refuses for now, with retryMs, is made again.  Default: that of open(). */
	retry?: number;
}

export interface OpenOptions extends ServerOptions {
	/** Seconds for each call; default 120. */
	deadline?: number;
	/** Seconds, as for each call; default 0: no call is made again. */
	retry?: number;
}

export interface FileOptions extends CallOptions {
	session?: string | { readonly id: string };
}

export type Limits = Flat<Camels<NonNullable<ToolArguments["execute_code"]["resource_limits"]>>>;

type OfTool<Name extends ToolName, Own extends string> = Omit<Camels<ToolArguments[Name]>, Own | "resourceLimits" | "sessionId">;

/** The arguments of execute_code, and what this package does itself. */
export interface RunOptions extends OfTool<"execute_code", "code" | "files">, FileOptions {
	/** Put into the workspace first. */
	files?: Record<string, Content>;
	limits?: Limits;
	/** Called with each piece of output as it arrives.  An error that it throws ends the run. */
	onOutput?: (channel: "stdout" | "stderr", text: string) => void;
}

export interface SessionOptions extends OfTool<"create_session", never> {
	/** Joins this session, which `await using` does not end. */
	id?: string;
	limits?: Limits;
}

export interface ValidateOptions extends Omit<Camels<ToolArguments["validate_code"]>, "code"> {}

export interface AuditFilters extends Camels<ToolArguments["audit_execution"]> {}

export type RawResult = ToolResults["execute_code"];

/** A file of a workspace.  signature is Ed25519; `cloister verify` checks it. */
export interface Artifact {
	filename: string;
	path: string;
	size: number;
	sha256?: string;
	mimeType?: string;
	signature?: string;
	downloadUrl?: string;
	sessionId?: string;
	raw: NonNullable<RawResult["artifacts"]>[number];
}

/** Why a program failed: code is a word such as "timeout", "syntax_error" or "program_failed". */
export interface Failure {
	code: string;
	message: string;
	/** The class of the exception. */
	type?: string;
	line?: number;
	hint?: string;
}

export interface Image {
	mimeType: string;
	data: Uint8Array;
}

export interface Snapshot {
	id: string;
	createdAt: string;
	description?: string;
	files: number;
	bytes: number;
	raw: Record<string, any>;
}

export interface Validation {
	valid: boolean;
	message: string;
	findings: NonNullable<ToolResults["validate_code"]["findings"]>;
	/** There after autoFix, if anything could be corrected. */
	fixedCode?: string;
	raw: ToolResults["validate_code"];
}

/** A run. */
export interface Result {
	success: boolean;
	stdout: string;
	stderr: string;
	/** The value of `result`, or of the last expression; undefined if there is none. */
	result: any;
	error?: Failure;
	/** Pictures that the program made. */
	images: Image[];
	/** Files that it created or changed. */
	files: Artifact[];
	exitCode: number;
	timedOut: boolean;
	executionId: string;
	sessionId?: string;
	language: string;
	/** How long it ran. */
	seconds: number;
	stdoutTruncated: boolean;
	stderrTruncated: boolean;
	isolation?: RawResult["isolation"];
	usage?: RawResult["usage"];
	notes: string[];
	/** All that the server sent. */
	raw: RawResult;
	/** Returns this; throws ExecutionError if the program failed. */
	check(): this;
}
export const Result: abstract new (...made: never) => Result;

/** A session: its variables, imports and files stay between runs. */
export interface Session extends AsyncDisposable {
	readonly id: string;
	run(code: string, options?: Omit<RunOptions, "session">): Promise<Result>;
	upload(filename: string, content: Content, options?: CallOptions & { overwrite?: boolean }): Promise<void>;
	/**
	 * Writes the regular files of a local directory into the directory `to`; resolves to their names there.  Symbolic links in
	 * it and empty directories are left out.  Rejects with RangeError, and writes nothing, if it has more than maxFiles,
	 * 1000 by default, or more than maxBytes, 100 MB by default.
	 */
	uploadDir(path: string, options?: CallOptions & { to?: string; maxFiles?: number; maxBytes?: number }): Promise<string[]>;
	read(path: string, options?: CallOptions): Promise<Uint8Array>;
	files(options?: CallOptions): Promise<Artifact[]>;
	snapshot(description?: string): Promise<Snapshot>;
	restore(from: Snapshot | string): Promise<ToolResults["restore_state_snapshot"]>;
	/** Hands a JSON value to the session's programs, which read it from `bridge`. */
	bridge(key: string, data: unknown): Promise<void>;
	/** Variables and environment. */
	state(): Promise<ToolResults["inspect_state"]>;
	/** Ends the session and deletes its files. */
	close(): Promise<void>;
}
export const Session: abstract new (...made: never) => Session;

/** A connection to a server.  It is made again at the next call after it was lost. */
export class Sandbox implements AsyncDisposable {
	private constructor(options: OpenOptions);
	static open(options?: OpenOptions): Promise<Sandbox>;
	/** Ends the connection, and the server if this object started it.  Sessions stay until they expire.  Never rejects. */
	close(): Promise<void>;
	[Symbol.asyncDispose](): Promise<void>;

	/** Runs a program.  Without a session it runs in a fresh box, and its files are gone afterwards. */
	run(code: string, options?: RunOptions): Promise<Result>;
	/** Checks source without running it. */
	validate(code: string, options?: ValidateOptions): Promise<Validation>;
	session(options?: SessionOptions): Promise<Session>;

	/** Writes a file of any size; resolves to the id of its session. */
	upload(filename: string, content: Content, options?: FileOptions & { overwrite?: boolean }): Promise<string>;
	/** The whole content of a file. */
	read(path: string, options?: FileOptions): Promise<Uint8Array>;
	files(options?: FileOptions): Promise<Artifact[]>;
	/** The files that a run created or changed. */
	artifacts(executionId: string): Promise<Artifact[]>;

	snapshot(description?: string, options?: FileOptions): Promise<Snapshot>;
	restore(from: Snapshot | string, options?: FileOptions): Promise<ToolResults["restore_state_snapshot"]>;
	snapshots(): Promise<Snapshot[]>;
	deleteSnapshot(which: Snapshot | string): Promise<void>;

	/** Stores a secret, or replaces its value.  Over HTTP the token needs the scope vault. */
	addSecret(name: string, value: Content, namespace?: string): Promise<void>;
	/** The names of the stored secrets of a namespace. */
	secrets(namespace?: string): Promise<string[]>;
	deleteSecret(name: string, namespace?: string): Promise<void>;

	runtimes(): Promise<NonNullable<ToolResults["list_runtimes"]["runtimes"]>>;
	/** Sets default limits for later runs; resolves to all of them. */
	setLimits(limits: Limits): Promise<ToolResults["set_resource_limits"]>;
	stats(): Promise<ToolResults["sandbox_stats"]>;
	info(): Promise<ToolResults["get_sandbox_info"]>;
	/** The newest records of the audit log. */
	audit(filters?: AuditFilters): Promise<NonNullable<ToolResults["audit_execution"]["entries"]>>;

	/** The names of the server's tools. */
	tools(): Promise<string[]>;
	/** The tools as MCP lists them, with their schemas. */
	listTools(): Promise<Record<string, any>[]>;
	/** Any tool, with its arguments as the server documents them: its structured content, or {text}. */
	call<Name extends ToolName>(tool: Name, args: ToolArguments[Name], options?: CallOptions): Promise<ToolResults[Name]>;
	call(tool: string, args?: Record<string, unknown>, options?: CallOptions): Promise<any>;
	/** A method of the server that is no tool. */
	method(name: string, params?: Record<string, unknown>, options?: CallOptions): Promise<any>;
}

/** The base of all errors of this package. */
export class SandboxError extends Error {}
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
	constructor(code: number, message: string, data?: unknown, options?: ErrorOptions);
	readonly code: number;
	readonly data: unknown;
}
/** The server refused a call.  code is a word of cloister's table of errors, such as "limit_exceeded". */
export class ToolError extends SandboxError {
	constructor(refusal: { code: string; message: string; hint?: string; retryMs?: number });
	readonly code: string;
	readonly hint?: string;
	/** The server refuses the call only for now: wait so many milliseconds. */
	readonly retryMs?: number;
}
