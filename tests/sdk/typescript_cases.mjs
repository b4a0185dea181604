// SPDX-License-Identifier: Apache-2.0
// Runs cases in order and ends in the line of totals that tally.py reads.  A case is a function of an object of functions.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

const CASE_MS = 60_000;

/** Runs each case with the same argument; exits with 1 if one failed. */
export async function play(cases, argument, label) {
	const counts = { passed: 0, failed: 0 };
	for (const [name, act] of Object.entries(cases)) {
		try {
			await Promise.race([act(argument), sleep(CASE_MS, undefined, { ref: false }).then(() => assert.fail("60 s passed"))]);
			counts.passed++;
			console.log(`passed ${name} ${label}`);
		} catch (error) {
			counts.failed++;
			console.log(`failed ${name} ${label}: ${error.stack}`);
		}
	}
	console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
	process.exitCode = counts.failed > 0 ? 1 : 0;
}

export async function soon(check, what) {
	for (const end = performance.now() + 15_000; !(await check()); await sleep(50)) assert.ok(performance.now() < end, what);
}

/** Processes that this one started, by pid. */
export async function children() {
	const { readFile } = await import("node:fs/promises");
	return (await readFile(`/proc/self/task/${process.pid}/children`, "utf8")).split(" ").filter(Boolean).map(Number);
}
