// The URL scheme: forms of URL inside forms of URL; branches are built when they are opened.
function schemeSection(tree) {
  if (!tree) return null;
  if (!tree.root) return section("scheme", "URL scheme", "There is no URL of a usual form.");
  const intro = `${many(tree.urls, "URL")} after normalization, in ${many(tree.forms, "form")}; ${many(tree.branches, "branch").replace("branchs", "branches")} shown, the smaller ones folded into those above. In a pattern * is any value, [x=*] may be missing, … stands for more that may be missing.` +
    (tree.unusual ? ` ${many(tree.unusual, "URL")} of no usual form are in no branch.` : "");
  const rest = tree.root.duplicates === null ? "There is no evidence of which of these URLs are duplicates." : "";
  const head = el("div", { class: "tree-head", "aria-hidden": "true" }, el("span", {}, "form at ", el("span", { class: "pattern" }, tree.origin), ", with an example"), el("span", { class: "right count" }, "URLs"), el("span", {}, "duplicates"));
  const list = el("ul", { class: "tree" }, branchItem(tree.root, 0, (text) => (text.startsWith(tree.origin + "/") ? text.slice(tree.origin.length) : text)));
  return section("scheme", "URL scheme", `${intro} ${rest}`, el("div", { class: "card" }, head, list));
}
function branchItem(branch, depth, within) {
  const item = el("li");
  const name = el("span", {}, el("span", { class: "pattern" }, within(branch.pattern)), el("span", { class: "example url" }, within(branch.example)));
  const figures = [
    el("span", { class: "right number count" }, count(branch.urls), unseen(" URLs")),
    branch.duplicates === null ? el("span", { class: "quiet" }, "not known") : el("span", {}, unseen("duplicates "), meter(branch.duplicates)),
  ];
  if (!branch.children.length) {
    item.append(el("div", { class: "branch" }, el("span", { class: "leaf" }, name), figures));
    return item;
  }
  const inner = el("ul", { hidden: true });
  const opener = el("button", { type: "button", class: "plain opener", "aria-expanded": "false", onclick: () => open(opener.getAttribute("aria-expanded") !== "true") }, name);
  function open(shown) {
    if (shown && !inner.children.length) {
      inner.append(...branch.children.map((child) => branchItem(child, depth + 1, within)));
      if (branch.folded) inner.append(el("li", { class: "quiet small leaf" }, `… ${many(branch.folded, "smaller form")}`));
    }
    inner.hidden = !shown;
    opener.setAttribute("aria-expanded", String(shown));
  }
  item.append(el("div", { class: "branch" }, opener, figures), inner);
  item.openBranch = open;
  if (depth < 1) open(true);
  return item;
}
