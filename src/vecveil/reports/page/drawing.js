// Elements, scales and marks that the plots share.

/** Make an HTML element. Strings become text nodes, so no text is ever read as markup. */
function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Make an SVG element. */
function shape(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Fill a select with names; `titles` may show them in other words. */
function fillSelect(select, names, titles = {}) {
  select.replaceChildren(...names.map((name) => element("option", { value: name }, titles[name] ?? name)));
}

/** Return a map from numbers between `low` and `high` to places between `start` and `end`. */
function linear([low, high], [start, end]) {
  return (value) => start + ((value - low) / (high - low)) * (end - start);
}

/** Return round numbers from `low` to `high`, at most `most` of them. */
function ticks([low, high], most) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const count = Math.floor(high / step + 1e-6) - Math.ceil(low / step - 1e-6) + 1;
  const first = Math.ceil(low / step - 1e-6);
  return Array.from({ length: count }, (_, place) => (first + place) * step);
}

/** Return the smallest range of round tenths that holds all `values` and `always`. */
function roundRange(values, always) {
  const all = [...values, ...always];
  return [Math.floor(Math.min(...all) * 10 + 1e-6) / 10, Math.ceil(Math.max(...all) * 10 - 1e-6) / 10];
}

// Each defense has a shape as well as a color, for readers who can't tell the colors apart.
const MARKS = [
  (size) => `M ${-size} 0 A ${size} ${size} 0 1 0 ${size} 0 A ${size} ${size} 0 1 0 ${-size} 0 Z`,
  (size) => polygon([[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]], size),
  (size) => polygon([[0, -1.15], [1.05, 0.75], [-1.05, 0.75]], size),
  (size) => polygon([[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]], size),
  (size) => polygon([[0, 1.15], [1.05, -0.75], [-1.05, -0.75]], size),
  (size) => polygon([[-1.2, -0.4], [-0.4, -0.4], [-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4],
    [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4]], size),
];

/** Draw the mark of a defense, a star for unprotected vectors. */
function mark(series, size) {
  const outline = series === null ? star(size * 1.5) : MARKS[series % MARKS.length](size);
  return shape("path", { d: outline, class: `mark ${seriesClass(series)}` });
}

/** Return the class that gives a defense its color. */
function seriesClass(series) {
  return series === null ? "series-none" : `series-${series % MARKS.length}`;
}

function star(size) {
  const corners = Array.from({ length: 10 }, (_, corner) => {
    const angle = (corner * Math.PI) / 5 - Math.PI / 2;
    const radius = corner % 2 ? 0.45 : 1;
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
  return polygon(corners, size);
}

function polygon(corners, size) {
  return `M ${corners.map(([x, y]) => `${(x * size).toFixed(2)} ${(y * size).toFixed(2)}`).join(" L ")} Z`;
}

/** Draw now, and again whenever the width of `frame` changes. */
function redrawOnResize(frame, draw) {
  let width = frame.clientWidth;
  draw();
  new ResizeObserver(() => {
    if (frame.clientWidth === width) return;
    width = frame.clientWidth;
    draw();
  }).observe(frame);
}
