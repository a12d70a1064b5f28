from __future__ import annotations

from pathlib import Path

import pytest

from support.audits import made_audit
from support.command_line import CommandLine, check_refusal, listing
from vecveil.cli.demo import write_picture


def test_a_picture_of_the_table_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    write_picture(made_audit(), tmp_path / "table.svg")
    drawing = (tmp_path / "table.svg").read_text(encoding="utf-8")
    assert drawing.startswith("<svg")
    assert "LapMech" in drawing
    assert "url(http" not in drawing
    assert "@font-face" not in drawing


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--picture", "mine/thesis.svg"), ("mine/thesis.svg exists already",)),
        (("--out", "mine"), ("mine exists already and holds no demo",)),
        (("--texts", "20"), ("20", "300")),
    ],
)
def test_what_is_not_a_demo_is_never_replaced(
    run: CommandLine, work: Path, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    (work / "mine").mkdir()
    (work / "mine" / "thesis.svg").write_text("years of it")
    before = listing(work)
    check_refusal(run("demo", *options), *named)
    assert listing(work) == before
