// Numbers as people read them, and everything that is known about a point.

const NOTHING = "–";

const MEASURES = {
  rPrecision: { title: "Words read", share: true, chance: (found) => found.rChance },
  leakage: { title: "Leakage", share: true, chance: (found) => found.chance },
  confidence: { title: "Confidence", share: true, chance: () => null },
  topOne: { title: "Top-1 accuracy", share: true, chance: () => null },
  auc: { title: "AUC", share: false, chance: () => 0.5 },
};

function percent(value) {
  return `${(100 * value).toFixed(1)} %`;
}

function significant(value) {
  return value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}

/** Return a number with its interval, as a share or as it is. */
function estimated(estimate, share) {
  if (!estimate || estimate.value === null) return NOTHING;
  const shown = share ? (part) => (100 * part).toFixed(1) : (part) => part.toFixed(3);
  const middle = shown(estimate.value) + (share ? " %" : "");
  const known = typeof estimate.low === "number" && estimate.low < estimate.high;
  return known ? `${middle} [${shown(estimate.low)}, ${shown(estimate.high)}]` : middle;
}

/** Return what an attack or probe found at a point; `reader` is such as "attack mlc" or "probe linear". */
function finding(point, reader) {
  const [kind, ...name] = reader.split(" ");
  return (kind === "probe" ? point.probes : point.attacks)[name.join(" ")];
}

/** Return the name of a point with its budget. */
function pointTitle(point) {
  return point.budget ? `${point.name}, ${point.budget}` : point.name;
}

/** Return the budget of a point in its three readings. */
function dialLines(point) {
  if (!point.readings) return [];
  const { epsilon, distance, noiseRatio, pairLoss } = point.readings;
  return [
    ["ε", `${significant(epsilon)} nats per unit of ${distance}`],
    ["Noise ratio", significant(noiseRatio)],
    ["Median pair", `at most ${significant(pairLoss)} nats`],
  ];
}

/** Return all that one attack or probe found at a point. */
function findingLines(point, reader) {
  const found = finding(point, reader);
  if (!found) return [];
  if (reader.startsWith("probe ")) return [["AUC", estimated(found.auc, false)], ["Seeds", String(found.seeds)]];
  return [
    ["Words read", estimated(found.rPrecision, true)],
    ["By guessing", percent(found.rChance)],
    ["Leakage", estimated(found.leakage, true)],
    ["Chance", percent(found.chance)],
    ["Confidence", estimated(found.confidence, true)],
    ["Precision", estimated(found.precision, true)],
    ["Top-1 accuracy", estimated(found.topOne, true)],
    ["AUC", estimated(found.auc, false)],
    ["Similarity", estimated(found.similarity, false)],
    ["Seeds", String(found.seeds)],
  ].filter(([, value]) => value !== NOTHING);
}

/** Return what every task is worth at a point. */
function taskLines(point) {
  return Object.entries(point.tasks).map(([name, task]) => {
    const score = `${task.main} ${task.score.toFixed(3)}`;
    return [name, task.kept ? `${percent(task.kept.value)} (${score})` : score];
  });
}

/** Return everything about a point, as a card. */
function pointCard(point, reader) {
  const lines = (pairs) =>
    element("dl", {}, ...pairs.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
  const head = shape("svg", { viewBox: "-10 -10 20 20", class: "key", "aria-hidden": "true" }, mark(point.series, 6));
  return [
    element("p", { class: "card-title" }, head, pointTitle(point)),
    lines(dialLines(point)),
    element("p", { class: "card-part" }, readerTitle(reader)),
    lines(findingLines(point, reader)),
    element("p", { class: "card-part" }, "Utility kept"),
    lines(taskLines(point)),
  ];
}

function readerTitle(reader) {
  return reader.startsWith("probe ") ? `${reader.slice(6)} probe` : reader.slice(7);
}
