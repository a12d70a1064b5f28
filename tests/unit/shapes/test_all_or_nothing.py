"""Why directions are left out and not blurred: docs/shape-proofs.md, section 5."""

from __future__ import annotations

import numpy as np
import pytest

ROWS = 400_000


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9])
def test_blurring_a_coordinate_costs_more_for_what_it_hides_than_leaving_it_out(kept: float) -> None:
    rng = np.random.default_rng(0)
    spread = 1.7
    noise = spread * (1 / kept - 1)
    clean, other = rng.standard_normal((2, ROWS)) * np.sqrt(spread)
    blurred, other_blurred = (kept * (side + rng.standard_normal(ROWS) * np.sqrt(noise)) for side in (clean, other))
    told = np.corrcoef(clean, blurred)[0, 1] ** 2
    error = np.mean((clean * other - blurred * other_blurred) ** 2) / spread**2
    assert told == pytest.approx(kept, abs=0.01)
    assert error == pytest.approx(1 - kept**2, abs=0.02)
    assert error / (1 - told) == pytest.approx(1 + kept, abs=0.05)
