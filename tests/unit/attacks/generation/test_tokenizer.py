from __future__ import annotations

from pathlib import Path

import pytest

from vecveil.attacks.generation.tokenizer import TextTokenizer, load_tokenizer, train_tokenizer
from vecveil.core.errors import ArtifactError, InvalidInputError

TEXTS = ["Anna Müller met Boris in Rome.", "Boris flew to Rome in 1.5 hours.", "Rome was not built in a day."] * 20


@pytest.fixture(scope="module")
def tokenizer() -> TextTokenizer:
    return train_tokenizer(TEXTS, vocabulary=400)


def test_texts_come_back_in_lower_case(tokenizer: TextTokenizer) -> None:
    pieces = tokenizer.encode(TEXTS[:2], longest=64)
    assert tokenizer.decode(pieces) == [text.lower() for text in TEXTS[:2]]
    assert all(row[-1] == tokenizer.end for row in pieces)


def test_what_follows_the_end_is_not_read(tokenizer: TextTokenizer) -> None:
    (pieces,) = tokenizer.encode(["Rome"], longest=64)
    assert tokenizer.decode([[*pieces, *pieces, tokenizer.padding]]) == ["rome"]


def test_a_text_that_is_too_long_is_cut_and_has_no_end(tokenizer: TextTokenizer) -> None:
    (pieces,) = tokenizer.encode([TEXTS[0]], longest=4)
    assert len(pieces) == 4
    assert tokenizer.end not in pieces


def test_a_saved_tokenizer_is_the_same(tokenizer: TextTokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path / "tokenizer.json")
    loaded = load_tokenizer(tmp_path / "tokenizer.json", end=tokenizer.end, padding=tokenizer.padding)
    assert loaded.encode(TEXTS, longest=64) == tokenizer.encode(TEXTS, longest=64)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ArtifactError, match=r"tokenizer\.json can't be read as a tokenizer"):
        load_tokenizer(tmp_path / "tokenizer.json", end=1, padding=0)


def test_a_vocabulary_must_hold_every_byte() -> None:
    with pytest.raises(InvalidInputError, match="vocabulary must be a whole number of at least 300, got 100"):
        train_tokenizer(TEXTS, vocabulary=100)


@pytest.mark.parametrize(
    ("word", "written"), [("rome", "Rome"), ("müller", "Müller"), ("boris", "Boris"), ("1.5", "1.5"), ("day", "day")]
)
def test_a_word_is_found_among_the_pieces_of_its_text(tokenizer: TextTokenizer, word: str, written: str) -> None:
    text = next(text for text in TEXTS if written in text)
    (place,) = tokenizer.find_words(text, [word])
    (pieces,) = tokenizer.encode([text], longest=64)
    assert tokenizer.decode([pieces[place.start : place.stop]]) == [written.lower()]
    assert [pieces[place.start]] == tokenizer.first_pieces(word)


def test_the_first_of_several_occurrences_counts(tokenizer: TextTokenizer) -> None:
    first, last = tokenizer.find_words("Rome met Rome", ["rome", "met"])
    assert first.start == 0
    assert last.start == first.stop


def test_a_part_of_a_word_is_found_and_a_missing_word_is_not(tokenizer: TextTokenizer) -> None:
    part, missing = tokenizer.find_words("a 68-year-old man", ["68", "woman"])
    assert len(part) > 0
    assert len(missing) == 0
