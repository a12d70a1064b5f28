from __future__ import annotations

from vecveil.cli.main import SUMMARIES
from vecveil.cli.reference import write_reference


def test_every_command_and_every_subcommand_has_a_section_with_its_help() -> None:
    page = write_reference()
    sections = [line.strip("#` ") for line in page.splitlines() if line.startswith("## ")]
    assert [name for name in sections if name.count(" ") == 1] == [f"vecveil {name}" for name in SUMMARIES]
    assert {"vecveil key new", "vecveil key show", "vecveil client new", "vecveil ledger check"} <= {*sections}
    assert page.count("Usage: vecveil") == len(sections)
    assert page.count("```") == 2 * len(sections)
