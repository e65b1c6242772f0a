// What a page from disk cannot do: try a URL, switch rules and see every number change, save. Served pages only.
const REVIEW = { off: new Set(), saved: new Set(), said: new Map(), bar: null, note: null, asked: 0, refused: null, before: new Map() };
const isOn = (rule) => (FACTS.served ? !REVIEW.off.has(rule.id) : rule.on);

function readSwitches() {
  REVIEW.off = new Set(FACTS.served.off);
  REVIEW.saved = new Set(FACTS.served.off);
  for (const facts of [FACTS, ...Object.values(FACTS.sites)]) {
    REVIEW.before.set(facts, { totals: facts.totals, figures: facts.figures });
    facts.under = FACTS.served.is_older ? null : switches();
  }
}
async function ask(what, body) {
  const answer = await fetch(`/${what}`, {
    method: "POST", headers: { "Content-Type": "application/json", "X-Undust-Token": FACTS.served.token }, body: JSON.stringify(body),
  });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return told;
}
function startReview() {
  REVIEW.note = el("p", { class: "grow", role: "status", id: "review-note" }, "No change yet. Switch rules below; nothing is written before you save.");
  REVIEW.bar = el("div", { class: "review", role: "region", "aria-label": "Review" }, REVIEW.note,
    el("button", { type: "button", id: "approve-ok", onclick: approveOk }, "Approve all that are ok"),
    el("button", { type: "button", id: "undo", onclick: undoAll }, "Undo"),
    el("button", { type: "button", id: "save", class: "strong", onclick: save }, "Save"));
  document.getElementById("main").append(REVIEW.bar);
  updateBar();
  refreshIfOld();
}
const changedIds = () => [...REVIEW.off].filter((id) => !REVIEW.saved.has(id)).concat([...REVIEW.saved].filter((id) => !REVIEW.off.has(id)));
function updateBar() {
  const changes = changedIds().length + REVIEW.said.size;
  document.getElementById("save").disabled = !changes;
  document.getElementById("save").textContent = REVIEW.refused === switches() ? "Save anyway" : "Save";
  document.getElementById("undo").disabled = !changes;
}
function decide(rule, verdict, note) {
  REVIEW.said.set(rule.id, { ...REVIEW.said.get(rule.id), ...(verdict && { verdict }), ...(note && { note }) });
  updateBar();
  REVIEW.note.textContent = `${many(REVIEW.said.size, "decision")} and ${many(changedIds().length, "switch")} not saved.`.replace("switchs", "switches");
}
function decisionBox(rule) {
  const note = el("input", { type: "text", class: "decision-note", "aria-label": `note on rule ${rule.place}`, placeholder: "A note", value: (REVIEW.said.get(rule.id) || {}).note, onchange: () => decide(rule, null, note.value) });
  const button = (name, verdict) => el("button", { type: "button", class: `decision-${verdict}`, onclick: () => {
    decide(rule, verdict, note.value);
    const box = document.querySelector(`#rule-${rule.id} input[role=switch]`);
    if (verdict === "rejected" && box && box.checked) { box.checked = false; flip(rule.id, false); }
  } }, name);
  return el("div", { class: "controls" }, button("Approve", "approved"), button("Reject", "rejected"), note);
}
function approveOk() {
  const rules = Object.values(FACTS.sites).flatMap((facts) => facts.rules);
  for (const rule of rules) if (rule.verdict === "ok" && isOn(rule) && !(rule.review || {}).verdict) decide(rule, "approved", null);
}
function ruleSwitch(rule) {
  const box = el("input", { type: "checkbox", role: "switch", "aria-label": `rule ${rule.place} is on`, checked: !REVIEW.off.has(rule.id), onchange: () => flip(rule.id, box.checked) });
  return el("label", { class: "switch" }, box, el("span", { "aria-hidden": "true" }, "on"));
}
async function flip(id, on) {
  if (on) REVIEW.off.delete(id); else REVIEW.off.add(id);
  document.getElementById(`rule-${id}`).classList.toggle("off", !on);
  updateBar();
  await measureAgain();
}
async function measureAgain() {
  if (await refresh()) REVIEW.note.textContent = `${many(changedIds().length, "rule")} changed, not saved. ${REVIEW.told || ""}`;
}
const switches = () => [...REVIEW.off].sort().join(" ");
const openFacts = () => REVIEW.state.site || FACTS;
function refreshIfOld() {
  // What the page carries was measured with the switches of the report; a site may have been left with others.
  if (openFacts().under !== switches()) refresh();
}
async function refresh() {
  // Answers may overtake each other; the last question counts. Returns whether this was the last one.
  const number = (REVIEW.asked += 1);
  const [facts, under] = [openFacts(), switches()];
  try {
    const told = await ask("measure", { off: [...REVIEW.off], site: facts === FACTS ? null : facts.site });
    if (number !== REVIEW.asked) return false;
    take(told, under);
    REVIEW.told = FACTS.figures ? `${percent(FACTS.figures.removed)} of the duplicates removed, ${percent(FACTS.figures.lost)} of the pages lost${FACTS.site_count > 1 ? " over all sites" : ""}.` : "";
  } catch (error) {
    if (number !== REVIEW.asked) return false;
    REVIEW.told = error.message;
  }
  return true;
}
function take(told, under) {
  // Every number of the page comes from its facts: the new ones take their place, and what shows them is painted again.
  for (const name of ["figures", "totals", "overview", "active", "sentence", "checked", "seen", "unlabelled"]) FACTS[name] = told[name];
  FACTS.under = under;
  for (const [name, fresh] of Object.entries(told.sites)) {
    const old = FACTS.sites[name];
    if (!old) continue;
    fresh.rules.forEach((rule, at) => { rule.place = at + 1; });
    const kept = new Map(old.rules.map((rule) => [rule.id, rule]));
    const rules = fresh.rules.map((rule) => Object.assign(kept.get(rule.id) || {}, rule));
    Object.assign(old, fresh, { rules, under });
  }
  document.getElementById("lead").textContent = FACTS.sentence;
  repaint(openFacts());
}
function repaint(facts) {
  const view = document.getElementById("view");
  const head = headline(facts);
  const before = REVIEW.before.get(facts);
  for (const [name, read] of Object.entries(COMPARED)) {
    const box = head.querySelector(`[data-tile="${name}"] dd`);
    const was = percent(read(before));
    if (box && was !== box.querySelector(".big").textContent) box.append(el("span", { class: "was" }, `was ${was}`));
  }
  document.getElementById("headline").replaceWith(head);
  const sites = document.getElementById("sites");
  if (sites) sites.repaint(FACTS.overview);
  if (facts === FACTS) return;
  for (const row of view.querySelectorAll("#rule-table tbody tr")) if (row.updateRule) row.updateRule();
  let last = document.getElementById("rules");
  for (const [id, fresh] of [["curve", curveSection(facts.curve)], ["scheme", null], ["unexplained", unexplainedSection(facts.unexplained)]]) {
    const old = document.getElementById(id);
    if (fresh && old) old.replaceWith(fresh);
    else if (fresh) last.after(fresh);
    else if (old && id !== "scheme") old.remove();
    last = document.getElementById(id) || last;
  }
  REVIEW.state.searchAgain();
}
const COMPARED = {
  "The rules remove": ({ totals }) => (totals.duplicates ? totals.removed_by_rules / totals.duplicates : 0),
  "Pages lost": ({ figures }) => (figures ? figures.lost : null),
};
async function undoAll() {
  REVIEW.said.clear();
  for (const id of changedIds()) {
    const on = !REVIEW.saved.has(id);
    if (on) REVIEW.off.delete(id); else REVIEW.off.add(id);
    const row = document.getElementById(`rule-${id}`);
    if (row) { row.classList.toggle("off", !on); row.querySelector("input[role=switch]").checked = on; }
  }
  updateBar();
  await measureAgain();
}
async function save() {
  try {
    const body = { off: [...REVIEW.off], yes: REVIEW.refused === switches() };
    const told = REVIEW.said.size ? await ask("decide", { ...body, reviews: Object.fromEntries(REVIEW.said) }) : await ask("save", body);
    // What loses more pages than before is written only if the person says so twice, about the same switches.
    REVIEW.refused = told.refused ? switches() : null;
    if (told.refused) {
      REVIEW.note.textContent = told.refused;
      updateBar();
      return;
    }
    REVIEW.saved = new Set(REVIEW.off);
    REVIEW.said.clear();
    for (const facts of Object.values(FACTS.sites)) for (const rule of facts.rules) if (told.reviews && told.reviews[rule.id]) rule.review = told.reviews[rule.id];
    for (const row of document.querySelectorAll("#rule-table tbody tr")) if (row.updateRule) row.updateRule();
    REVIEW.note.textContent = `Saved: ${told.file}. The file before is ${told.backup}.`;
  } catch (error) { REVIEW.note.textContent = error.message; }
  updateBar();
}
function trySection() {
  if (!FACTS.served) return null;
  const input = el("input", { type: "text", id: "try-url", spellcheck: "false", autocomplete: "off", placeholder: "http://…" });
  const out = el("div", { id: "tried", role: "status" });
  const run = async (event) => {
    event.preventDefault();
    try { out.replaceChildren(...story(await ask("try", { url: input.value, off: [...REVIEW.off] }))); } catch (error) { out.replaceChildren(el("p", { class: "note warn" }, error.message)); }
  };
  const form = el("form", { class: "controls", onsubmit: run }, el("label", { for: "try-url" }, "URL"), input, el("button", { type: "submit", class: "strong" }, "Try"));
  return section("try", "Try a URL", "Each step from a URL to its canonical form, with the rules as they are switched now.", form, out);
}
const ENDS = {
  "no URL": "This is not an http(s) URL, so it stays as it is.",
  skipped: "With a user name, or longer than 64 KiB, a URL is only brought into its standard form.",
  unresolved: "There is no end within 256 steps and 64 KiB, so it is only brought into its standard form.",
  cycle: "This URL was there before; of the URLs in the circle, the smallest is taken.",
};
function story(told) {
  const steps = told.steps.map((step) => el("li", {}, el("span", { class: "url" }, step.change.map(([mark, text]) => (mark === "=" ? text : el(mark === "-" ? "del" : "ins", {}, text)))),
    el("span", { class: "becomes" }, step.rule ? [`rule ${step.number}: `, el("span", { class: "strange" }, step.words), " ", el("span", { class: "pattern" }, step.rule)] : "standard form")));
  return [
    steps.length ? el("ol", { class: "steps" }, steps) : el("p", {}, "Nothing changes it."),
    ENDS[told.outcome] ? el("p", { class: "note" }, ENDS[told.outcome]) : "",
    el("p", {}, "Canonical form: ", el("strong", {}, url(told.canonical))),
    told.key === told.canonical ? "" : el("p", {}, "Key: ", el("strong", {}, url(told.key))),
  ];
}
