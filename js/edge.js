// The entry for edge workers (workerd), which import a compiled module and forbid compiling one.
import { api } from "./api.js";
import module from "./undust.wasm";

export const { load, normalize, parseRule } = api(module);
export { RuleError } from "./errors.js";
