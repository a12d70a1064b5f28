from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.embedders import WordEmbedder
from support.veils import unit_vectors
from vecveil.core.errors import BudgetExceededError, EmbedderMismatchError, InvalidInputError
from vecveil.core.progress import silent
from vecveil.ledger import new_run, open_ledger
from vecveil.migrate import Batch
from vecveil.migrate.protection import (
    check_rows,
    protect_queries,
    protect_rows,
    repeat_rows,
    require_affordable,
)
from vecveil.veil import Guard

BATCH = Batch(ids=["a", 7], vectors=unit_vectors(2), payload=[{}, {}])


def test_what_is_protected_again_is_the_same_and_not_recorded(guard: Guard) -> None:
    first = protect_rows(guard, BATCH)
    assert np.allclose(np.linalg.norm(first, axis=1), 1, atol=1e-6)
    assert np.array_equal(repeat_rows(guard, BATCH), first)
    with open_ledger(str(guard.ledger)) as ledger:
        assert ledger.totals().releases == 2


def test_only_a_key_gives_the_same_noise_again(guard: Guard) -> None:
    fresh = replace(guard, key=None)
    assert (guard.release.is_keyed, fresh.release.is_keyed) == (True, False)
    assert not np.array_equal(protect_rows(fresh, BATCH), repeat_rows(fresh, BATCH))


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        (replace(BATCH, vectors=unit_vectors(2) * 3), "row 50 has another length"),
        (replace(BATCH, vectors=unit_vectors(2, 5)), "must have 8 dimensions, got 5"),
        (replace(BATCH, ids=["a", None]), "row 51 has no id"),
    ],
)
def test_a_row_that_can_t_be_protected_is_named_by_its_number_in_the_collection(
    guard: Guard, batch: Batch, said: str
) -> None:
    check_rows(guard, BATCH, first_row=50)
    with pytest.raises((EmbedderMismatchError, InvalidInputError), match=said):
        check_rows(guard, batch, first_row=50)


def test_what_the_ledger_would_refuse_is_known_before_anything_is_recorded(guard: Guard) -> None:
    with open_ledger(str(guard.ledger)) as ledger:
        ledger.set_limit(guard.release.charge(new_run()).cost)
        require_affordable(guard, [BATCH], progress=silent)
        with pytest.raises(BudgetExceededError, match="1 record would go over the limit"):
            require_affordable(replace(guard, key=None), [BATCH, replace(BATCH, ids=["b", 7])], progress=silent)
        assert ledger.totals().releases == 0


@pytest.mark.filterwarnings("ignore:the ledger knows")
def test_queries_are_texts_or_vectors_and_recorded_like_any_others(guard: Guard) -> None:
    texts = ["rain again", "a cold day"]
    clean, protected = protect_queries(guard, texts, progress=silent)
    assert np.array_equal(clean, WordEmbedder().embed(texts))
    again, same = protect_queries(guard, clean, progress=silent)
    assert np.array_equal(again, clean)
    assert np.array_equal(same, protected)
    assert not np.allclose(protected, clean, atol=1e-4)
    with open_ledger(str(guard.ledger)) as ledger:
        assert ledger.totals().releases == 4
