// SPDX-License-Identifier: Apache-2.0
// schemas.mjs SUITE: the official JSON schemas of MCP as one object by revision, which the conformance suite carries as literals.
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";

const text = readFileSync(process.argv[2], "utf8");

// Where the literal that begins there ends; braces in strings do not count.
const endOf = (begin) => {
	for (let at = begin, depth = 0; at < text.length; at++) {
		const c = text[at];
		if (c === "`" || c === '"' || c === "'") {
			for (at++; text[at] !== c; at++) if (text[at] === "\\") at++;
		} else if (c === "{") {
			depth++;
		} else if (c === "}" && --depth === 0) {
			return at + 1;
		}
	}
	throw new Error("a literal without an end");
};

const table = text.match(/\{"2025-03-26":([\w$]+),"2025-06-18":([\w$]+),"2025-11-25":([\w$]+),\[[\w$]+\]:([\w$]+)\}/);
if (!table) throw new Error("the suite has no table of schemas");
const revisions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
const schemas = {};
for (const [index, revision] of revisions.entries()) {
	const begin = text.indexOf(`${table[index + 1]}={$schema:`);
	if (begin < 0) throw new Error(`the suite has no schema of ${revision}`);
	const at = begin + table[index + 1].length + 1;
	schemas[revision] = runInNewContext(`(${text.slice(at, endOf(at))})`);
}
console.log(JSON.stringify(schemas));
