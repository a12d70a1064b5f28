"""Presidio, with its recognizers and the real spaCy pipeline."""

from __future__ import annotations

import logging
import socket
from typing import Any

import pytest

from vecveil.concepts.passage import Passage, Span
from vecveil.concepts.presidio import Presidio, _load_analyzer
from vecveil.core.errors import UnknownNameError
from vecveil.testing.concepts import check_concept

_TEXT = "Angela Merkel wrote to jane.doe@example.com from Berlin."


def test_what_presidio_recognizes_is_found() -> None:
    concept = Presidio(entities=("PERSON", "EMAIL_ADDRESS"))
    assert concept.find_all([Passage(_TEXT), Passage("No one wrote.")]) == [
        (Span(0, 13, "PERSON"), Span(23, 43, "EMAIL_ADDRESS")),
        (),
    ]


def test_an_address_under_no_public_suffix_is_no_email_address() -> None:
    assert Presidio(entities=("EMAIL_ADDRESS",), score=0.9).find("write to jane@example.notasuffix now") == ()


def test_finds_below_the_score_do_not_count() -> None:
    number = "It is 212-555-0100 again"
    assert Presidio(entities=("PHONE_NUMBER",), score=0.3).find(number) == (Span(6, 18, "PHONE_NUMBER"),)
    assert Presidio(entities=("PHONE_NUMBER",), score=0.9).find(number) == ()


def test_nothing_is_looked_up_on_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Any] = []

    def refuse(*address: Any, **_: Any) -> None:
        tried.append(address)
        raise OSError("no network in tests")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    _load_analyzer.cache_clear()
    assert Presidio(entities=("EMAIL_ADDRESS", "URL")).find(_TEXT)
    assert tried == []


def test_no_word_of_a_text_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    assert Presidio(entities=("PHONE_NUMBER",)).find("Phone number of Zebedee: 212-555-0100")
    assert "zebedee" not in caplog.text.lower()


def test_an_unknown_entity_gets_a_guess_and_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"'EMAIL_ADRESS'; did you mean 'EMAIL_ADDRESS'.*CREDIT_CARD"):
        Presidio(entities=("EMAIL_ADRESS",)).find("x")


def test_a_name_that_presidio_lists_but_never_finds_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="'EMAIL'; did you mean 'EMAIL_ADDRESS'"):
        Presidio(entities=("EMAIL",)).find("Write to a@example.org.")


def test_it_keeps_the_contract_of_concepts() -> None:
    concept = Presidio(entities=("PERSON", "EMAIL_ADDRESS"), score=0.4)
    negative = Passage("It was warm  again , and the cat slept.")
    check_concept(concept, positive=Passage(_TEXT), negative=negative)
