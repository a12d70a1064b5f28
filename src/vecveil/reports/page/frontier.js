// The privacy–utility frontier: utility kept against what an attacker reads, a line for each defense.

const NOISE = "noise ratio";
const REACH = 18;
const COVERED = 8;
const MARGIN = { top: 14, right: 18, bottom: 46, left: 52 };

function startFrontier(root, data) {
  const state = {
    data,
    root,
    frame: root.querySelector(".frame"),
    tip: root.querySelector(".tip"),
    hidden: new Set(),
    pinned: new Set(),
    current: null,
    shown: null,
    places: new Map(),
  };
  const readers = [...data.attacks.map((name) => `attack ${name}`), ...data.probes.map((name) => `probe ${name}`)];
  fillSelect(choice(state, "task"), [...data.tasks, NOISE], { [NOISE]: "none: show the noise ratio" });
  fillSelect(choice(state, "reader"), readers, Object.fromEntries(readers.map((name) => [name, readerTitle(name)])));
  fillMeasures(state);
  fillLegend(state);
  for (const select of root.querySelectorAll("select")) {
    select.addEventListener("change", () => {
      if (select.name === "reader") fillMeasures(state);
      drawFrontier(state);
    });
  }
  root.addEventListener("keydown", (event) => event.key === "Escape" && hideTip(state));
  redrawOnResize(state.frame, () => drawFrontier(state));
}

function choice(state, name) {
  return state.root.querySelector(`select[name="${name}"]`);
}

/** Offer the measures that the chosen attack has; a probe has its AUC alone. */
function fillMeasures(state) {
  const select = choice(state, "measure");
  const before = select.value;
  const names = choice(state, "reader").value.startsWith("probe ") ? ["auc"] : Object.keys(MEASURES);
  fillSelect(select, names, Object.fromEntries(names.map((name) => [name, MEASURES[name].title])));
  select.value = names.includes(before) ? before : names[0];
}

function fillLegend(state) {
  const buttons = state.data.defenses.map((name, series) => {
    const key = shape("svg", { viewBox: "-14 -10 28 20", class: "key wide", "aria-hidden": "true" },
      shape("path", { d: "M -14 0 L 14 0", class: `line ${seriesClass(series)}` }), mark(series, 6));
    const button = element("button", { type: "button", "aria-pressed": "true", "data-defense": name }, key, name);
    button.addEventListener("click", () => {
      const show = state.hidden.delete(name);
      if (!show) state.hidden.add(name);
      button.setAttribute("aria-pressed", String(show));
      drawFrontier(state);
    });
    return button;
  });
  const star = shape("svg", { viewBox: "-10 -10 20 20", class: "key", "aria-hidden": "true" }, mark(null, 6));
  state.root.querySelector(".legend").replaceChildren(...buttons, element("span", {}, star, "unprotected"));
}

/** Return the points that can be drawn with the present choices, with their places and intervals. */
function placedPoints(state) {
  const task = choice(state, "task").value;
  const reader = choice(state, "reader").value;
  const measure = choice(state, "measure").value;
  return state.data.points.flatMap((point, number) => {
    const x = task === NOISE ? noisePlace(point) : point.tasks[task]?.kept;
    const y = finding(point, reader)?.[measure];
    const missing = !x || !y || y.value === null || state.hidden.has(point.name);
    return missing ? [] : [{ number, point, x, y }];
  });
}

function noisePlace(point) {
  if (point.series === null) return { value: 0 };
  return point.readings && point.readings.noiseRatio !== null ? { value: point.readings.noiseRatio } : null;
}

function drawFrontier(state) {
  const placed = placedPoints(state);
  const focused = state.frame.contains(document.activeElement) ? state.current : null;
  const width = state.frame.clientWidth;
  const height = Math.round(Math.max(300, Math.min(470, width * 0.55)));
  hideTip(state);
  drawPins(state);
  state.frame.querySelector(":scope > svg")?.remove();
  if (!placed.length) return showEmpty(state, true);
  showEmpty(state, false);
  if (!placed.some(({ number }) => number === state.current)) state.current = placed[0].number;
  const axes = frontierAxes(state, placed, width, height);
  state.places = new Map(placed.map(({ number, x, y }) => [number, [axes.x(x.value), axes.y(y.value)]]));
  const canvas = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": axes.title },
    axes.drawn,
    ...chanceLine(state, axes, width),
    ...state.data.defenses.map((_, series) => seriesLine(placed, series, axes)),
    ...placed.map((one) => whiskers(one, axes)),
    ...placed.map((one) => drawnPoint(state, one, axes)));
  listenToPointer(state, canvas);
  state.frame.append(canvas);
  if (focused !== null) state.frame.querySelector(`[data-point="${state.current}"]`)?.focus();
}

