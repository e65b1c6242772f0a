import type { load, normalize, parseRule } from "./index.js";

export { RuleError } from "./index.js";

/** The functions of the package, on a module that was compiled elsewhere from `undust/undust.wasm`. */
export function api(module: WebAssembly.Module): {
  load: typeof load;
  normalize: typeof normalize;
  parseRule: typeof parseRule;
};
