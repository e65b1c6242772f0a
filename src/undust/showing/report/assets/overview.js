// Many sites: at a glance, most removed URLs first, each one opens.
const SHOWN = 100;
const column = (row, name) => row[FACTS.columns.indexOf(name)];
const SITE_COLUMNS = [
  ["Site", (row) => column(row, "site"), (value) => value, false],
  ["URLs", (row) => column(row, "seen"), count, true],
  ["Judged", (row) => column(row, "judged"), count, true],
  ["Pages", (row) => column(row, "pages"), (value) => (value === null ? "not known" : count(value)), true],
  ["By normalization", (row) => column(row, "removed_by_normalization"), count, true],
  ["By rules", (row) => column(row, "removed_by_rules"), count, true],
  ["Removed", (row) => column(row, "removed"), percent, true],
  ["Lost", (row) => column(row, "lost"), percent, true],
  ["Rules", (row) => column(row, "rules"), count, true],
];
const compare = (a, b) => (a === b ? 0 : a === null ? 1 : b === null ? -1 : a < b ? -1 : 1);

function overview(rows) {
  const state = { by: 5, down: true, text: "", most: SHOWN };
  const body = el("tbody");
  const told = el("p", { class: "quiet small", role: "status" });
  const more = el("button", { type: "button", onclick: () => { state.most += 400; paint(); } }, "Show more");
  const heads = SITE_COLUMNS.map(([name, , , right], at) => el("th", { scope: "col", class: right ? "right" : null },
    el("button", { type: "button", class: "plain", onclick: () => { state.down = state.by === at ? !state.down : right; state.by = at; paint(); } }, name)));
  function paint() {
    const read = SITE_COLUMNS[state.by][1];
    const fitting = rows.filter((row) => column(row, "site").includes(state.text));
    fitting.sort((a, b) => (state.down ? -1 : 1) * compare(read(a), read(b)) || compare(column(a, "site"), column(b, "site")));
    heads.forEach((head, at) => head.setAttribute("aria-sort", at === state.by ? (state.down ? "descending" : "ascending") : "none"));
    body.replaceChildren(...fitting.slice(0, state.most).map(siteRow));
    told.textContent = `${count(Math.min(state.most, fitting.length))} of ${many(fitting.length, "site")} shown` + (state.text ? `, of ${count(rows.length)} in all` : "");
    more.hidden = fitting.length <= state.most;
  }
  const filter = el("input", { type: "search", id: "site-filter", placeholder: "Filter sites", oninput: (event) => { state.text = event.target.value.toLowerCase(); state.most = SHOWN; paint(); } });
  paint();
  const detailed = Object.keys(FACTS.sites).length;
  const intro = `${many(rows.length, "site")}. ` + (detailed < rows.length ? `Those with most removed URLs open here (${count(detailed)}); undust report --site NAME makes a page of any other.` : "Each one opens.");
  const made = section("sites", "Sites", intro,
    el("div", { class: "controls" }, el("label", { for: "site-filter" }, "Site contains"), filter), told,
    el("div", { class: "scroll" }, el("table", { class: "stack" }, el("caption", { class: "unseen" }, "Sites, with what normalization and the rules remove and lose"), el("thead", {}, el("tr", {}, heads)), body)), more);
  made.repaint = (fresh) => { rows = fresh; paint(); };
  return made;
}
function siteRow(row) {
  const site = column(row, "site");
  const name = FACTS.sites[site] ? el("a", { href: `#site=${encodeURIComponent(site)}`, class: "strange" }, site) : el("span", { class: "strange" }, site);
  return el("tr", {}, SITE_COLUMNS.map(([head, read, write, right], at) => at === 0
    ? el("th", { scope: "row" }, name)
    : el("td", { class: right ? "right number" : null, "data-name": head }, write(read(row)))));
}

// Rules that several sites have are read once.
function alikeSection(found) {
  if (!found || !found.length) return null;
  const heads = [["Rule"], ["Verdict"], ["Sites", true], ["Removed", true], ["Risk ≤", true]];
  const rows = found.map((one) => [
    el("span", {}, el("span", { class: "rule-words" }, one.words), el("span", { class: "rule-text pattern" }, one.rule)),
    el("span", { class: `badge ${one.verdict === "risky" ? "risk" : one.verdict}` }, one.verdict),
    el("span", {}, count(one.site_count), el("div", { class: "small quiet strange" }, one.sites.join(", ") + (one.site_count > one.sites.length ? ", …" : ""))),
    count(one.removed), one.bound === null ? "not known" : percent(one.bound)]);
  return section("alike", "Rules that several sites have", "Each is shown once, with one of its texts; where sites differ in the verdict, once for each. Removed: held-out URLs of all these sites. Risk ≤: the largest of these sites.",
    table("Rules that several sites have", heads, rows));
}
