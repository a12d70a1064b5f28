// What attacks read of a few texts, before and after protection, side by side.

function startReadings(root, data) {
  const select = (name) => root.querySelector(`select[name="${name}"]`);
  const readings = data.examples.flatMap((example) => example.readings);
  const points = [...new Set(readings.map((reading) => reading.point))].sort((a, b) => a - b);
  const protectedPoints = points.filter((number) => data.points[number].series !== null);
  fillSelect(select("attack"), [...new Set(readings.map((reading) => reading.attack))]);
  // A sentence says more at first sight than a list of words.
  select("attack").value = readings.find((reading) => reading.text !== null)?.attack ?? select("attack").value;
  fillSelect(select("defense"), [...new Set(protectedPoints.map((number) => data.points[number].name))]);
  const fillBudgets = () => {
    const numbers = protectedPoints.filter((number) => data.points[number].name === select("defense").value);
    const before = select("budget").selectedOptions[0]?.textContent;
    fillSelect(select("budget"), numbers.map(String),
      Object.fromEntries(numbers.map((number) => [number, data.points[number].budget || "no budget"])));
    const same = numbers.find((number) => data.points[number].budget === before);
    select("budget").value = same ?? numbers[Math.floor(numbers.length / 2)] ?? "";
  };
  const draw = () => {
    const attack = select("attack").value;
    const cards = data.examples.map((example) => exampleCard(data, example, attack, Number(select("budget").value)));
    root.querySelector(".examples").replaceChildren(...cards);
  };
  fillBudgets();
  for (const one of root.querySelectorAll("select")) {
    one.addEventListener("change", () => {
      if (one.name === "defense") fillBudgets();
      draw();
    });
  }
  draw();
}

function exampleCard(data, example, attack, number) {
  const at = (test) => example.readings.find((reading) => reading.attack === attack && test(reading.point));
  const before = at((point) => data.points[point].series === null);
  const after = at((point) => point === number);
  const name = data.points[number] ? pointTitle(data.points[number]) : "protected";
  return element("article", { class: "example" },
    element("div", { class: "original" }, element("h4", {}, "Original text"), markedText(example.original)),
    readingPart("Read from the unprotected vector", before, example),
    readingPart(`Read behind ${name}`, after, example));
}

/** Show pieces of a text; a piece with a mark is private, or leaked. */
function markedText(segments) {
  const pieces = segments.map(([text, mark]) => {
    if (!mark) return text;
    if (mark === "leaked") return element("mark", {}, text);
    return element("span", { class: "private", title: mark }, text);
  });
  return element("p", { class: "text", dir: "auto" }, ...(pieces.length ? pieces : [NOTHING]));
}

function readingPart(title, reading, example) {
  const part = element("div", { class: "reading" }, element("h4", {}, title));
  if (!reading) {
    part.append(element("p", { class: "note" }, "Nothing was kept of this reading."));
    return part;
  }
  part.append(reading.text === null
    ? element("p", { class: "note" }, "This attack names words and writes no sentence.")
    : markedText(reading.text));
  part.append(wordList(reading, example));
  return part;
}

/** Show which private words were read back, and which were not. */
function wordList(reading, example) {
  const leaked = new Set(reading.leaked);
  const words = [...new Set([...example.tokens, ...reading.leaked])];
  const similar = reading.similarity === null ? "" : `; similarity ${reading.similarity.toFixed(2)}`;
  const count = words.filter((word) => leaked.has(word)).length;
  return element("p", { class: "word-list" },
    element("span", { class: "note" }, `${count} of ${words.length} private words read back${similar}`),
    ...words.map((word) => leaked.has(word)
      ? element("mark", { dir: "auto" }, word)
      : element("span", { class: "held", dir: "auto" }, word)));
}
