// What follows the rules: the curve, what is left unexplained, what was not trusted, what was refused.
function curveSection(curve) {
  if (curve.length < 2) return null;
  const names = { none: "no rules, normalization only", fewer: "surer rules only", chosen: "chosen", refused: "with refused ones" };
  const rows = curve.map((point) => [names[point.kind], point.bound === null ? "" : percent(point.bound), count(point.rules), percent(point.removed), interval(point.removed_95), percent(point.lost), interval(point.lost_95)]);
  const heads = [["Rules taken"], ["Risk ≤", true], ["Rules", true], ["Removed", true], ["95 %", true], ["Lost", true], ["95 %", true]];
  return section("curve", "Removed and lost", "What is removed and what is lost as the bound on false positives is loosened, normalization included. A page lost is lost for ever, a duplicate missed costs one fetch.",
    curveChart(curve), el("details", {}, el("summary", {}, "The figures"), table("Points of the curve", heads, rows)));
}

function unexplainedSection(found) {
  if (!found) return null;
  if (!found.pages) return section("unexplained", "Duplicates that no rule explains", null, el("p", { class: "note" }, "None: every page whose URLs are known has one form left."));
  const intro = `${many(found.pages, "page")} keep several forms, ${many(found.urls, "URL")} more than needed. The cause is what the URLs suggest; it was not proved.`;
  const groups = found.groups.map((group) => el("div", { class: "group" },
    el("h3", {}, el("span", { class: "strange" }, group.name), el("span", { class: "number quiet" }, `${many(group.urls, "URL")}, ${many(group.pages, "page")}`)),
    el("p", { class: "quiet small" }, group.meaning, "."),
    el("details", {}, el("summary", {}, `Examples (${count(group.examples.length)} of ${many(group.pages, "page")})`),
      group.examples.map((one) => el("ul", { class: "urls" }, one.urls.map((text) => el("li", {}, url(text))), one.more ? el("li", { class: "quiet small" }, `… and ${count(one.more)} more`) : null)))));
  if (found.more_groups) groups.push(el("p", { class: "quiet" }, `${count(found.more_groups)} smaller groups are not shown.`));
  return section("unexplained", "Duplicates that no rule explains", intro, el("div", { class: "card" }, groups));
}

function distrustedSection(found) {
  if (!found.groups) return section("distrusted", "Evidence switched off", null, el("p", { class: "quiet" }, "None: no soft-404, login wall, empty body or site-wide canonical was recognised."));
  const intro = `${many(found.groups, "group")} of URLs (${many(found.urls, "URL")}) that something would have joined, and that were left apart.` + (found.shown.length < found.groups ? ` The ${count(found.shown.length)} largest are shown.` : "");
  return section("distrusted", "Evidence switched off", intro, el("div", { class: "card" }, found.shown.map((group) => el("div", { class: "group" },
    el("h3", {}, group.kind, el("span", { class: "number quiet" }, many(group.urls, "URL"))),
    el("p", { class: "quiet small" }, `${group.evidence}: `, el("span", { class: "strange" }, group.why), "."),
    group.about && el("p", { class: "small" }, "→ ", url(group.about)),
    el("details", {}, el("summary", {}, `Examples (${count(group.examples.length)} of ${many(group.urls, "URL")})`), el("ul", { class: "urls" }, group.examples.map((text) => el("li", {}, url(text)))))))));
}

function refusedSection(found) {
  const title = "Rules that were rejected";
  if (!found) return section("refused", title, null, el("p", { class: "note" }, "Not known: a rule file keeps what was accepted. ", el("code", {}, "undust learn INPUT… -o rules.json --report report.html"), " writes a page that shows what was not."));
  const total = found.total;
  if (!total) return section("refused", title, null, el("p", { class: "quiet" }, "Nothing that was proposed was rejected."));
  const groups = found.counts.map(([reason, number]) => {
    const rules = found.rules.filter((one) => one.reason === reason);
    const [first, ...others] = rules.map(refusedRule);
    return el("div", { class: "group refused", "data-reason": reason },
      el("h3", {}, reason, el("span", { class: "number quiet" }, many(number, "candidate"))),
      first || el("p", { class: "quiet small" }, "None of them is kept as an example."),
      others.length ? el("details", {}, el("summary", {}, `${count(others.length)} more of ${count(number)}`), others) : null);
  });
  return section("refused", title, found.candidates === null ? `${many(total, "candidate")} were proposed and not taken, by reason.` : `${count(total)} of ${many(found.candidates, "candidate")} were not taken, by reason.`,
    el("div", { class: "card" }, groups));
}
function refusedRule(one) {
  return el("details", { class: "example" },
    el("summary", {}, el("span", { class: "strange" }, one.words), " ", el("span", { class: "quiet small" }, `${many(one.pages, "page")} for it, ${count(one.lost)} lost by it`)),
    el("p", {}, el("span", { class: "pattern" }, one.rule)),
    el("p", { class: "small" }, "Proposed by ", el("span", { class: "strange" }, one.by || "an unknown method"), "."),
    one.examples && one.examples.length ? [el("h4", {}, "What it would do"), el("ul", { class: "urls" }, one.examples.map(change))] : null,
    one.counter && one.counter.length ? [el("h4", {}, `Counter-examples (${count(one.counter.length)} of ${count(one.wrong)})`), counterList(one.counter)] : null);
}

