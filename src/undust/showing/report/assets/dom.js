// Elements and numbers. Text from crawls only ever becomes a text node: nothing here writes markup.
let FACTS = null;
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const draw = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);
const url = (text) => el("span", { class: "url" }, text);
const withCode = (text) => text.split("`").map((part, at) => (at % 2 ? el("code", {}, part) : part));
const unseen = (text) => el("span", { class: "unseen" }, text);

const count = (value) => (value === null || value === undefined ? "?" : Math.round(value).toLocaleString("en"));
const many = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
function percent(share, digits) {
  if (share === null || share === undefined) return "not known";
  const value = 100 * share;
  const places = digits ?? (value !== 0 && Math.abs(value) < 0.1 ? 3 : Math.abs(value) < 10 ? 2 : 1);
  return `${value.toFixed(places)} %`;
}
function interval(ends) {
  const places = 100 * ends[1] < 10 ? 2 : 1;
  return `${(100 * ends[0]).toFixed(places)}–${(100 * ends[1]).toFixed(places)} %`;
}

function change(pieces) {
  // Read aloud and copied, a change is the URL before; deleted and inserted parts say so themselves.
  const marks = { "-": "del", "+": "ins" };
  const line = el("span", { class: "url" }, pieces.map(([mark, text]) => (mark === "=" ? text : el(marks[mark], {}, text))));
  const after = pieces.filter(([mark]) => mark !== "-").map(([, text]) => text).join("");
  return el("li", {}, line, el("span", { class: "becomes" }, "→ ", url(after)));
}

function section(id, title, intro, ...children) {
  const heading = el("h2", { id: `${id}-title` }, title);
  return el("section", { id, "aria-labelledby": `${id}-title` }, heading, intro && el("p", { class: "quiet" }, intro), children);
}

function table(caption, heads, rows, kind) {
  const head = heads.map(([text, right]) => el("th", { scope: "col", class: right ? "right number" : null }, text));
  const body = rows.map((cells) =>
    el("tr", {}, cells.map((cell, at) => at === 0
      ? el("th", { scope: "row" }, cell)
      : el("td", { class: heads[at][1] ? "right number" : null, "data-name": heads[at][0] }, cell))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", { class: kind }, el("caption", {}, caption), el("thead", {}, el("tr", {}, head)), el("tbody", {}, body)));
}

function meter(share) {
  // The number is next to the bar, so screen readers skip the bar.
  const bar = el("b");
  bar.style.width = `${Math.min(100, 100 * share)}%`;
  return el("span", { class: "meter" }, el("i", { "aria-hidden": "true" }, bar), el("span", { class: "number" }, percent(share, share < 0.0995 && share > 0 ? 1 : 0)));
}
