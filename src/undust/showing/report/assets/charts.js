// Charts with axes, labels and units, drawn to the width there is and drawn again when it changes.
function ticks(low, high, most) {
  if (!(high > low)) return [low];
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= raw);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high + step * 1e-9; at += 1) found.push(at * step);
  return found;
}
const short = (value) => (value >= 1e6 ? `${+(value / 1e6).toFixed(1)} M` : value >= 1e4 ? `${+(value / 1e3).toFixed(1)} k` : count(value));
const points = (value) => `${+value.toFixed(value < 1 ? 3 : 1)}`;

function chart(title, caption, paint) {
  const place = el("div");
  let width = 0;
  const again = () => {
    const now = Math.round(place.clientWidth);
    if (!now || now === width) return;
    width = now;
    const { height, marks } = paint(now);
    place.replaceChildren(draw("svg", { viewBox: `0 0 ${now} ${height}`, width: now, height, role: "img", "aria-label": title }, marks));
  };
  new ResizeObserver(again).observe(place);
  return el("figure", { class: "card" }, place, el("figcaption", {}, caption));
}
const line = (x1, y1, x2, y2, attributes) => draw("line", { x1, y1, x2, y2, ...attributes });
const word = (x, y, text, attributes) => draw("text", { x, y, ...attributes }, text);

function barChart(parts, total) {
  // Which part of the URLs is needed, removed, left: one bar, one axis.
  const title = `${count(total)} URLs: ` + parts.map(([name, value]) => `${count(value)} ${name}`).join(", ");
  return chart(title, null, (width) => {
    const right = width - 16;
    const scale = (value) => 8 + ((right - 8) * value) / (total || 1);
    const marks = [];
    let from = 0;
    for (const [, value, colour] of parts) {
      const [x, end] = [scale(from), scale(from + value)];
      if (value > 0) marks.push(draw("rect", { x, y: 6, width: Math.max(1.5, end - x - 1.5), height: 34, rx: 3, fill: colour }));
      from += value;
    }
    for (const tick of ticks(0, total, width < 500 ? 3 : 6)) {
      marks.push(line(scale(tick), 44, scale(tick), 50, { class: "axis" }), word(scale(tick), 64, short(tick), { class: "tick", "text-anchor": tick ? "middle" : "start" }));
    }
    marks.push(line(8, 44, right, 44, { class: "axis" }), word(right, 82, "distinct URLs", { class: "tick", "text-anchor": "end" }));
    let [x, y] = [8, 104];
    for (const [name, value, colour] of parts) {
      const text = `${count(value)} ${name}`;
      const size = 24 + text.length * 7.1;
      if (x + size > right && x > 8) [x, y] = [8, y + 22];
      marks.push(draw("rect", { x, y: y - 11, width: 13, height: 13, rx: 2, fill: colour }), word(x + 19, y, text));
      x += size + 14;
    }
    return { height: y + 10, marks };
  });
}

const NEAR_ZERO = 0.05;
const stretched = (value) => Math.log1p(value / NEAR_ZERO);
const STRETCHED_TICKS = [0, 0.1, 0.5, 1, 5, 10, 50, 100];