function methodsSection(found) {
  if (!found) return null;
  const swept = new Set(found.rows.map((row) => row.max_fpr).filter((bound) => bound !== null)).size > 1;
  found.rows.forEach((row) => { row.swept = swept; });
  const heads = [["Method"], ["Removed", true], ["95 %", true], ["Lost", true], ["95 %", true], ["False pairs", true], ["Rules", true], ["Seconds", true]];
  const rows = found.rows.map((row) => [el("span", { class: "strange" }, nameOf(row)), percent(row.removed), interval(row.removed_95), percent(row.lost), interval(row.lost_95), percent(row.fpr), count(row.rules), row.seconds.toFixed(1)]);
  const intro = `Learned from ${count(found.train_urls)} URLs, judged on ${count(found.test_urls)} others of ${count(found.test_pages)} other pages.`;
  return section("methods", "Methods side by side", intro, methodsChart(found.rows), table("Methods, judged on the same unseen pages", heads, rows));
}

const KINDS = { label: "the label that you gave", redirect: "redirects", digest: "equal content", canonical: "rel=canonical", declared: "the site's own declaration", sketch: "nearly equal text", blocks: "the same blocks of text", normal: "equal in normal form" };
function evidenceSection(facts) {
  if (!facts.evidence.length) return null;
  const rows = facts.evidence.map(([kind, number]) => [KINDS[kind] || kind, count(number)]);
  return section("evidence", "How we know", "Which evidence joins URLs with others of the same page; one URL may have several reasons.", table("URLs joined by each kind of evidence", [["Evidence"], ["URLs", true]], rows));
}

const PAIRS = { again: "one URL, fetched twice", home: "URLs that the site sends to one place", cluster: "URLs of one cluster", different: "different pages, for comparison" };
function fetchesSection(found) {
  if (!found || !found.rows.length) return null;
  const heads = [["Pairs of pages"], ["Pairs", true], ["Equal words", true], ["No change", true], ["Numbers", true], ["Words", true], ["Order", true], ["Title", true]];
  const rows = found.rows.map((row) => [PAIRS[row.kind], count(row.pairs), percent(row.words), ...["equal", "numbers", "blocks", "order", "title"].map((name) => percent(row[name] / row.pairs))]);
  const intro = (found.fetched_twice ? `${many(found.fetched_twice, "URL")} of this site were fetched more than once. ` : "No URL of this site was fetched twice, so copies at different URLs show how pages change. ")
    + "Equal words is the median share of the words that both pages have, without the template of the site. The other columns are the share of pairs that differ in numbers (counters, clocks, prices), in words (rotating texts, tokens, lists), in the order of the text, and in the title.";
  const examples = found.examples.map((one) => el("div", { class: "group" },
    el("ul", { class: "urls" }, one.urls.map((text) => el("li", {}, url(text)))),
    el("p", { class: "quiet small" }, `${PAIRS[one.kind]}: ${percent(one.words)} of the words are equal. ${many(one.shared, "block")} of text on both, ${count(one.numbers)} of them with other numbers; ${many(one.gone, "block")} only on the first, ${count(one.new)} only on the second.`)));
  return section("fetches", "Two fetches of one page", intro, table("How alike pages are, by pairs", heads, rows),
    examples.length ? [el("h3", {}, "Examples of what changes"), el("div", { class: "card" }, examples)] : null);
}

function savingsSection(found) {
  if (!found || !found.length) return null;
  const heads = [["Client"], ["Requests", true], ["Removed", true], ["Removed a day", true], ["MB a day", true]];
  const rows = found.map((row) => [row.crawler === "all" ? "all requests" : row.crawler, count(row.requests), count(row.saved_requests), count(row.saved_requests_per_day), (row.saved_bytes_per_day / 1e6).toFixed(1)]);
  return section("savings", "Requests of the log", "Of the URLs that the rules make equal, the one that is requested most is needed. Removed are the requests for the others, if every client used one URL.",
    table("Requests that the rules remove, by client", heads, rows));
}
