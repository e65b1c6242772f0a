// The headline: what could be judged, then what normalization and the rules remove, and what is lost.
function tile(name, big, notes, kind) {
  return el("div", { class: `card tile ${kind || ""}`, "data-tile": name },
    el("dt", {}, name), el("dd", {}, el("span", { class: "big" }, big), notes.filter(Boolean).map((note) => el("div", { class: "small quiet" }, note))));
}
const NO_EVIDENCE = "A digest, a sketch, redirects, rel=canonical or a column 'cluster' would show it.";

function headline(facts) {
  return section("headline", "At a glance", null, facts.figures ? [...judged(facts), checkedNote()] : unjudged(facts.totals));
}
// What was stated when the rules were learned; it holds for the rules as they were switched then.
function checkedNote() {
  const said = FACTS.checked ? `On pages that nothing was learned from: ${FACTS.checked}.` : "How many pages these rules lose on pages that nothing was learned from was not checked.";
  return FACTS.active ? el("p", { class: "note", id: "checked" }, said) : null;
}
function unjudged(totals) {
  const [fewer, more] = [totals.seen - totals.seen_normalized, totals.seen_normalized - totals.seen_left];
  return [
    el("p", { class: "note warn", id: "judged" }, el("strong", {}, `None of ${many(totals.seen, "URL")} could be judged`), `: the input has no evidence of which show the same page, so what is removed or lost is not known. ${NO_EVIDENCE}`),
    el("dl", { class: "tiles" }, tile("URLs seen", count(totals.seen), ["as they are written"]),
      tile("After normalization", count(totals.seen_normalized), [`${count(fewer)} fewer`]),
      tile("After the rules", count(totals.seen_left), [`${count(more)} fewer than that`])),
  ];
}
function judged({ figures, totals, active }) {
  const ends = figures.intervals;
  const share = (part) => (totals.duplicates ? part / totals.duplicates : 0);
  const tiles = [
    tile("URLs judged", count(totals.judged), [totals.judged < totals.seen ? `of ${count(totals.seen)} seen` : "all that were seen"]),
    tile("Pages", count(totals.pages), [`${many(figures.duplicate_clusters, "page")} with several URLs`]),
    tile("Duplicates", percent(figures.duplicate_rate), [`${many(totals.duplicates, "URL")} not needed`, `95 %: ${interval(ends.duplicate_rate)}`]),
    tile("Normalization removes", percent(share(totals.removed_by_normalization)), [`of the duplicates: ${many(totals.removed_by_normalization, "URL")}`, "without any rule"]),
    tile("The rules remove", percent(share(totals.removed_by_rules)), [`of the duplicates: ${many(totals.removed_by_rules, "URL")} more`, `by ${many(active, "rule")}`, `together ${percent(figures.removed)} (95 %: ${interval(ends.removed)})`], "saved"),
    tile("Pages lost", percent(figures.lost), [`${many(totals.lost, "page")} merged into a different one`, `95 %: ${interval(ends.lost)}`], totals.lost ? "risk" : "safe"),
  ];
  const parts = [
    ["needed, one a page", totals.pages - totals.lost, "var(--needed)"],
    ...(totals.lost ? [["needed, and lost", totals.lost, "var(--lost)"]] : []), ["removed by normalization", totals.removed_by_normalization, "var(--plain)"],
    ["removed by the rules", Math.max(0, totals.removed_by_rules), "var(--saved)"],
    ["left as duplicates", Math.max(0, totals.duplicates - totals.removed_by_normalization - totals.removed_by_rules), "var(--left)"],
  ];
  return [
    totals.judged < totals.seen && el("p", { class: "note warn", id: "judged" }, el("strong", {}, `${count(totals.judged)} of ${many(totals.seen, "URL")} could be judged`), `: the page of the others is not known. Every number below is about the ${count(totals.judged)}.`),
    el("dl", { class: "tiles" }, tiles),
    totals.duplicates ? barChart(parts, totals.judged) : el("p", { class: "note" }, "No page of this input has a second URL: there is nothing to remove, and a rule could only do harm."),
  ];
}
