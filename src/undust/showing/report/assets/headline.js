// The headline: how many URLs and pages, what the rules save, what they risk, how sure that is.
function tile(name, big, notes, kind) {
  return el("div", { class: `card tile ${kind || ""}`, "data-tile": name },
    el("dt", {}, name), el("dd", {}, el("span", { class: "big" }, big), notes.filter(Boolean).map((note) => el("div", { class: "small quiet" }, note))));
}
function headline(found, seen, left) {
  if (!found) {
    return section("headline", "At a glance", null,
      el("p", { class: "note" }, "Nothing in the input tells which URLs show one page, so nobody can say what the rules save or risk. A digest, a sketch, redirects, rel=canonical or a column 'cluster' would tell."),
      el("dl", { class: "tiles" }, tile("URLs", count(seen), ["seen in the input"]), tile("After the rules", count(left), [`${count(seen - left)} fewer`], "saved")));
  }
  const ends = found.intervals;
  const spare = found.urls - found.clusters;
  const gone = found.removed_urls;
  const tiles = [
    tile("URLs", count(found.urls), [seen > found.urls ? `of ${count(seen)} seen; of the others nothing tells the page` : "whose page is known"]),
    tile("Pages", count(found.clusters), [`${many(found.duplicate_clusters, "page")} with several URLs`]),
    tile("Duplicates", percent(found.duplicate_rate), [`${count(spare)} URLs are not needed`, `95 %: ${interval(ends.duplicate_rate)}`]),
    tile("The rules save", percent(found.removed), [`of the duplicates: ${many(gone, "URL")} fewer`, `95 %: ${interval(ends.removed)}`], "saved"),
    tile("The rules risk", percent(found.lost), [`of the pages: ${count(found.lost_unlike)} merged into a different one`, `95 %: ${interval(ends.lost)}`], found.lost_unlike ? "risk" : "safe"),
  ];
  const right = Math.max(0, Math.min(gone - found.lost_unlike, spare));
  const rest = Math.max(0, spare - right);
  const parts = [["needed, one a page", found.clusters, "var(--needed)"], ["removed by the rules", right, "var(--saved)"], ["left as duplicates", rest, "var(--left)"]];
  return section("headline", "At a glance", null, el("dl", { class: "tiles" }, tiles),
    spare ? barChart(parts, found.urls) : el("p", { class: "note" }, "No page of this input has a second URL: there is nothing to save, and a rule could only do harm."));
}
