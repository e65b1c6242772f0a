// The rule file: checked as undust itself checks it, and written down for the module.
import { Message, isWellFormed } from "./core.js";
import { RuleError } from "./errors.js";
import { switchOffUnmet } from "./needs.js";

const FORMAT = "undust-rules";
const VERSION = 1;
const VERSION_OF_USES = 2; // of files with fetch, needs or the status proposed
const KNOWN = `versions ${VERSION} and ${VERSION_OF_USES}`;
const STATUSES = ["active", "disabled", "proposed"];
const MOST_RULES = 1_000_000;

/** The rules of a rule file, given as its text, its bytes or the object that it holds. */
export function rulesOf(file) {
  const content = contentOf(file);
  if (typeof content !== "object" || content === null || content.format !== FORMAT) {
    throw new RuleError(`not a rule file; one starts with {"format": "${FORMAT}", "version": ${VERSION}, "rules": [`);
  }
  if (content.version !== VERSION && content.version !== VERSION_OF_USES) {
    const found = content.version === undefined ? "no version" : `version ${JSON.stringify(content.version)}`;
    throw new RuleError(`${found} of the rule format, and this undust reads ${KNOWN}; update undust`);
  }
  const { rules, version } = content;
  if (!Array.isArray(rules)) throw new RuleError('no list of rules; add "rules": []');
  if (rules.length > MOST_RULES) {
    throw new RuleError(`${rules.length} rules, and a file has at most ${MOST_RULES}; split it by site`);
  }
  return { rules, version };
}

/** Throw if a file of version 1 has a rule that readers of version 1 would apply wrongly. */
export function requireVersion({ rules, version }) {
  if (version === VERSION_OF_USES) return;
  for (const [place, rule] of rules.entries()) {
    const isLimited = { fetch: rule.fetch === false, needs: rule.needs?.length, status: rule.status === "proposed" };
    const field = Object.keys(isLimited).find((name) => isLimited[name]);
    if (field) {
      const message = `takes version ${VERSION_OF_USES} of the format; write "version": ${VERSION_OF_USES}`;
      throw new RuleError(message, { rule: place + 1, field });
    }
  }
}

function contentOf(file) {
  if (typeof file !== "string" && !(file instanceof Uint8Array)) return file;
  try {
    const text = typeof file === "string" ? file : new TextDecoder("utf-8", { fatal: true }).decode(file);
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new RuleError(`not JSON: ${error.message}; give the file that undust wrote`);
  }
}

/** The rules as the module reads them. */
export function messageOf(rules) {
  const places = new Map();
  const all = rules.map((rule, place) => {
    try {
      const said = saidBy(rule);
      requireNew(said, places, place + 1);
      return said;
    } catch (error) {
      if (error instanceof Fault) throw new RuleError(error.message, { rule: place + 1, field: error.field });
      throw error;
    }
  });
  switchOffUnmet(all);
  const message = new Message();
  message.number(all.length);
  for (const said of all) writeRule(said, message);
  return message.bytes;
}

class Fault extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

function writeRule(said, message) {
  message.text(said.site);
  message.text(said.kind);
  message.text(said.from);
  message.text(said.to);
  message.texts(said.when);
  message.texts(said.unless);
  message.texts(said.exceptSites);
  message.number(said.isActive ? 1 : 0);
  message.number(said.isFetched ? 1 : 0);
}

function saidBy(rule) {
  if (typeof rule !== "object" || rule === null || Array.isArray(rule)) {
    throw new Fault("", "a rule is an object with site, kind and from; write one");
  }
  return {
    site: textOf(rule.site, "site"),
    kind: textOf(rule.kind, "kind"),
    from: fromOf(rule.from),
    to: isThere(rule.to) ? textOf(rule.to, "to") : undefined,
    when: textsOf(rule.when, "when"),
    unless: textsOf(rule.unless, "unless"),
    exceptSites: textsOf(rule.except_sites, "except_sites"),
    isActive: isActive(rule.status),
    isFetched: isFetched(rule.fetch),
    needs: textsOf(rule.needs, "needs"),
  };
}

const isThere = (value) => value !== undefined && value !== null;

function textOf(value, field) {
  if (!isThere(value)) throw new Fault(field, `'${field}' is missing; add it to the rule`);
  if (typeof value !== "string" || !isWellFormed(value)) {
    throw new Fault(field, `'${field}' is no text; write a string`);
  }
  return value;
}

function fromOf(value) {
  if (!isThere(value)) throw new Fault("from", 'the left side is missing; add "from" to the rule');
  return textOf(value, "from");
}

function textsOf(value, field) {
  if (!isThere(value)) return [];
  if (!Array.isArray(value)) throw new Fault(field, `'${field}' is no list; write a list of strings`);
  return value.map((item, place) => textOf(item, `${field}[${place}]`));
}

function isActive(value) {
  if (!isThere(value)) return true;
  const status = textOf(value, "status");
  if (!STATUSES.includes(status)) {
    throw new Fault("status", `the status '${status}' is not known; write active, disabled or proposed`);
  }
  return status === "active";
}

function isFetched(value) {
  if (!isThere(value)) return true;
  if (typeof value !== "boolean") throw new Fault("fetch", "'fetch' is not true or false; write one of them");
  return value;
}

function requireNew({ site, kind, from, to, when, unless }, places, number) {
  const said = JSON.stringify([site, kind, from, to ?? null, when, unless]);
  if (places.has(said)) {
    const before = places.get(said);
    throw new Fault("", `says the same as rule ${before}, so both have one id; remove one of them`);
  }
  places.set(said, number);
}
