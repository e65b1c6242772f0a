/** A rule as a rule file holds it. Keys that carry evidence may be there and change nothing. */
export interface Rule {
  site: string;
  kind: "replace" | "rewrite" | "keep";
  from: string;
  to?: string | null;
  when?: readonly string[] | null;
  unless?: readonly string[] | null;
  except_sites?: readonly string[] | null;
  status?: "active" | "disabled" | "proposed" | null;
  /** False for a rule that is for comparing only: `key` uses it, `canonical` does not. */
  fetch?: boolean | null;
  /** The ids of the rules without which it is not in effect. */
  needs?: readonly string[] | null;
  [key: string]: unknown;
}

export interface RuleFile {
  format: "undust-rules";
  version: 1 | 2;
  rules: readonly Rule[];
  [key: string]: unknown;
}

/** One step of an explanation: the rule that acted, its place in the file from 1 on, and the URL after it. */
export interface Step {
  rule: Rule;
  number: number;
  url: string;
}

/** How the way of a URL ends. */
export type Outcome = "resolved" | "cycle" | "unresolved" | "skipped" | "no URL";

/** How a URL came to its canonical form and its key. */
export interface Explanation {
  url: string;
  normalized: string;
  steps: Step[];
  canonical: string;
  /** What rules did to the canonical form for the key alone. */
  compared: Step[];
  masks: Step[];
  key: string;
  outcome: Outcome;
}

/** A step of standard normalization that can be left out. */
export type NormalizationStep =
  | "case"
  | "host"
  | "triplets"
  | "forbidden"
  | "dots"
  | "empty-path"
  | "port"
  | "fragment";

export interface NormalizeOptions {
  skip?: readonly NormalizationStep[];
}

/** A compiled rule set. Its functions never throw, whatever the URL; a text that is not a URL comes back as it is. */
export interface Canonicalizer {
  /** The canonical form of a URL: what to fetch. */
  canonical(url: string | URL): string;
  /** The key of a URL, to compare and deduplicate by. */
  key(url: string | URL): string;
  /** Each step from the URL to its canonical form and its key, with the rule that made it. */
  explain(url: string | URL): Explanation;
  /** The URL in standard form, without any rule. */
  normalize(url: string | URL, options?: NormalizeOptions): string;
}

/** A rule or a rule file that cannot be used; `rule` and `column` are counted from 1. */
export class RuleError extends Error {
  readonly rule?: number;
  readonly field?: string;
  readonly column?: number;
}

/** Compile a rule file, given as its text, its bytes or its JSON object. Throws a `RuleError`. */
export function load(file: string | Uint8Array | RuleFile): Canonicalizer;

/** A URL in standard form (RFC 3986); a text that is not a URL comes back as it is. */
export function normalize(url: string | URL, options?: NormalizeOptions): string;

/** The fields of a rule that is written as one line: `KIND FROM [→ TO] [when P, P] [unless P, P]`. */
export function parseRule(text: string): Omit<Rule, "site">;