function showEmpty(state, empty) {
  state.root.querySelector(".empty").hidden = !empty;
}

function frontierAxes(state, placed, width, height) {
  const task = choice(state, "task").value;
  const measure = MEASURES[choice(state, "measure").value];
  const byNoise = task === NOISE;
  const ends = (place) => placed.flatMap((one) => [one[place].value, one[place].low, one[place].high])
    .filter((value) => typeof value === "number");
  const across = byNoise ? roundRange(ends("x"), [0, 0.1]) : roundRange(ends("x"), [1, 0.9]);
  const upward = roundRange(ends("y"), measure.share ? [0, 0.1] : [0.45, 1]);
  const x = linear(across, [MARGIN.left, width - MARGIN.right]);
  const y = linear(upward, [height - MARGIN.bottom, MARGIN.top]);
  const titles = {
    x: byNoise ? "Noise-to-signal ratio" : `Utility kept: ${task}`,
    y: `${measure.title}, ${readerTitle(choice(state, "reader").value)}`,
  };
  const bottom = height - MARGIN.bottom;
  const drawn = shape("g", { class: "axes", "aria-hidden": "true" },
    ...ticks(upward, 5).flatMap((value) => [
      shape("path", { class: "rule", d: `M ${MARGIN.left} ${y(value)} H ${width - MARGIN.right}` }),
      shape("text", { x: MARGIN.left - 10, y: y(value) + 4, class: "end" }, tickText(value, measure.share)),
    ]),
    ...ticks(across, width < 500 ? 4 : 7).map((value) =>
      shape("text", { x: x(value), y: bottom + 20, class: "middle" }, tickText(value, !byNoise))),
    shape("path", { class: "base", d: `M ${MARGIN.left} ${bottom} H ${width - MARGIN.right}` }),
    shape("text", { x: (MARGIN.left + width - MARGIN.right) / 2, y: height - 6, class: "middle title" }, titles.x),
  );
  state.root.querySelector(".upward").textContent = titles.y;
  return { x, y, drawn, title: `${titles.y}, against: ${titles.x}` };
}

function tickText(value, share) {
  return share ? `${Math.round(100 * value)} %` : String(Number(value.toFixed(2)));
}

/** Draw what guessing gives, as the unprotected run measured it. */
function chanceLine(state, axes, width) {
  const control = state.data.points.find((point) => point.series === null);
  const found = control && finding(control, choice(state, "reader").value);
  const chance = found && MEASURES[choice(state, "measure").value].chance(found);
  if (typeof chance !== "number") return [];
  const y = axes.y(chance);
  return [
    shape("path", { class: "chance", d: `M ${MARGIN.left} ${y} H ${width - MARGIN.right}` }),
    shape("text", { class: "end", x: width - MARGIN.right, y: y - 6 }, "chance"),
  ];
}

function seriesLine(placed, series, axes) {
  const places = placed.filter(({ point }) => point.series === series);
  const d = places.map(({ x, y }) => `${axes.x(x.value).toFixed(1)} ${axes.y(y.value).toFixed(1)}`).join(" L ");
  return shape("path", { class: `line ${seriesClass(series)}`, d: places.length > 1 ? `M ${d}` : "" });
}

function whiskers({ point, x, y }, axes) {
  const upright = typeof y.low === "number"
    ? `M ${axes.x(x.value)} ${axes.y(y.low)} V ${axes.y(y.high)}` : "";
  const level = typeof x.low === "number" && x.low < x.high
    ? `M ${axes.x(x.low)} ${axes.y(y.value)} H ${axes.x(x.high)}` : "";
  return shape("path", { class: `whisker ${seriesClass(point.series)}`, d: `${upright} ${level}` });
}

