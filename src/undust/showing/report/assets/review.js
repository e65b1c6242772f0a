// What a page from disk cannot do: try a URL, switch rules and see what changes, save. Served pages only.
const REVIEW = { off: new Set(), saved: new Set(), bar: null, note: null, asked: 0 };
const isOn = (rule) => (FACTS.served ? !REVIEW.off.has(rule.id) : rule.on);

function readSwitches() {
  REVIEW.off = new Set(FACTS.served.off);
  REVIEW.saved = new Set(FACTS.served.off);
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
    el("button", { type: "button", id: "undo", onclick: undoAll }, "Undo"),
    el("button", { type: "button", id: "save", class: "strong", onclick: save }, "Save"));
  document.getElementById("main").append(REVIEW.bar);
  updateBar();
  if (FACTS.served.is_older) refresh();
}
const changedIds = () => [...REVIEW.off].filter((id) => !REVIEW.saved.has(id)).concat([...REVIEW.saved].filter((id) => !REVIEW.off.has(id)));
function updateBar() {
  const changes = changedIds().length;
  document.getElementById("save").disabled = !changes;
  document.getElementById("undo").disabled = !changes;
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
  await refresh();
  REVIEW.note.textContent = `${many(changedIds().length, "rule")} changed, not saved. ${REVIEW.told || ""}`;
}
async function refresh() {
  // Answers may overtake each other; the last question counts.
  const number = (REVIEW.asked += 1);
  try {
    const told = await ask("measure", { off: [...REVIEW.off], site: REVIEW.state.site ? REVIEW.state.site.site : null });
    if (number !== REVIEW.asked) return;
    if (told.figures) showFigures(told.figures);
    REVIEW.told = told.total ? `${percent(told.total.removed)} of the duplicates removed, ${percent(told.total.lost)} of the pages lost${FACTS.site_count > 1 ? " over all sites" : ""}.` : "";
  } catch (error) { REVIEW.told = error.message; }
}
function showFigures(found) {
  const before = REVIEW.state.site ? REVIEW.state.site.figures : FACTS.figures;
  const old = document.getElementById("headline");
  const fresh = headline(found, REVIEW.state.site ? REVIEW.state.site.seen : FACTS.seen, 0);
  for (const [name, key] of [["The rules save", "removed"], ["The rules risk", "lost"]]) {
    const box = fresh.querySelector(`[data-tile="${name}"] dd`);
    if (box && found[key] !== before[key]) box.append(el("span", { class: "was" }, `was ${percent(before[key])}`));
  }
  old.replaceWith(fresh);
}
async function undoAll() {
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
    const told = await ask("save", { off: [...REVIEW.off] });
    REVIEW.saved = new Set(REVIEW.off);
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
  "no URL": "This is no http(s) URL, so it stays as it is.",
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
