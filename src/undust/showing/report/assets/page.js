// The page as a whole: which site is open, the list of sections, themes, print.
const STATE = { site: null, showRule, clearSearch: () => {}, searchAgain: () => {} };
REVIEW.state = STATE;

function sectionsOfSite(facts) {
  return [
    headline(facts),
    trySection(), rulesSection(facts), curveSection(facts.curve), schemeSection(facts.tree), unexplainedSection(facts.unexplained),
    distrustedSection(facts.distrusted), refusedSection(facts.refused), evidenceSection(facts), fetchesSection(facts.fetches),
    ...(FACTS.site_count > 1 ? [] : [savingsSection(FACTS.savings), methodsSection(FACTS.methods)]),
  ];
}
function sectionsOfAll() {
  return [headline(FACTS), FACTS.site_count ? overview(FACTS.overview) : null, alikeSection(FACTS.alike), savingsSection(FACTS.savings), trySection(), methodsSection(FACTS.methods)];
}
function show(site) {
  STATE.site = site ? FACTS.sites[site] : null;
  const [first, ...rest] = (STATE.site ? sectionsOfSite(STATE.site) : sectionsOfAll()).filter(Boolean);
  const view = document.getElementById("view");
  view.replaceChildren(first, ...rest);
  document.getElementById("title").textContent = STATE.site ? STATE.site.site : FACTS.name;
  const back = document.getElementById("back");
  back.replaceChildren(STATE.site && (FACTS.site_count > 1) ? el("a", { href: "#all" }, "← All sites") : STATE.site ? el("span", { class: "quiet strange" }, FACTS.name) : "");
  document.getElementById("lead").hidden = Boolean(STATE.site) && (FACTS.site_count > 1);
  const links = [...view.querySelectorAll("section")].map((part) => el("li", {}, el("a", { href: `#${part.id}` }, part.querySelector("h2").textContent)));
  document.getElementById("contents").replaceChildren(el("ul", {}, links));
  if (REVIEW.bar) refreshIfOld();
}
function route() {
  const hash = window.location.hash;
  if (!hash.startsWith("#site=")) {
    if (hash === "#all" || (hash === "" && (FACTS.site_count > 1))) { if (STATE.site) { show(null); window.scrollTo(0, 0); } }
    return;
  }
  const [site] = hash.slice(6).split("&");
  let name = "";
  try { name = decodeURIComponent(site); } catch { return; }
  if (!Object.hasOwn(FACTS.sites, name) || (STATE.site && STATE.site.site === name)) return;
  show(name);
  window.scrollTo(0, 0);
  document.getElementById("main").focus({ preventScroll: true });
}
function showRule(site, id) {
  if (!STATE.site || STATE.site.site !== site) show(site);
  const row = document.getElementById(`rule-${id}`);
  row.openRule(true);
  row.scrollIntoView({ block: "center" });
  row.querySelector("button").focus({ preventScroll: true });
}
function wireTheme() {
  const button = document.getElementById("theme");
  const order = ["auto", "light", "dark"];
  let at = 0;
  button.addEventListener("click", () => {
    at = (at + 1) % order.length;
    if (at) document.documentElement.dataset.theme = order[at]; else delete document.documentElement.dataset.theme;
    button.textContent = `Theme: ${order[at]}`;
  });
}
function remarks() {
  const told = [];
  if (FACTS.not_urls) told.push(`${many(FACTS.not_urls, "row")} of the input are not URLs.`);
  if (FACTS.elsewhere) told.push(`${many(FACTS.elsewhere, "rule")} are for sites that the input does not have.`);
  told.push(FACTS.masked ? "Values that look secret are written as ***1, ***2, …; the same number is the same value." : "Values that look secret are shown: do not pass this page on.");
  document.getElementById("remarks").textContent = told.join(" ");
}
// On paper there is nothing to click: rules that lose pages are open, of the others the verdict is enough.
window.addEventListener("beforeprint", () => {
  for (const row of document.querySelectorAll("tr")) if (row.openRule && row.needsPaper()) row.openRule(true);
});

let isStarted = false;
function start() {
  if (isStarted) return;
  isStarted = true;
  FACTS = JSON.parse(document.getElementById("facts").textContent);
  const names = Object.keys(FACTS.sites);
  if (FACTS.served) readSwitches();
  wireTheme();
  wireSearch(STATE);
  remarks();
  show(FACTS.site_count > 1 || !names.length ? null : names[0]);
  if (FACTS.served) startReview();
  window.addEventListener("hashchange", route);
  route();
  document.body.dataset.ready = "yes";
}
// The headline is painted before anything is drawn; a window in the background paints nothing, so a clock helps.
requestAnimationFrame(() => window.setTimeout(start));
window.setTimeout(start, 400);