function drawnPoint(state, one, axes) {
  const { number, point, x, y } = one;
  const measure = MEASURES[choice(state, "measure").value];
  const kept = choice(state, "task").value === NOISE ? "" : `, utility kept ${percent(x.value)}`;
  const pinned = state.pinned.has(number);
  const node = shape("g", {
    class: pinned ? "point pinned" : "point",
    transform: `translate(${axes.x(x.value)} ${axes.y(y.value)})`,
    tabindex: number === state.current ? 0 : -1,
    role: "button",
    "aria-pressed": String(pinned),
    "aria-label": `${pointTitle(point)}: ${measure.title} ${estimated(y, measure.share)}${kept}`,
    "aria-describedby": state.tip.id,
    "data-point": number,
  }, shape("circle", { class: "halo", r: 12 }), mark(point.series, 6), ...budgetName(point));
  node.addEventListener("focus", () => showTip(state, number));
  node.addEventListener("blur", () => hideTip(state));
  node.addEventListener("keydown", (event) => pointKey(state, event, number));
  return node;
}

/** Marks may lie on one another, so the pointer finds the nearest one and not the topmost. */
function listenToPointer(state, canvas) {
  const nearest = (event) => {
    const corner = canvas.getBoundingClientRect();
    return pointsNear(state, [event.clientX - corner.left, event.clientY - corner.top], REACH)[0] ?? null;
  };
  canvas.addEventListener("pointermove", (event) => {
    const number = nearest(event);
    canvas.classList.toggle("pointing", number !== null);
    if (number === null) hideTip(state);
    else showTip(state, number);
  });
  canvas.addEventListener("pointerleave", () => hideTip(state));
  canvas.addEventListener("click", (event) => {
    const number = nearest(event);
    if (number !== null) togglePin(state, number);
  });
}

/** Return the points within `reach` of a place, the nearest first. */
function pointsNear(state, [x, y], reach) {
  const away = (number) => Math.hypot(state.places.get(number)[0] - x, state.places.get(number)[1] - y);
  return [...state.places.keys()].filter((number) => away(number) <= reach).sort((a, b) => away(a) - away(b));
}

/** Name the noise of the first defense's points; more names would only hide one another. */
function budgetName(point) {
  if (point.series !== 0 || !point.readings?.noiseRatio) return [];
  return [shape("text", { class: "budget", x: 9, y: 16 }, significant(point.readings.noiseRatio))];
}

/** Enter and space pin a point; arrows go to its neighbors. */
function pointKey(state, event, number) {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    togglePin(state, number);
  } else if (event.key in steps) {
    event.preventDefault();
    const numbers = placedPoints(state).map((one) => one.number);
    const place = numbers.indexOf(number) + steps[event.key];
    state.frame.querySelector(`[data-point="${number}"]`).setAttribute("tabindex", -1);
    state.current = numbers[(place + numbers.length) % numbers.length];
    const next = state.frame.querySelector(`[data-point="${state.current}"]`);
    next.setAttribute("tabindex", 0);
    next.focus();
  }
}

function togglePin(state, number) {
  if (!state.pinned.delete(number)) state.pinned.add(number);
  state.current = number;
  drawFrontier(state);
}

function drawPins(state) {
  const cards = [...state.pinned].map((number) => {
    const button = element("button", { type: "button", class: "unpin" }, "Remove");
    button.addEventListener("click", () => togglePin(state, number));
    return element("div", { class: "card" }, ...pointCard(state.data.points[number], choice(state, "reader").value), button);
  });
  state.root.querySelector(".pins").replaceChildren(...cards);
}

function showTip(state, number) {
  if (!state.tip.hidden && state.shown === number) return;
  hideTip(state);
  state.shown = number;
  const covered = pointsNear(state, state.places.get(number), COVERED).filter((other) => other !== number);
  const names = covered.map((other) => pointTitle(state.data.points[other])).join("; ");
  state.tip.replaceChildren(
    ...pointCard(state.data.points[number], choice(state, "reader").value),
    names ? element("p", { class: "card-part" }, `In the same place: ${names}`) : "");
  state.tip.hidden = false;
  state.frame.querySelector(`[data-point="${number}"]`).classList.add("shown");
  placeTip(state, state.places.get(number));
}

/** Put the numbers beside their mark, or under the plot where there is no room beside it. */
function placeTip(state, [x, y]) {
  const { tip, frame } = state;
  const room = frame.clientWidth - tip.offsetWidth;
  const beside = x + 22 <= room ? x + 22 : x - 22 - tip.offsetWidth;
  const fits = beside >= 0;
  tip.style.left = `${fits ? beside : 0}px`;
  tip.style.top = `${fits ? Math.max(0, y - tip.offsetHeight / 3) : frame.clientHeight}px`;
}

function hideTip(state) {
  state.tip.hidden = true;
  state.frame.querySelector(".shown")?.classList.remove("shown");
}
