"""Sets that can't be had here, on small files of their form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reproduction.datasets import DATASETS, Sizes
from reproduction.local_sets import sentences_of, with_local
from support.token_classifier import write_token_classifier
from vecveil.core.errors import InvalidInputError

TEXT = "Ms. Ada, female, lives in Bern, Switzerland."
MARKS = [
    {"value": "female", "start": 9, "end": 15, "label": "SEX"},
    {"value": "Bern", "start": 26, "end": 30, "label": "CITY"},
    {"value": "Switzerland", "start": 32, "end": 43, "label": "COUNTRY"},
    {"value": "Ada", "start": 4, "end": 7, "label": "GIVENNAME1"},
]


@pytest.mark.parametrize("as_json", [False, True])
def test_pii_masking_is_read_with_its_marks(tmp_path: Path, as_json: bool) -> None:
    marks = json.dumps(MARKS) if as_json else MARKS
    row = {"source_text": TEXT, "target_text": "…", "privacy_mask": marks, "language": "English", "id": "1"}
    (tmp_path / "pii.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    known = with_local({"pii-300k": tmp_path / "pii.jsonl"})["pii"]
    passages = known.some_texts(tmp_path / "elsewhere", Sizes())
    (spans,) = known.concept.find_all(passages)
    assert {TEXT[span.start : span.end]: span.label for span in spans} == {
        "female": "SEX",
        "Bern": "CITY",
        "Switzerland": "COUNTRY",
    }
    assert set(known.categories) == {"sex", "city", "state", "country"}
    assert not known.stands_in


def test_a_wrong_mark_is_refused_without_showing_it(tmp_path: Path) -> None:
    row = {"source_text": "my secret", "privacy_mask": [{"start": "secret", "end": 3, "label": "SEX"}]}
    (tmp_path / "pii.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="but not in row 0") as found:
        with_local({"pii-300k": tmp_path / "pii.jsonl"})["pii"].texts(tmp_path)
    assert "secret" not in str(found.value)


def test_clinical_notes_are_cut_into_sentences_and_marked_by_a_model(tmp_path: Path) -> None:
    note = "HISTORY:\n\nThis male has had\ncoronary disease for years. No fever was\nseen today.\n\nOK."
    (tmp_path / "NOTEEVENTS.csv").write_text(f'ROW_ID,TEXT\n1,"{note}"\n', encoding="utf-8")
    labels = {"male": "B-Sex", "coronary": "B-Disease_disorder", "fever": "B-Sign_symptom", "age": "B-Age"}
    write_token_classifier(tmp_path / "ner", labels=labels)
    known = with_local({"mimic-iii": tmp_path / "NOTEEVENTS.csv"}, ner=str(tmp_path / "ner"))["clinical"]
    passages = known.some_texts(tmp_path, Sizes())
    texts = [passage.text for passage in passages]
    assert texts == ["This male has had coronary disease for years.", "No fever was seen today."]
    found = known.concept.find_all(passages)
    assert [[texts[row][span.start : span.end] for span in spans] for row, spans in enumerate(found)] == [
        ["male", "coronary"],
        ["fever"],
    ]
    assert known.categories == DATASETS["clinical"].categories


def test_headings_and_endless_lines_are_no_sentences() -> None:
    assert sentences_of("PLAN:\n\n" + "word " * 80 + "\n\nShe was sent home today.") == ["She was sent home today."]
