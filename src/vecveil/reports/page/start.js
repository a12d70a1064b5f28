// Bring the page to life: everything it needs stands in its data element.

const pageData = JSON.parse(document.getElementById("data").textContent);

for (const table of document.querySelectorAll("table.filtered")) startFilter(table);
for (const table of document.querySelectorAll("table.sortable")) startTable(table);
const parts = { frontier: startFrontier, "category-plot": startCategories, readings: startReadings };
for (const [id, start] of Object.entries(parts)) {
  const root = document.getElementById(id);
  if (root) start(root, pageData);
}
// Sections are folded; a link to one opens it.
function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  const fold = target && target.querySelector("details.fold");
  if (fold) fold.open = true;
}
window.addEventListener("hashchange", openTarget);
openTarget();
// Paper has nothing to unfold; tables of hundreds of rows are better read as files.
window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not(:has(.filtered))")) details.open = true;
});
