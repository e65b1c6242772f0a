// The entry for browsers, Deno and Bun: the module is part of the source, so nothing is fetched.
import { api } from "./api.js";
import text from "./inline.js";

const bytes = new Uint8Array(text.length / 2);
for (let at = 0; at < bytes.length; ++at) bytes[at] = parseInt(text.slice(2 * at, 2 * at + 2), 16);
export const { load, normalize, parseRule } = api(new WebAssembly.Module(bytes));
export { RuleError } from "./errors.js";
