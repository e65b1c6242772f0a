// What the package offers, for a compiled module that somebody hands over.
import { Core } from "./core.js";
import { RuleError } from "./errors.js";
import { messageOf, requireVersion, rulesOf } from "./rules.js";

const OUTCOMES = ["resolved", "cycle", "no URL", "skipped", "unresolved"];
const STEPS = ["case", "host", "triplets", "forbidden", "dots", "empty-path", "port", "fragment"];
const ALL_STEPS = (1 << STEPS.length) - 1;

class Canonicalizer {
  #core;
  #rules;

  constructor(core, rules) {
    this.#core = core;
    this.#rules = rules;
  }

  canonical(url) {
    return this.#core.canonical(String(url));
  }

  key(url) {
    return this.#core.key(String(url));
  }

  normalize(url, options) {
    return this.#core.normalize(String(url), stepsOf(options));
  }

  explain(url) {
    const text = String(url);
    const explained = this.#core.explain(text);
    const outcome = OUTCOMES[explained ? explained.outcome : OUTCOMES.indexOf("no URL")];
    if (outcome === "no URL") {
      return { url: text, normalized: text, steps: [], canonical: text, compared: [], masks: [], key: text, outcome };
    }
    const { answer } = explained;
    const step = () => {
      const place = answer.number();
      return { rule: this.#rules[place], number: place + 1, url: answer.text() };
    };
    const normalized = answer.text();
    const steps = answer.list(step);
    const canonical = answer.text();
    const compared = answer.list(step);
    const masks = answer.list(step);
    return { url: text, normalized, steps, canonical, compared, masks, key: answer.text(), outcome };
  }
}

function stepsOf({ skip = [] } = {}) {
  return skip.reduce((steps, name) => {
    const place = STEPS.indexOf(name);
    if (place < 0) throw new RangeError(`unknown normalization step '${name}'; the steps are ${STEPS.join(", ")}`);
    return steps & ~(1 << place);
  }, ALL_STEPS);
}

function problemOf(answer, hasNumber) {
  const rule = answer.number() + 1;
  const column = answer.number();
  const field = answer.text();
  return new RuleError(answer.text(), {
    rule: hasNumber ? rule : undefined,
    field: hasNumber ? field : undefined, // in one line of text the column is one of the line
    column: column ? column + 1 : undefined,
  });
}

/** The functions of the package, on a module that was compiled elsewhere. */
export function api(module) {
  let shared; // an instance without rules
  const core = () => (shared ??= new Core(module));

  return {
    load(file) {
      const content = rulesOf(file);
      const own = new Core(module);
      const problem = own.compile(messageOf(content.rules));
      if (problem) throw problemOf(problem, true);
      requireVersion(content);
      return new Canonicalizer(own, content.rules);
    },

    normalize(url, options) {
      return core().normalize(String(url), stepsOf(options));
    },

    parseRule(text) {
      const read = core().parseRule(String(text));
      if (!read) throw new RuleError("the rule has half a character pair; write it as UTF-8");
      const { answer, isRule } = read;
      if (!isRule) throw problemOf(answer, false);
      const rule = { kind: answer.text(), from: answer.text() };
      const to = answer.text();
      if (to !== undefined) rule.to = to;
      for (const field of ["when", "unless"]) {
        const texts = answer.list(() => answer.text());
        if (texts.length) rule[field] = texts;
      }
      return rule;
    },
  };
}

export { RuleError };
