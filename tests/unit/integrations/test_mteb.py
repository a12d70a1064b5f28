from __future__ import annotations

import numpy as np

from support.guards import TEXTS
from support.mteb_tasks import SharedWordsSTS, loaded
from vecveil.integrations.mteb import VeiledEncoder
from vecveil.utility.mteb import import_mteb
from vecveil.veil import Guard


def test_mteb_evaluates_it_like_any_model(guard: Guard) -> None:
    with import_mteb() as mteb:
        found = mteb.evaluate(VeiledEncoder(guard), loaded(SharedWordsSTS), cache=None, show_progress_bar=False)
    assert np.isfinite(found.task_results[0].get_score())
    assert found.model_name == "vecveil/small"


def test_batches_come_back_in_order(guard: Guard) -> None:
    found = VeiledEncoder(guard).encode([{"text": TEXTS[:2]}, {"text": TEXTS[2:]}])
    assert np.array_equal(found, guard.protect_texts(TEXTS))
    assert VeiledEncoder(guard).mteb_model_meta.revision == guard.id
