// Leakage by category of the concept: a row for each category, a mark for each defense.

const ROW_HEIGHT = 58;

function startCategories(root, data) {
  const frame = root.querySelector(".frame");
  const select = (name) => root.querySelector(`select[name="${name}"]`);
  const budgets = [...new Set(data.points.map((point) => point.budget).filter(Boolean))];
  fillSelect(select("attack"), data.attacks);
  fillSelect(select("budget"), budgets);
  fillSelect(select("measure"), ["leakage", "confidence"], { leakage: "Leakage", confidence: "Confidence" });
  select("budget").value = budgets[Math.floor(budgets.length / 2)] ?? "";
  const draw = () => {
    const shown = { attack: select("attack").value, budget: select("budget").value, measure: select("measure").value };
    drawCategories(frame, data, shown);
  };
  for (const one of root.querySelectorAll("select")) one.addEventListener("change", draw);
  drawKey(root.querySelector(".legend"), data);
  redrawOnResize(frame, draw);
}

function drawKey(legend, data) {
  const entry = (series, name) => element("span", {},
    shape("svg", { viewBox: "-10 -10 20 20", class: "key", "aria-hidden": "true" }, mark(series, 6)), name);
  legend.replaceChildren(entry(null, "unprotected"), ...data.defenses.map((name, series) => entry(series, name)));
}

function drawCategories(frame, data, { attack, budget, measure }) {
  // A defense without a budget, such as one on the texts, can be held beside any.
  const points = data.points.filter((point) => point.attacks[attack] && (!point.budget || point.budget === budget));
  const width = frame.clientWidth;
  const left = Math.min(150, width * 0.28);
  const height = data.categories.length * ROW_HEIGHT + 34;
  const ends = points.flatMap((point) => Object.values(point.attacks[attack].categories))
    .map((found) => found[measure]?.high ?? 0);
  const range = roundRange(ends, [0, 0.1]);
  const x = linear(range, [left, width - 16]);
  const rows = data.categories.map((category, row) => categoryRow({ points, attack, category, measure, row, x, width }));
  const axis = ticks(range, width < 500 ? 4 : 8).flatMap((value) => [
    shape("path", { class: "rule", d: `M ${x(value)} 0 V ${height - 28}` }),
    shape("text", { class: "middle", x: x(value), y: height - 8 }, tickText(value, true)),
  ]);
  frame.replaceChildren(
    shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `${MEASURES[measure].title} by category, ${attack}, ${budget}; the table below has the numbers` },
      ...axis, ...rows),
  );
}

function categoryRow({ points, attack, category, measure, row, x, width }) {
  const middle = row * ROW_HEIGHT + ROW_HEIGHT / 2;
  const step = Math.min(11, (ROW_HEIGHT - 16) / Math.max(1, points.length - 1));
  const tokens = points.map((point) => point.attacks[attack].categories[category]?.tokens).find(Boolean);
  const marks = points.flatMap((point, place) => {
    const found = point.attacks[attack].categories[category]?.[measure];
    if (!found) return [];
    const y = middle + (place - (points.length - 1) / 2) * step;
    const series = seriesClass(point.series);
    return [
      shape("path", { class: `whisker ${series}`, d: `M ${x(found.low)} ${y} H ${x(found.high)}` }),
      shape("g", { transform: `translate(${x(found.value)} ${y})` },
        mark(point.series, 5), shape("title", {}, `${pointTitle(point)}: ${estimated(found, true)}`)),
    ];
  });
  const last = (row + 1) * ROW_HEIGHT;
  return shape("g", {},
    shape("text", { class: "category", x: 0, y: middle - 1 }, category),
    shape("text", { class: "note", x: 0, y: middle + 15 }, tokens ? `${tokens.toLocaleString("en")} tokens` : ""),
    shape("path", { class: "rule", d: `M 0 ${last} H ${width}` }),
    ...marks);
}
