// The rules: sortable, each one opens to its diff, its examples and counter-examples, and its evidence.
const PROPOSERS = {
  equivalences: "what many sites do not distinguish (order, case, slashes, encoding, hosts), tested here",
  parameters: "parameters that were seen to do nothing",
  defaults: "values of parameters that are there anyway",
  differences: "what separates two URLs of one page",
  across: "rules of many sites, tested on this one",
  volatile: "URLs whose pages were seen to change between fetches",
  segments: "parts of the path that were seen to do nothing",
  substring: "the substring learner (Bar-Yossef, Keidar and Schonfeld)",
  rewrite: "the rewrite learner (Dasgupta, Kumar and Sasturkar)",
  tree: "the pattern-tree learner (Lei et al.)",
  alignment: "the alignment learner (Rodrigues et al.)",
};
const RULE_COLUMNS = [
  ["#", (rule) => rule.place, false],
  ["Rule", (rule) => rule.words, false],
  ["Verdict", (rule) => -rule.urgency, false],
  ["Removed", (rule) => removedAlone(rule), true],
  ["Lost", (rule) => (rule.alone ? rule.alone.lost : null), true],
  ["Risk ≤", (rule) => rule.bound, true],
];
const removedAlone = (rule) => (rule.alone ? rule.alone.removed : null);

function ruleText(rule) {
  const quote = rule.kind === "replace" ? '"' : "";
  const lines = [`${rule.kind} ${quote}${rule.from}${quote}`];
  if (rule.to !== null) lines.push(`→ ${quote}${rule.to}${quote}`);
  for (const [word, list] of [["when", rule.when], ["unless", rule.unless], ["except", rule.except]]) {
    if (list.length) lines.push(`${word} ${list.join(", ")}`);
  }
  return lines.map((text) => el("span", { class: "rule-text pattern" }, text));
}

function rulesSection(facts) {
  const rules = facts.rules;
  rules.forEach((rule, at) => { rule.place = at + 1; });
  if (!rules.length) {
    return section("rules", "Rules", null, el("p", { class: "note" }, "There is no rule for these URLs. Only standard normalization gives them one form."));
  }
  const state = { by: 2, down: true }; // what needs a person first
  const groups = new Map(rules.map((rule) => [rule.id, ruleRows(rule)]));
  const body = el("tbody");
  const heads = RULE_COLUMNS.map(([name, , right], at) => el("th", { scope: "col", class: right ? "right" : null },
    el("button", { type: "button", class: "plain", onclick: () => { state.down = state.by === at ? !state.down : right; state.by = at; paint(); } }, name)));
  function paint() {
    const read = RULE_COLUMNS[state.by][1];
    const sorted = [...rules].sort((a, b) => {
      const order = compare(read(a) ?? null, read(b) ?? null);
      return (read(a) === null || read(b) === null ? 1 : state.down ? -1 : 1) * order || a.place - b.place;
    });
    heads.forEach((head, at) => head.setAttribute("aria-sort", at === state.by ? (state.down ? "descending" : "ascending") : "none"));
    body.replaceChildren(...sorted.flatMap((rule) => groups.get(rule.id)));
  }
  paint();
  const intro = `${rules.length < facts.rule_count ? `The first ${count(rules.length)} of ${many(facts.rule_count, "rule")}` : many(rules.length, "rule")}, in use from top to bottom in the order of #. Those that need you come first.`;
  const unsafe = rules.filter((rule) => isOn(rule) && rule.kind !== "keep" && rule.use !== "redirect-safe").length;
  const columns = [
    ["Verdict", "What to do with the rule and why. Redirect-safe rules lead to URLs that were seen to work; compare-only rules change keys alone."],
    ["Removed", "Duplicate URLs that the rule removes here after standard normalization while all other rules are off; a URL that several rules remove is counted for each."],
    ["Lost", "Pages that the rule alone merges into a different one."],
    ["Risk ≤", "The share of the pages it touches that the rule loses at most, with 95 % probability, from its own pages and from what is known of such rules; few pages give a wide bound."],
  ];
  return section("rules", "Rules", intro,
    unsafe ? el("p", { class: "note", id: "not-redirects" }, `${count(unsafe)} of them ${unsafe === 1 ? "leads" : "lead"} to URLs that were not all seen to work: compare by their keys, and do not redirect or fetch by them.`) : null,
    el("details", { class: "columns" }, el("summary", {}, "What the columns say"), el("dl", { class: "facts" }, columns.map(([name, text]) => fact(name, text)))),
    el("table", { class: "stack", id: "rule-table" }, el("caption", { class: "unseen" }, "Rules with the duplicates that each one removes, the pages it loses, and the bound of its risk"), el("thead", {}, el("tr", {}, heads, FACTS.served && el("th", { scope: "col" }, "On"))), body));
}

