from __future__ import annotations

from reproduction.sentences import Shown, sentences_table
from vecveil.audit.rows import Reconstruction, Setting

PLAIN = Setting(defense="none", label="none", asked="", readings=None, seed=0)


def _reading(text: str | None, *leaked: str, similarity: float | None = 0.5) -> Reconstruction:
    return Reconstruction(setting=PLAIN, attack="nearest", text=text, leaked=leaked, similarity=similarity)


def test_what_was_written_stands_above_what_was_read() -> None:
    readings = {
        "no defense": _reading("a man with gout", "gout", "man"),
        "SPARSE": _reading("a man with something", "man"),
        "LapMech": _reading(None, similarity=None),
    }
    table = sentences_table([Shown(example="disease", text="A man with gout.", private={"gout"}, readings=readings)])
    # Only words that the example is about make a sentence read.
    assert [[cell.text for cell in row[1:]] for row in table.rows] == [
        ["what was written", "–", "–", "A man with gout."],
        ["no defense", "read", "0.500", "a man with gout"],
        ["SPARSE", "hidden", "0.500", "a man with something"],
        ["LapMech", "hidden", "–", "–"],
    ]
    assert "keep this table as safe" in table.note
