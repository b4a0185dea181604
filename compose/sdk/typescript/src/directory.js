// SPDX-License-Identifier: Apache-2.0
// A local directory that is uploaded: bounded, and without following symbolic links in it.
import { constants } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join, posix } from "node:path";

/**
 * Path and name, relative with "/", of each regular file.  Throws RangeError if it has too many.
 * @param {string} top
 * @param {{ maxFiles?: number, maxBytes?: number }} limits
 */
export async function filesUnder(top, { maxFiles = 1000, maxBytes = 100_000_000 } = {}) {
	const found = /** @type {{ path: string, name: string }[]} */ ([]), waiting = [""];
	for (let size = 0, below; (below = waiting.shift()) !== undefined;)
		for (const entry of await readdir(join(top, below), { withFileTypes: true })) {
			const name = posix.join(below, entry.name), path = join(top, name);
			if (entry.isDirectory()) waiting.push(name);
			if (!entry.isFile()) continue;
			found.push({ path, name });
			size += (await lstat(path)).size;
			if (found.length > maxFiles) throw new RangeError(`the directory has more than ${maxFiles} files (maxFiles)`);
			if (size > maxBytes) throw new RangeError(`the directory has more than ${maxBytes} bytes (maxBytes)`);
		}
	return found.sort((one, other) => one.name < other.name ? -1 : 1);
}

/** @param {string} path */
export async function contentOf(path) {
	const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
	try {
		return await file.readFile();
	} finally {
		await file.close();
	}
}
