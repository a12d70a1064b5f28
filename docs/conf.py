"""Settings of the documentation site, which `make docs` builds."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT / "src"))

project = "vecveil"
author = "The vecveil maintainers"
release = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]

# Links to headings are checked down to this level.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
# Docstrings mark code by single backticks, as Markdown does.
default_role = "code"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = f"vecveil {release}"
html_show_sourcelink = False
html_copy_source = False

_LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#\s]+)\)")


def name_folders(app: Any, page: str, source: list[str]) -> None:
    """Name folders of the repository in place of linking to them: the site has their files only."""
    del app
    here = (DOCS / page).parent

    def name(link: re.Match[str]) -> str:
        target = (here / link[2]).resolve()
        return f"{link[1]} (`{target.relative_to(ROOT)}`)" if target.is_dir() else link[0]

    source[0] = _LINK.sub(name, source[0])


def keep_colon(_app: Any, what: str, *rest: Any) -> None:
    """Keep napoleon from taking what stands before the first colon of a property's docstring for its type."""
    lines = rest[-1]
    if what == "property":
        lines[0] = lines[0].replace(": ", " – ", 1)


def setup(app: Any) -> None:
    """Connect what Sphinx calls."""
    app.connect("source-read", name_folders)
    # Before napoleon, which comes at 500.
    app.connect("autodoc-process-docstring", keep_colon, priority=400)
