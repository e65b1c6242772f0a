// The entry for browsers, Deno and Bun: the module is part of the source, so nothing is fetched.
import { api } from "./api.js";
import text from "./inline.js";

const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
export const { load, normalize, parseRule } = api(new WebAssembly.Module(bytes));
export { RuleError } from "./errors.js";
