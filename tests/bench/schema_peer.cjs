// SPDX-License-Identifier: Apache-2.0
// ajv as a peer of tests/bench/schema, by the protocol of schema.c: schema_peer.cjs MODULES SCHEMA DOCUMENTS

const fs = require("fs");
const readline = require("readline");
const { createRequire } = require("module");

const [modules, schema, documents] = process.argv.slice(2);
const load = createRequire(modules + "/");

function ajvFor(uri) {
  const name = uri.includes("draft-04") ? "ajv-draft-04" : uri.includes("2020-12") ? "ajv/dist/2020" : "ajv";
  const Ajv = load(name).default;
  return new Ajv({ strict: false, validateFormats: false, logger: false });
}

function seconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function measure(check, all, wanted) {
  const begun = seconds();
  let took = 0, checked = 0;
  while (took < wanted) {
    for (const one of all) check(one);
    checked += all.length;
    took = seconds() - begun;
  }
  return checked / took;
}

const parsed = JSON.parse(fs.readFileSync(schema, "utf8"));
const all = JSON.parse(fs.readFileSync(documents, "utf8"));
const begun = seconds();
const ajv = ajvFor(parsed.$schema || "2020-12");
const check = ajv.getSchema(parsed.$id || "") || ajv.compile(parsed); // it has the metaschema already
const took = seconds() - begun;
console.log(JSON.stringify({ compile_ms: 1000 * took, verdicts: all.map((one) => (check(one) ? "1" : "0")).join("") }));
readline.createInterface({ input: process.stdin }).on("line", (line) => console.log(measure(check, all, Number(line))));
