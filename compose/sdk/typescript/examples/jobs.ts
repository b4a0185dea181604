// SPDX-License-Identifier: Apache-2.0
// The jobs of README.md: run; a file in and out; state; a plot to disk; output as it arrives, a time limit, an error.
import { writeFile } from "node:fs/promises";
import { Sandbox } from "cloister-sandbox";

await using sandbox = await Sandbox.open(); // starts `cloister serve`; or Sandbox.open({ url: "http://…/mcp", token: "…" })
console.log((await sandbox.run("print(6 * 7)")).stdout);

await using session = await sandbox.session();
await session.upload("in.csv", "a,b\n1,2\n");
await session.run("rows = open('in.csv').readlines(); open('out.txt', 'w').write(rows[0])");
console.log(new TextDecoder().decode(await session.read("out.txt")));

console.log((await session.run("len(rows)")).result);

const { images } = await session.run("import matplotlib.pyplot as plt; plt.plot([1, 4, 9]); plt.show()");
await writeFile("plot.png", images[0].data);

const slow = await session.run("print('begun', flush=True)\nwhile True: pass", { timeout: 1, onOutput: console.log });
console.log(slow.timedOut, slow.error?.code);