function axes(width, height, x, y) {
  const box = { left: 54, right: width - 18, top: 14, bottom: height - 46 };
  const reach = (value) => (x.stretch ? stretched(value) : value);
  const along = (value) => box.left + ((box.right - box.left) * (reach(value) - reach(x.low))) / (reach(x.high) - reach(x.low) || 1);
  const up = (value) => box.bottom - ((box.bottom - box.top) * (value - y.low)) / (y.high - y.low || 1);
  const marks = [];
  for (const tick of ticks(y.low, y.high, 5)) {
    marks.push(line(box.left, up(tick), box.right, up(tick), { class: "grid" }), word(box.left - 8, up(tick) + 4, points(tick), { class: "tick", "text-anchor": "end" }));
  }
  for (const tick of x.stretch ? STRETCHED_TICKS.filter((each) => each <= x.high) : ticks(x.low, x.high, width < 500 ? 4 : 7)) {
    marks.push(line(along(tick), box.bottom, along(tick), box.bottom + 5, { class: "axis" }), word(along(tick), box.bottom + 20, points(tick), { class: "tick", "text-anchor": "middle" }));
  }
  marks.push(line(box.left, box.bottom, box.right, box.bottom, { class: "axis" }), line(box.left, box.top, box.left, box.bottom, { class: "axis" }));
  marks.push(word(box.right, box.bottom + 39, x.label, { "text-anchor": "end" }));
  marks.push(word(0, 0, y.label, { transform: `translate(13 ${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }));
  return { along, up, marks, box };
}

function curveChart(found) {
  const chosen = found.find((point) => point.kind === "chosen");
  const title = "Duplicates removed against pages lost, as more doubtful rules are allowed. " +
    (chosen ? `Chosen: ${percent(chosen.removed)} removed, ${percent(chosen.lost)} lost.` : "");
  const caption = "Each point is a rule set, measured on these URLs: from no rules, rules are allowed in the order of the bound on their false positives. " +
    (found.some((point) => point.kind === "refused") ? "Behind the chosen point, the dashed line shows what candidates would bring that learning refused." : "");
  return chart(title, caption, (width) => {
    const x = { low: 0, high: 100 * Math.max(0.002, ...found.map((point) => point.lost)) * 1.08, label: "pages lost, % of pages" };
    if (chosen) x.high = Math.max(x.high, 105 * chosen.lost_95[1]);
    x.stretch = x.high > 2;
    if (x.stretch) x.label += ", stretched near 0";
    const y = { low: 0, high: Math.max(100, ...found.map((point) => 100 * point.removed)), label: "duplicates removed, %" };
    const { along, up, marks } = axes(width, Math.max(250, Math.min(380, width * 0.55)), x, y);
    const spot = (point) => [along(100 * point.lost), up(100 * point.removed)];
    const way = (some) => some.map((point, at) => `${at ? "L" : "M"}${spot(point).map((each) => each.toFixed(1)).join(" ")}`).join("");
    const taken = found.filter((point) => point.kind !== "refused");
    const refused = [chosen, ...found.filter((point) => point.kind === "refused")].filter(Boolean);
    marks.push(draw("path", { d: way(taken), fill: "none", stroke: "var(--saved)", "stroke-width": 2.5 }));
    if (refused.length > 1) marks.push(draw("path", { d: way(refused), fill: "none", stroke: "var(--risk)", "stroke-width": 2, "stroke-dasharray": "6 5" }));
    if (chosen) marks.push(...whiskers(chosen, spot(chosen), along, up, x.high), ...chosenLabel(chosen, spot(chosen), width));
    for (const point of found) {
      const [cx, cy] = spot(point);
      const told = `${many(point.rules, "rule")}: ${percent(point.removed)} removed, ${percent(point.lost)} lost`;
      const shape = point.kind === "refused"
        ? draw("path", { d: `M${cx} ${cy - 5}l5 9h-10z`, fill: "var(--risk)" })
        : draw("circle", { cx, cy, r: point.kind === "chosen" ? 7 : 4, fill: point.kind === "none" ? "var(--card)" : "var(--saved)", stroke: "var(--saved)", "stroke-width": 2 });
      marks.push(draw("g", {}, draw("title", {}, told), shape));
    }
    return { height: Math.max(250, Math.min(380, width * 0.55)), marks };
  });
}
function whiskers(point, [cx, cy], along, up, high) {
  const thin = { stroke: "var(--ink)", "stroke-width": 1.5 };
  const ends = point.lost_95.map((each) => along(Math.min(100 * each, high)));
  const tops = point.removed_95.map((each) => up(100 * each));
  return [line(ends[0], cy, ends[1], cy, thin), line(cx, tops[0], cx, tops[1], thin)];
}
function chosenLabel(point, [cx, cy], width) {
  const left = cx < width * 0.6;
  const text = `chosen: ${many(point.rules, "rule")}`;
  return [word(cx + (left ? 12 : -12), cy - 12, text, { "text-anchor": left ? "start" : "end", "font-weight": 650 })];
}

function methodsChart(rows) {
  const title = "Methods side by side: share of the duplicates removed and share of the pages lost, with 95 % intervals";
  return chart(title, "Dots are what was measured on pages that no method saw; lines are 95 % intervals.", (width) => {
    const narrow = width < 560;
    const names = narrow ? 0 : Math.min(190, 12 + 7.4 * Math.max(...rows.map((row) => nameOf(row).length)));
    const step = narrow ? 40 : 26;
    const gap = 34;
    const room = (width - names - gap - 24) / 2;
    const panels = [
      { from: names + 10, high: Math.max(100, ...rows.map((row) => 100 * row.removed)), key: "removed", colour: "var(--saved)", label: "duplicates removed, %" },
      { from: names + 10 + room + gap, high: Math.max(0.5, ...rows.map((row) => 108 * row.lost_95[1])), key: "lost", colour: "var(--risk)", label: "pages lost, %" },
    ];
    const bottom = 12 + rows.length * step;
    const marks = [];
    for (const { from, high, key, colour, label } of panels) {
      const along = (value) => from + (room * Math.min(value, high)) / high;
      for (const tick of ticks(0, high, narrow ? 2 : 4)) {
        marks.push(line(along(tick), 8, along(tick), bottom, { class: "grid" }), word(along(tick), bottom + 17, points(tick), { class: "tick", "text-anchor": "middle" }));
      }
      marks.push(line(from, bottom, from + room, bottom, { class: "axis" }), word(from + room / 2, bottom + 36, label, { "text-anchor": "middle" }));
      rows.forEach((row, at) => {
        const y = 12 + at * step + step * (narrow ? 0.7 : 0.5);
        const [low, top] = row[`${key}_95`];
        marks.push(line(along(100 * low), y, along(100 * top), y, { stroke: colour, "stroke-width": 2 }));
        marks.push(draw("circle", { cx: along(100 * row[key]), cy: y, r: 5, fill: colour }));
      });
    }
    rows.forEach((row, at) => {
      const y = 12 + at * step + (narrow ? step * 0.32 : step * 0.5 + 4);
      marks.push(word(narrow ? 10 : names, y, nameOf(row), { "text-anchor": narrow ? "start" : "end", "font-weight": row.method === "undust" ? 650 : 400 }));
    });
    return { height: bottom + 44, marks };
  });
}
const nameOf = (row) => (row.max_fpr === null || row.max_fpr === undefined || !row.swept ? row.method : `${row.method} ≤ ${row.max_fpr}`);
