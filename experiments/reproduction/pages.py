"""Put what `python -m reproduction` wrote into the pages of docs/reproduction: pages.py OUT LABEL.

LABEL names the run, such as `quick`. Tables go between the marks of each page, figures beside the pages, and every row
as JSON to experiments/reproduction/results/LABEL. Sentences of the data are left out.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "reproduction"
FIRST, LAST = "<!-- figures of {} -->", "<!-- end of {} -->"


def main(out: Path, label: str) -> None:
    """Fill the pages."""
    kept = ROOT / "experiments" / "reproduction" / "results" / label
    for folder in sorted(path.parent for path in out.glob("*/result.json")):
        name = folder.name
        page = PAGES / f"{name}.md"
        text = page.read_text(encoding="utf-8")
        first, last = FIRST.format(label), LAST.format(label)
        if first not in text:
            text += f"\n## Figures, {label} run\n{first}\n{last}\n"
        before, rest = text.split(first)
        after = rest.split(last)[1]
        # The first table alone: others hold sentences.
        table = (folder / f"{name}.md").read_text(encoding="utf-8").split("\n## ")[0]
        body = table.split("\n", 1)[1]
        plots = sorted(folder.glob("*.svg"))
        for plot in plots:
            shutil.copy(plot, PAGES / f"{plot.stem}-{label}.svg")
        shown = "\n".join(f"![{plot.stem}]({plot.stem}-{label}.svg)" for plot in plots)
        page.write_text(f"{before}{first}\n{body}\n{shown}\n{last}{after}", encoding="utf-8")
        (kept / name).mkdir(parents=True, exist_ok=True)
        for file in (folder / "result.json", folder / f"{name}.csv"):
            shutil.copy(file, kept / name / file.name)
        print(name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
