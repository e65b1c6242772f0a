// The npm package beside what JavaScript programs do today, on one list of URLs.
//
//   node bench/js_speed.mjs js/node.js rules.json [normalize-url's entry] < URLS
//
// Contenders take turns, and each keeps its best round of processor time.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const ROUNDS = 7;
const [entry, rules, other] = process.argv.slice(2);
const { load, normalize } = await import(pathToFileURL(entry));
const loaded = load(readFileSync(rules));
const urls = readFileSync(0, "utf-8").split("\n").filter((url) => URL.canParse(url));

const contenders = {
  "new URL() and searchParams.sort()": (url) => {
    const parsed = new URL(url);
    parsed.searchParams.sort();
    return parsed.href;
  },
  "undust normalize": (url) => normalize(url),
  "undust canonical": (url) => loaded.canonical(url),
  "undust key": (url) => loaded.key(url),
};
if (other) {
  const { default: normalizeUrl } = await import(pathToFileURL(other));
  contenders["normalize-url"] = (url) => {
    try {
      return normalizeUrl(url);
    } catch {
      return url;
    }
  };
}

const best = {};
for (let round = 0; round < ROUNDS; ++round) {
  for (const [name, work] of Object.entries(contenders)) {
    const started = process.cpuUsage();
    let length = 0;
    for (const url of urls) length += work(url).length;
    const used = process.cpuUsage(started);
    if (!length) throw new Error("nothing was done");
    const nanoseconds = ((used.user + used.system) * 1000) / urls.length;
    best[name] = Math.min(best[name] ?? Infinity, nanoseconds);
  }
}
console.log(JSON.stringify({ urls: urls.length, nanoseconds: best }));
