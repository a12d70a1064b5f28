from __future__ import annotations

import os
import subprocess
import sys
from contextlib import chdir
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import vecveil
from vecveil.concepts import Passage, anything, contrast_set, dump_concept, load_concept, sensitive_tokens, terms, words
from vecveil.concepts import content_words as module
from vecveil.concepts.content_words import ContentWords, is_function_word
from vecveil.concepts.removal import remove_spans
from vecveil.core.errors import InvalidInputError, MissingExtraError

NOTE = "The nurse gave insulin to Anna, and Anna thanked the nurse before her long walk home through Berlin."


def found(text: str, **settings: Any) -> list[str]:
    return [text[span.start : span.end] for span in ContentWords(**settings).find(text)]


def drawn(text: str, **settings: Any) -> list[str]:
    _, (spans,) = ContentWords(**settings).search([Passage(text)])
    return [text[span.start : span.end] for span in spans]


def test_every_word_is_found_but_function_words() -> None:
    assert found("The nurse gave insulin to Anna, who was very ill.") == ["nurse", "gave", "insulin", "Anna", "ill"]


@pytest.mark.parametrize("text", ["I don't.", "They won’t, we can't!", "She'd be what it's that I'm; you've.", "", " "])
def test_contractions_of_function_words_hold_nothing(text: str) -> None:
    assert found(text) == []


def test_contractions_of_content_words_are_found() -> None:
    assert found("Anna's mother o'brien rock'n'roll") == ["Anna", "mother", "o'brien", "rock'n'roll"]


def test_short_words_are_left_out_and_numbers_never() -> None:
    text = "TB at 68, an 80-year-old with HIV"
    assert found(text) == ["68", "80-year-old", "HIV"]
    assert found(text, at_least=2) == ["TB", "68", "80-year-old", "HIV"]
    assert found(text, at_least=4) == ["68", "80-year-old"]


def test_words_are_those_that_attacks_are_asked_for() -> None:
    tokens = sensitive_tokens(NOTE, anything().find(NOTE))
    assert {token.label for token in tokens} == {"WORD"}
    assert {token.word for token in tokens} == {word for word in words(NOTE) if not is_function_word(word)}


def test_a_contrast_takes_out_half_of_the_distinct_words() -> None:
    taken = drawn(NOTE)
    distinct = set(words(" ".join(found(NOTE))))
    assert len(set(words(" ".join(taken)))) == (len(distinct) + 1) // 2
    assert set(taken) < set(found(NOTE))


def test_a_word_is_taken_out_wherever_it_stands() -> None:
    for share in (0.2, 0.5, 0.8):
        for word in set(drawn(NOTE, share=share)):
            assert drawn(NOTE, share=share).count(word) == found(NOTE).count(word)


def test_something_is_taken_out_however_small_the_share() -> None:
    assert len(set(drawn(NOTE, share=1e-6))) == 1
    assert drawn("Gout.") == ["Gout"]
    assert drawn("It was so.") == []


def test_a_share_of_one_takes_out_everything() -> None:
    assert drawn(NOTE, share=1) == found(NOTE)
    assert drawn(NOTE, share=1.0) == found(NOTE)


def test_a_larger_share_takes_out_more_of_the_same() -> None:
    taken = [set(drawn(NOTE, share=share)) for share in (0.2, 0.4, 0.6, 0.8)]
    assert all(less < more for less, more in pairwise(taken))


def test_other_texts_lose_other_words() -> None:
    lost = [
        {
            word
            for word in ("fever", "cough", "asthma", "gout")
            if word in drawn(f"fever cough asthma gout, case {number}")
        }
        for number in range(40)
    ]
    shares = [sum(word in each for each in lost) / 40 for word in ("fever", "cough", "asthma", "gout")]
    assert all(0.2 < share < 0.9 for share in shares)


def test_what_is_taken_out_is_the_same_in_every_process() -> None:
    code = (
        "from vecveil.concepts.content_words import ContentWords; from vecveil.concepts import Passage; "
        f"print([(span.start, span.end) for span in ContentWords().search([Passage({NOTE!r})])[1][0]])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    )
    here = [(span.start, span.end) for span in ContentWords().search([Passage(NOTE)])[1][0]]
    assert run.stdout.strip() == str(here)


def test_half_of_the_words_leave_a_text_that_still_says_something() -> None:
    found_spans, (spans,) = ContentWords().search([Passage(NOTE)])
    assert found_spans == ContentWords().find_all([Passage(NOTE)])
    left = remove_spans(NOTE, spans)
    assert found(left)
    assert not set(drawn(NOTE)) & set(found(left))
    assert found(anything().remove(NOTE)) == []


def test_texts_that_hold_nothing_else_make_no_pair() -> None:
    texts = ["Gout.", "Gout hurts in the morning, and so does walking.", "It is what it is."]
    assert contrast_set(anything(), texts).rows == (1,)
    assert contrast_set(anything() | terms("gout"), texts).rows == (1,)
    with pytest.raises(InvalidInputError, match=r"all 1 text\(s\) with the concept are empty without it"):
        contrast_set(anything(), texts[:1])


def test_every_text_may_hold_it() -> None:
    assert anything().everywhere
    assert not terms("gout").everywhere
    assert contrast_set(anything(), [NOTE, NOTE.upper()]).rows == (0, 1)


def test_unusual_letters_are_placed_where_they_stand() -> None:
    text = "Die Straße, İstanbul,\nnaïve e\u0301tude \ud800 ½ 北京"
    assert found(text) == ["Die", "Straße", "İstanbul", "naïve", "e\u0301tude", "½"]
    assert drawn(text, share=1) == found(text)


def test_settings_survive_a_file(tmp_path: Path) -> None:
    path = tmp_path / "anything.toml"
    path.write_text('[[part]]\nkind = "content-words"\n', encoding="utf-8")
    assert load_concept(path) == anything() == ContentWords() == vecveil.anything()
    path.write_text('[[part]]\nkind = "content-words"\nat-least = 5\nshare = 1\n', encoding="utf-8")
    assert load_concept(path) == anything(at_least=5, share=1.0)
    path.write_text(dump_concept(anything(share=0.3) | terms("TB")), encoding="utf-8")
    assert load_concept(path) == anything(share=0.3) | terms("TB")


def test_a_summary_is_the_settings() -> None:
    assert anything(share=0.3).summary() == {"kind": "content-words", "at_least": 3, "share": 0.3}
    assert anything().expected == ("WORD",)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"at_least": 0}, "at_least must be a whole number of at least 1, got 0"),
        ({"at_least": 2.5}, "at_least must be a whole number"),
        ({"share": 0}, "share must be a finite number above zero, got 0"),
        ({"share": 1.5}, "share must be at most 1, got 1.5"),
        ({"share": "half"}, "share must be a number, got 'half'"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        ContentWords(**settings)


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy.lang.en.stop_words", None)
    module._load_function_words.cache_clear()
    with pytest.raises(MissingExtraError, match=r"spacy is not installed.*vecveil\[entities\]"):
        anything().find(NOTE)
    monkeypatch.undo()
    assert anything().find(NOTE)


def test_anything_stands_for_it_where_no_file_has_that_name(tmp_path: Path) -> None:
    with chdir(tmp_path):
        assert load_concept("anything") == ContentWords()
        Path("anything").write_text('[[part]]\nkind = "terms"\nterms = ["asthma"]\n')
        assert load_concept("anything") != ContentWords()
