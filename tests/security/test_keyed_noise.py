"""Keyed noise is named by exactly what it is added to: no two inputs share it, and only equal repeats are free."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from support.embedders import WordEmbedder
from support.ledgers import read_spent
from support.tiny_model import write_tiny_model
from support.veils import made_veil, unit_vectors
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import EmbedderMismatchError
from vecveil.core.key import Key
from vecveil.embedders import Fingerprint, SentenceTransformersEmbedder, resolve_embedder
from vecveil.ledger import Ledger, open_ledger
from vecveil.shapes import NoiseShape
from vecveil.veil import Veil
from vecveil.veil.release import clean_step

KEY = Key(bytes(range(32)))
ROWS, DIMENSIONS = 400, 64
RATIO = 2.0


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


def _veil(dimensions: int = DIMENSIONS, fingerprint: Fingerprint | None = None) -> Veil:
    return made_veil(
        dimensions=dimensions, shape=NoiseShape(variances=np.ones(dimensions)), fingerprint=fingerprint, epsilon=None
    )


class _Moved(WordEmbedder):
    """The same model on another processor: its vectors differ in their last bits."""

    def embed(self, texts: Sequence[str]) -> Embeddings:
        vectors = super().embed(texts)
        moved = np.random.default_rng(len(texts)).standard_normal(vectors.shape)
        return np.asarray(vectors + 1e-5 * moved, dtype=np.float32)


def _shares_noise(first: Embeddings, second: Embeddings, veil: Veil, ratio: float = RATIO) -> np.ndarray:
    """Return which pairs of releases differ, and by less than a tenth of what two independent noises would."""
    apart = np.linalg.norm(first.astype(np.float64) - second, axis=1)
    return np.asarray((apart > 0) & (apart < 0.1 * np.sqrt(2) * ratio * veil.typical.signal))


@pytest.mark.parametrize("size", [1e-7, 1e-5, 1e-4, 1e-2])
@pytest.mark.parametrize("with_ids", [True, False])
def test_vectors_that_nearly_agree_share_all_bytes_or_no_noise(size: float, with_ids: bool) -> None:
    veil, clean = _veil(), unit_vectors(ROWS, DIMENSIONS)
    moved = (clean + size * unit_vectors(ROWS, DIMENSIONS, seed=1)).astype(np.float32)
    ids = [*range(ROWS)] if with_ids else None
    first, second = (veil.perturb(one, noise_ratio=RATIO, key=KEY, ids=ids) for one in (clean, moved))
    assert not _shares_noise(first, second, veil).any()
    equal = (first == second).all(axis=1)
    # Both happen: at 1e-7 nearly all are equal, at a hundredth none is.
    assert equal.mean() > 0.95 if size == 1e-7 else not equal.any() if size == 1e-2 else 0 < equal.sum() < ROWS


def test_texts_that_are_embedded_again_share_all_bytes_or_no_noise() -> None:
    veil = _veil(8)
    texts = [f"patient {number} has the disease {number % 7}" for number in range(ROWS)]
    settings = {"noise_ratio": RATIO, "key": KEY, "ids": [*range(ROWS)]}
    first, second = (
        veil.protect(texts, embedder=model, **settings)  # type: ignore[arg-type]
        for model in (WordEmbedder(), _Moved())
    )
    assert not _shares_noise(first, second, veil).any()


def test_a_model_in_other_batches_and_threads_shares_all_bytes_or_no_noise(model_folder: Path) -> None:
    import torch

    texts = [f"note {number}: " + "word " * (number % 23) for number in range(ROWS)]
    one_by_one, together = (SentenceTransformersEmbedder(str(model_folder), batch_size=size) for size in (1, 64))
    veil = _veil(16, one_by_one.fingerprint)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        first = veil.protect(texts, embedder=one_by_one, noise_ratio=RATIO, key=KEY)
        torch.set_num_threads(2)
        second = veil.protect(texts, embedder=together, noise_ratio=RATIO, key=KEY)
    finally:
        torch.set_num_threads(threads)
    assert not _shares_noise(first, second, veil).any()
    assert (first == second).all(axis=1).mean() > 0.9


def test_a_repeat_with_other_last_bits_helps_nobody_to_guess_the_word() -> None:
    """82 candidates for each record, as diseases are; two releases let noise that is shared cancel out."""
    rng, diseases = np.random.default_rng(0), 82
    contexts, words = rng.standard_normal((ROWS, DIMENSIONS)), rng.standard_normal((diseases, DIMENSIONS))
    candidates = contexts[:, np.newaxis] + 0.4 * words
    candidates /= np.linalg.norm(candidates, axis=2, keepdims=True)
    # What another processor makes of a text differs from text to text, and an attacker can find out by embedding it.
    moved = candidates + 1e-5 * rng.standard_normal(candidates.shape)
    truth, rows = rng.integers(diseases, size=ROWS), np.arange(ROWS)
    veil = _veil()
    first, second = (
        veil.perturb(one[rows, truth], noise_ratio=RATIO, key=KEY, ids=[*range(ROWS)]) for one in (candidates, moved)
    )
    step = clean_step(veil.typical.signal)
    expected = (np.rint(moved / step) - np.rint(candidates / step)) * step
    # Noise of density exp(-epsilon * length): the likeliest candidate is the nearest.
    distances = np.linalg.norm(first[:, np.newaxis] - candidates, axis=2)
    difference = np.linalg.norm((second.astype(np.float64) - first)[:, np.newaxis] - expected, axis=2)
    with_one = float((distances.argmin(axis=1) == truth).mean())
    # Noise that is shared cancels out, and what is left is that of one candidate to the step; all else is noise.
    with_two = float(((distances + 1e3 * (difference > step / 2)).argmin(axis=1) == truth).mean())
    assert 0.05 < with_one < 0.3
    # That a release changed, or did not, tells which candidates' vectors would have: little, and nothing of the noise.
    assert with_two <= with_one + 0.06
    # Both happen: the same bytes again, and noise that has nothing to do with the other.
    equal = (first == second).all(axis=1)
    assert 0.2 < equal.mean() < 0.8
    assert not _shares_noise(first, second, veil).any()


def _variant(folder: Path, copy: Path, file: str, changes: dict[str, object]) -> Path:
    """Return a copy of a model with other settings under the same weights."""
    shutil.copytree(folder, copy)
    settings = json.loads((copy / file).read_text())
    (copy / file).write_text(json.dumps({**settings, **changes}))
    return copy


@pytest.fixture(params=["pooling", "tokenizer"])
def changed_model(request: pytest.FixtureRequest, model_folder: Path, tmp_path: Path) -> Path:
    """The tiny model, with other pooling or another tokenizer under the same weights."""
    if request.param == "pooling":
        return _variant(model_folder, tmp_path / "small", "1_Pooling/config.json", {"pooling_mode": "max"})
    return _variant(model_folder, tmp_path / "small", "tokenizer_config.json", {"do_lower_case": False})


def test_other_settings_under_the_same_weights_are_another_model(model_folder: Path, changed_model: Path) -> None:
    first, second = (SentenceTransformersEmbedder(str(folder)) for folder in (model_folder, changed_model))
    weights = [(folder / "model.safetensors").read_bytes() for folder in (model_folder, changed_model)]
    assert weights[0] == weights[1]
    assert first.fingerprint.revision != second.fingerprint.revision
    veil = _veil(16, first.fingerprint)
    with pytest.raises(EmbedderMismatchError, match="learned on another embedder: revision"):
        veil.protect(["A Note"], embedder=second, noise_ratio=RATIO)


def test_vectors_of_another_model_under_the_same_weights_get_unrelated_noise(
    model_folder: Path, changed_model: Path
) -> None:
    texts = [f"Note {number} of THE ward" for number in range(50)]
    first, second = (SentenceTransformersEmbedder(str(folder)) for folder in (model_folder, changed_model))
    veil = _veil(16, first.fingerprint)
    clean = [one.embed(texts).astype(np.float64) for one in (first, second)]
    released = [veil.perturb(one, noise_ratio=RATIO, key=KEY, ids=[*range(50)]) for one in clean]
    assert not (released[0] == released[1]).all(axis=1).any()
    # Of noise that is shared, y₁ − y₂ = x₁ − x₂ is left.
    assert not _shares_noise(released[0] - clean[0], released[1] - clean[1], veil).any()


def test_a_model_in_memory_is_known_by_its_pooling_and_tokenizer_too(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    folder = write_tiny_model(tmp_path / "model", normalize=False)
    # A mean over √length differs from a mean in its length alone, which no direction tells.
    longer = _variant(folder, tmp_path / "longer", "1_Pooling/config.json", {"pooling_mode": "mean_sqrt_len_tokens"})
    accents = _variant(folder, tmp_path / "accents", "tokenizer_config.json", {"strip_accents": True})
    models = [SentenceTransformer(str(one), device="cpu") for one in (folder, longer, accents, folder)]
    revisions = [resolve_embedder(one).fingerprint.revision for one in models]
    assert len({*revisions}) == 3
    assert revisions[0] == revisions[3]


def test_the_ledger_charges_a_second_release_exactly_where_bytes_changed(ledger: Ledger) -> None:
    veil, clean = _veil(), unit_vectors(ROWS, DIMENSIONS)
    moved = (clean + 1e-5 * unit_vectors(ROWS, DIMENSIONS, seed=1)).astype(np.float32)
    settings = {"noise_ratio": RATIO, "key": KEY, "ids": [*range(ROWS)], "ledger": ledger}
    first, second, third = (veil.perturb(one, **settings) for one in (clean, moved, clean))  # type: ignore[arg-type]
    changed = (first != second).any(axis=1)
    assert 0 < changed.sum() < ROWS
    assert np.array_equal(first, third)
    spent = np.array(read_spent(ledger, ledger.digests([f"\0s{number}".encode() for number in range(ROWS)])))
    assert np.array_equal(np.rint(spent / spent.min()), 1 + changed)


def test_a_number_that_lands_on_another_step_is_a_second_release(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sums and logarithms differ in their last bits between processors; at the border of a step, that shows."""
    veil, clean = _veil(), unit_vectors(20, DIMENSIONS)
    settings = {"noise_ratio": RATIO, "key": KEY, "ids": [*range(20)], "ledger": ledger}
    first = veil.perturb(clean, **settings)  # type: ignore[arg-type]
    rint = np.rint

    def rint_on_another_processor(values: Embeddings, **options: object) -> Embeddings:
        rounded = rint(values, **options)  # type: ignore[call-overload]
        if options:  # The grid of releases rounds in place.
            rounded[3, 5] += 1
        return np.asarray(rounded)

    monkeypatch.setattr(np, "rint", rint_on_another_processor)
    second = veil.perturb(clean, **settings)  # type: ignore[arg-type]
    assert np.argwhere(first != second).tolist() == [[3, 5]]
    spent = np.array(read_spent(ledger, ledger.digests([f"\0s{number}".encode() for number in range(20)])))
    assert np.array_equal(np.flatnonzero(spent > 1.5 * spent.min()), [3])
