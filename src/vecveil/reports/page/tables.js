// Tables that can be sorted by a column, and narrowed to one attack.

function startTable(table) {
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    const button = element("button", { type: "button" }, header.textContent);
    header.replaceChildren(button);
    button.addEventListener("click", () => sortTable(table, headers, column));
  });
}

function sortTable(table, headers, column) {
  const down = headers[column].getAttribute("aria-sort") === "ascending";
  for (const header of headers) header.removeAttribute("aria-sort");
  headers[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows];
  rows.sort((one, other) => compareCells(one.cells[column], other.cells[column], down ? -1 : 1));
  table.tBodies[0].append(...rows);
}

/** Order numbers as numbers, words as words, and what is missing last in either direction. */
function compareCells(one, other, direction) {
  const [first, second] = [one.dataset.value, other.dataset.value];
  if (first === "" || second === "") return (first === "") - (second === "");
  const difference = Number(first) - Number(second);
  return direction * (Number.isNaN(difference) ? first.localeCompare(second) : difference);
}

/** Offer the values of the first column above a long table, and show the rows of one or of all. */
function startFilter(table) {
  const values = [...new Set([...table.tBodies[0].rows].map((row) => row.cells[0].textContent.trim()))];
  if (values.length < 2) return;
  const title = table.tHead.rows[0].cells[0].textContent;
  const select = element("select", {});
  fillSelect(select, ["", ...values], { "": "all" });
  select.addEventListener("change", () => {
    for (const row of table.tBodies[0].rows) {
      row.hidden = select.value !== "" && row.cells[0].textContent.trim() !== select.value;
    }
  });
  table.closest(".scroll").before(element("p", { class: "choices" }, element("label", {}, title, select)));
}
