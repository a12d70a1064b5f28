from __future__ import annotations

import torch

from vecveil.attacks.standardize import Standardize

VECTORS = (
    torch.randn(400, 5, generator=torch.Generator().manual_seed(0)) * torch.tensor([1.0, 20.0, 0.05, 1.0, 1.0]) + 3
)


def test_dimensions_come_to_mean_zero_and_spread_one() -> None:
    layer = Standardize.fit(VECTORS)
    out = layer(VECTORS)
    torch.testing.assert_close(out.mean(dim=0), torch.zeros(5), atol=1e-4, rtol=0)
    torch.testing.assert_close(out.std(dim=0, correction=0), torch.ones(5), atol=1e-4, rtol=0)


def test_a_dimension_that_does_not_move_gives_nothing() -> None:
    vectors = VECTORS.clone()
    vectors[:, 3] = 0.7
    out = Standardize.fit(vectors)(vectors)
    assert out[:, 3].abs().max() < 1e-5
    assert out[:, 0].std() > 0.9


def test_the_rounding_of_a_constant_is_not_blown_up() -> None:
    vectors = VECTORS.clone()
    vectors[:, 3] = 100 + 1e-5 * torch.randn(400, generator=torch.Generator().manual_seed(1))
    assert Standardize.fit(vectors)(vectors)[:, 3].abs().max() < 1e-3


def test_a_single_vector_and_equal_vectors_are_no_problem() -> None:
    for vectors in (VECTORS[:1], VECTORS[:1].repeat(9, 1)):
        out = Standardize.fit(vectors)(VECTORS)
        assert torch.isfinite(out).all()


def test_mean_and_spread_travel_with_the_weights_and_are_not_learned() -> None:
    layer = Standardize.fit(VECTORS)
    assert set(layer.state_dict()) == {"mean", "spread"}
    assert list(layer.parameters()) == []
