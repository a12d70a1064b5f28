from __future__ import annotations

from support.audit_examples import hostile_example, made_examples
from support.audits import UNDEFENDED
from vecveil.audit.rows import Estimate, sort_examples


def test_it_reads_as_a_number_with_its_interval() -> None:
    assert str(Estimate(value=0.5, low=0.25, high=0.75)) == "0.500 [0.250, 0.750]"


def test_examples_begin_with_the_text_of_which_most_was_read_without_protection() -> None:
    ordered = sort_examples((hostile_example(), *made_examples()))
    read = [len(example.read_words(UNDEFENDED)) for example in ordered]
    assert read == sorted(read, reverse=True)
    assert read[0] > 0