function ruleRows(rule) {
  const id = `rule-${rule.id}`;
  const detail = el("tr", { class: "detail", id: `${id}-more`, hidden: true }, el("td", { colspan: FACTS.served ? 7 : 6 }));
  const opener = el("button", { type: "button", class: "plain opener", "aria-expanded": "false", "aria-controls": `${id}-more`, onclick: () => open(opener.getAttribute("aria-expanded") !== "true") },
    el("span", {}, el("span", { class: "rule-words" }, rule.words), ruleText(rule)));
  function open(shown) {
    if (shown && !detail.firstChild.childNodes.length) fill(detail.firstChild, {}, ruleDetail(rule));
    detail.hidden = !shown;
    opener.setAttribute("aria-expanded", String(shown));
  }
  const judged = el("td", { "data-name": "Verdict" });
  const removed = el("td", { class: "right number", "data-name": "Removed" });
  const lost = el("td", { class: "right number", "data-name": "Lost" });
  function update() {
    judged.replaceChildren();
    fill(judged, {}, verdictOf(rule));
    removed.replaceChildren();
    fill(removed, {}, [removedAlone(rule) === null ? el("span", { class: "quiet" }, rule.kind === "keep" ? "" : isOn(rule) ? "not known" : "off") : count(removedAlone(rule))]);
    lost.replaceChildren();
    fill(lost, {}, [lostAlone(rule)]);
    const isOpen = !detail.hidden;
    detail.firstChild.replaceChildren();
    if (isOpen) open(true);
  }
  const row = el("tr", { id, class: isOn(rule) ? null : "off" },
    el("td", { class: "number quiet", "data-name": "Number" }, String(rule.place)),
    el("th", { scope: "row" }, opener),
    judged,
    removed,
    lost,
    el("td", { class: "right number", "data-name": "Risk ≤" }, rule.kind === "keep" ? "" : rule.bound === null ? "not known" : percent(rule.bound)),
    FACTS.served && el("td", { "data-name": "On" }, ruleSwitch(rule)));
  row.openRule = open;
  row.needsPaper = () => isOn(rule) && (rule.verdict === "risky" || rule.wrong > 0);
  row.updateRule = update;
  update();
  return [row, detail];
}

const verdictOf = (rule) => [el("span", { class: `badge ${rule.verdict === "risky" ? "risk" : rule.verdict}` }, rule.verdict), el("div", { class: "small why-verdict" }, withCode(rule.reason)),
  rule.needed && isOn(rule) ? el("div", { class: "small needed" }, `Other rules rely on it: without it ${many(rule.needed, "more page")} would be lost.`) : null,
  rule.kind === "keep" ? null : el("div", { class: "small quiet" }, rule.leads ? `${rule.use}: ${rule.leads}` : rule.use)];

function fact(name, value) {
  return value === null || value === undefined || value === "" ? null : el("div", {}, el("dt", {}, name), el("dd", {}, value));
}
function ruleDetail(rule) {
  const parts = [FACTS.served && decisionBox(rule), el("dl", { class: "facts" },
    fact("Verdict", [`${rule.verdict}: `, withCode(rule.reason)]),
    fact("Where it leads", rule.leads ? `${rule.leads}; ${rule.use}` : null),
    fact("Needs", rule.needs.length ? rule.needs.join(", ") : null),
    fact("Review", rule.review ? ["verdict", "by", "when", "note"].filter((key) => rule.review[key]).map((key) => `${key} ${rule.review[key]}`).join(", ") : null),
    fact("Changes here", rule.changes === undefined ? null : many(rule.changes, "URL")),
    fact("Merged URLs", rule.right === undefined ? null : `${count(rule.right)} of the same page, ${count(rule.wrong)} of a different page`),
    fact("Removed, alone", rule.alone ? many(rule.alone.removed, "URL") : null),
    fact("Lost, alone", rule.alone ? many(rule.alone.lost, "page") : null),
    fact("Removed, held out", rule.saves === null ? null : many(rule.saves, "URL")),
    fact("Support, held out", rule.support === null ? null : many(rule.support, "pair")),
    fact("False, held out", rule.false === null ? null : many(rule.false, "pair")),
    fact("False-positive rate", rule.fpr === null ? null : `${percent(rule.fpr)}${rule.bound === null ? "" : `, risk ≤ ${percent(rule.bound)}`}`),
    fact("Proposed by", rule.by ? el("span", {}, el("span", { class: "strange" }, rule.by), PROPOSERS[rule.by] ? `: ${PROPOSERS[rule.by]}` : "") : null),
    fact("Validated", rule.validated ? Object.entries(rule.validated).map(([key, value]) => `${key} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ") : null),
    fact("For", rule.site === "*" ? "all sites" : null),
    fact("Id", el("code", {}, rule.id)),
    rule.extra && Object.entries(rule.extra).map(([key, value]) => fact(key, JSON.stringify(value))))];
  parts.push(el("h3", {}, "Examples"), rule.examples.length ? el("ul", { class: "urls" }, rule.examples.map(change)) : el("p", { class: "quiet" }, rule.kind === "keep" ? "It changes nothing." : "No URL here is changed by it."));
  if (rule.wrong !== undefined) {
    parts.push(el("h3", {}, "Counter-examples"), rule.wrong
      ? [el("p", { class: "small" }, `${many(rule.wrong, "URL")} would be merged with a different page if no other rule were on; ${count(rule.counter.length)} shown.`), counterList(rule.counter)]
      : el("p", { class: "quiet" }, `None among the ${many(rule.right, "URL")} that it merges with another.`));
  }
  if (rule.spares) {
    parts.push(el("div", { class: "excluded" }, el("h3", {}, "Excluded by its conditions"), el("p", { class: "small" }, `${many(rule.spares, "URL")} would change without them; ${count(rule.spared.length)} shown.`),
      el("ul", { class: "urls" }, rule.spared.map((text) => el("li", {}, url(text))))));
  }
  return parts;
}
function lostAlone(rule) {
  if (!rule.alone) return "";
  if (rule.alone.lost <= 0) return count(rule.alone.lost);
  return el("span", { class: "badge risk", title: "If no other rule were on. What all rules together lose is in the headline." }, count(rule.alone.lost));
}
// Each counter-example is a URL, its new form, the URL that it would be merged with, and why that is a different page.
const counterList = (counter) => el("ul", { class: "urls counter" }, counter.map((one) => {
  const item = change(one.change);
  item.append(el("span", { class: "becomes" }, "would be merged with ", url(one.meets)), el("span", { class: "becomes why" }, "which is a different page: ", el("span", { class: "strange" }, one.why)));
  return item;
}));
