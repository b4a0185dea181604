// SPDX-License-Identifier: Apache-2.0
// A file goes in, a program reads it, and what it writes comes back.
import { Sandbox } from "cloister-sandbox";

const PROGRAM = `
import collections, csv, json
sums = collections.Counter()
for row in csv.DictReader(open("sales.csv")):
    sums[row["region"]] += int(row["amount"])
json.dump(sums, open("sums.json", "w"))
sums.most_common(1)
`;

const sandbox = await Sandbox.open();
const session = await sandbox.session();
try {
	await session.upload("sales.csv", "region,amount\nnorth,10\nsouth,32\nnorth,5\n");
	const run = (await session.run(PROGRAM, { timeout: 20 })).check();
	console.log("best:", JSON.stringify(run.result));
	console.log("files:", run.files.map((file) => file.filename), new TextDecoder().decode(await session.read("sums.json")));
} finally {
	await session.close();
	await sandbox.close();
}
