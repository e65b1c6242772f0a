// The entry for Node: the module is a file beside this one.
import { readFileSync } from "node:fs";
import { api } from "./api.js";

const bytes = readFileSync(new URL("undust.wasm", import.meta.url));
export const { load, normalize, parseRule } = api(new WebAssembly.Module(bytes));
export { RuleError } from "./errors.js";
