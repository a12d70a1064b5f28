from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecveil.concepts.folding import fold, without_lone_surrogates


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Type  2\n\tDiabetes", "type 2 diabetes"),
        ("O’Neil`s X‑ray–film", "o'neil's x-ray-film"),
        ("CAFE\u0301 café", "café café"),
        ("Straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("dia\u00adbetes", "diabetes"),
        ("a\ud800b", "a\ufffdb"),
    ],
)
def test_ways_of_writing_become_equal(text: str, folded: str) -> None:
    assert fold(text, case_sensitive=False).text == folded


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Café", "cafe"),
        ("CAFE\u0301", "cafe"),
        ("Łódź, Ærø", "lodz, aero"),
        ("ＨＥＡＲＴ　ａｔｔａｃｋ", "heart attack"),
        ("𝐠𝐨𝐮𝐭 ﬁbroid", "gout fibroid"),
        ("dіаbetes", "diabetes"),
        ("Рак и рак", "pak и pak"),
        ("g\u034fo\u200eu\ufe0ft", "gout"),
        ("が हिन्दी 당뇨", "が हिन्दी 당뇨"),
        ("½", "1⁄2"),
    ],
)
def test_letters_become_plain_latin_ones_where_that_is_asked_for(text: str, folded: str) -> None:
    assert fold(text, case_sensitive=False, letters=True).text == folded


def test_case_can_be_kept() -> None:
    assert fold("AIDS  É", case_sensitive=True).text == "AIDS É"


@settings(deadline=None)
@given(st.text(), st.booleans(), st.booleans())
def test_offsets_lead_back_into_the_text_in_order(text: str, case_sensitive: bool, letters: bool) -> None:
    folded = fold(text, case_sensitive=case_sensitive, letters=letters)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert list(folded.starts) == sorted(folded.starts)
    assert all(0 <= start < end <= len(text) for start, end in zip(folded.starts, folded.ends, strict=True))


@settings(deadline=None)
@given(st.text(), st.booleans())
def test_composed_and_decomposed_texts_fold_alike(text: str, letters: bool) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    one, other = (fold(each, case_sensitive=True, letters=letters).text for each in (composed, decomposed))
    assert one == other


@settings(deadline=None)
@given(st.text(alphabet=st.characters(codec="ascii")))
def test_the_quick_way_for_plain_text_agrees_with_the_thorough_one(text: str) -> None:
    quick, thorough = fold(text, case_sensitive=False), fold(text + "é", case_sensitive=False)
    assert quick.text + "é" == thorough.text
    assert (*quick.starts, len(text)) == tuple(thorough.starts)


@settings(deadline=None)
@given(st.text(alphabet=st.characters()))
def test_a_text_without_lone_surrogates_has_its_length_and_is_utf_8(text: str) -> None:
    whole = without_lone_surrogates(text)
    assert len(whole) == len(text)
    assert whole.encode().decode() == whole
