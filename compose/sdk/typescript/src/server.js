// SPDX-License-Identifier: Apache-2.0
// Which server to use: a URL, or a command that is started; from options, else from the environment.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { StartError } from "./errors.js";

/** @import { ServerOptions } from "../index.js" */

// --result-bytes=0: results are whole; a server cuts them to what a chat client shows.
const SERVE = ["serve", "--toolsets=core,monitor", "--result-bytes=0"];
// A reply has at most two streams of 10 MiB, which JSON may write with six bytes for one.
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;
const LAST_WORDS = 2000;
const PRINTABLE = /^[\x21-\x7e]+$/;

/** @param {string} path */
function isProgram(path) {
	try {
		accessSync(path, constants.X_OK);
		return statSync(path).isFile();
	} catch {
		return false;
	}
}

function found() {
	const program = (process.env.PATH ?? "").split(delimiter).map((directory) => join(directory, "cloister")).find(isProgram);
	if (!program)
		throw new StartError("no cloister was found: put it into PATH, or pass command or url, or set CLOISTER_COMMAND or CLOISTER_URL");
	return [program, ...SERVE];
}

/**
 * The words of a command.  A text is split at blanks; pass a list if a word has some.
 * @param {string | readonly string[] | undefined} command
 */
function wordsOf(command = process.env.CLOISTER_COMMAND || undefined) {
	if (command === undefined) return found();
	const words = typeof command === "string" ? command.split(/\s+/).filter(Boolean) : [...command];
	if (words.length === 0) throw new StartError("the command is empty");
	return words.length === 1 ? [...words, ...SERVE] : words;
}

/** @param {string} text */
function urlOf(text) {
	try {
		return new URL(text);
	} catch (error) {
		throw new StartError(`${text} is no URL`, { cause: error });
	}
}

/** @param {string} url @param {string} [token] */
function http(url, token) {
	// fetch() would name the token in its error.
	if (token && !PRINTABLE.test(token)) throw new TypeError("token: only printable ASCII can be sent");
	const requestInit = token ? { headers: { authorization: `Bearer ${token}` } } : {};
	return { transport: new StreamableHTTPClientTransport(urlOf(url), { requestInit }), lastWords: () => "" };
}

/** @param {ServerOptions} options */
function stdio({ command, env, cwd }) {
	const [program, ...args] = wordsOf(command);
	const transport = new StdioClientTransport({
		command: program, args, cwd, stderr: "pipe", maxBufferSize: MAX_MESSAGE_BYTES,
		env: /** @type {Record<string, string>} */ ({ ...process.env, ...env }),
	});
	let said = "";
	transport.stderr?.on("data", (/** @type {Buffer} */ piece) => { said = (said + piece).slice(-LAST_WORDS); });
	return { transport, lastWords: () => said.trim() };
}

/**
 * A new transport, and what the server wrote to its log last.
 * @param {ServerOptions} options
 */
export function serverOf(options) {
	if (options.command !== undefined && options.url !== undefined) throw new TypeError("command and url exclude each other");
	if (options.url !== undefined) return http(String(options.url), options.token);
	if (options.command === undefined && process.env.CLOISTER_URL)
		return http(process.env.CLOISTER_URL, options.token ?? process.env.CLOISTER_TOKEN);
	return stdio(options);
}
