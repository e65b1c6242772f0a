// Applies a rule file to lines of URLs with the npm package.
//
//   node bench/js_lines.mjs js/node.js rules.json canonical|key < URLS > RESULTS
import { readFileSync, writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [entry, rules, verb] = process.argv.slice(2);
const { load } = await import(pathToFileURL(entry));
const loaded = load(readFileSync(rules));
const lines = readFileSync(0, "utf-8").split("\n");
lines.pop();
const bytes = Buffer.from(lines.map((url) => `${loaded[verb](url)}\n`).join(""));
for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
