// Search over rules and URLs: of the open site, or of all sites whose details are on the page.
const MOST_FOUND = 40;

function marked(text, needle) {
  const at = text.toLowerCase().indexOf(needle);
  return at < 0 ? text : [text.slice(0, at), el("mark", {}, text.slice(at, at + needle.length)), text.slice(at + needle.length)];
}
function searched(needle, sites) {
  const fits = (text) => typeof text === "string" && text.toLowerCase().includes(needle);
  const rules = [];
  const urls = [];
  let known = 0;
  for (const facts of sites) {
    known += facts.urls.length;
    for (const rule of facts.rules) {
      if ([rule.id, rule.words, rule.from, rule.to, rule.by, ...rule.when, ...rule.unless].some(fits)) rules.push([facts.site, rule]);
    }
    for (const pair of facts.urls) if (fits(pair[0]) || fits(pair[1])) urls.push(pair);
  }
  return { rules, urls, known };
}
function wireSearch(state) {
  const input = document.getElementById("search");
  const results = document.getElementById("results");
  const status = document.getElementById("found");
  let waiting = 0;
  function paint() {
    const needle = input.value.trim().toLowerCase();
    results.hidden = !needle;
    if (!needle) { status.textContent = ""; results.replaceChildren(); return; }
    const sites = state.site ? [state.site] : Object.values(FACTS.sites);
    const { rules, urls, known } = searched(needle, sites);
    const seen = sites.reduce((sum, facts) => sum + facts.seen, 0);
    status.textContent = `${many(rules.length, "rule")} and ${many(urls.length, "URL")} found` + (known < seen ? `; ${count(known)} of ${count(seen)} URLs are on this page` : "");
    results.replaceChildren(
      el("h2", {}, "Found"),
      rules.length ? el("h3", {}, rules.length > MOST_FOUND ? `Rules, ${MOST_FOUND} of ${count(rules.length)}` : "Rules") : null,
      rules.length ? el("ul", { class: "urls" }, rules.slice(0, MOST_FOUND).map(([site, rule]) => el("li", {},
        el("a", { href: `#site=${encodeURIComponent(site)}&rule=${rule.id}`, onclick: () => window.setTimeout(() => state.showRule(site, rule.id)) }, marked(rule.words, needle)),
        el("span", { class: "becomes pattern" }, marked(rule.from, needle))))) : "",
      urls.length ? el("h3", {}, urls.length > MOST_FOUND ? `URLs, ${MOST_FOUND} of ${count(urls.length)}` : "URLs") : "",
      urls.length ? el("ul", { class: "urls" }, urls.slice(0, MOST_FOUND).map(([before, after]) => el("li", {}, el("span", { class: "url" }, marked(before, needle)), after ? el("span", { class: "becomes" }, "→ ", url(after)) : el("span", { class: "becomes" }, "stays as it is")))) : "",
      rules.length || urls.length ? "" : el("p", {}, "Nothing here has this text in it."));
  }
  input.addEventListener("input", () => { window.clearTimeout(waiting); waiting = window.setTimeout(paint, 120); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { input.value = ""; paint(); }
    if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      paint();
      const first = results.querySelector("a");
      if (first) first.focus();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) { event.preventDefault(); input.focus(); }
  });
  state.searchAgain = paint;
  state.clearSearch = () => { input.value = ""; paint(); };
}
