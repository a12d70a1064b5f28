from __future__ import annotations

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from support.command_line import listing
from support.embedders import DIMENSIONS, WordEmbedder
from support.veils import made_veil, rotated_shape, unit_vectors
from vecveil.core.digests import json_digest
from vecveil.core.errors import (
    ArtifactError,
    BudgetExceededError,
    EmbedderMismatchError,
    InvalidInputError,
    UnknownNameError,
    VecveilError,
    VecveilWarning,
)
from vecveil.core.key import Key
from vecveil.embedders import Fingerprint
from vecveil.files.key_file import write_key
from vecveil.ledger import open_ledger
from vecveil.shapes import NoiseShape
from vecveil.veil import Guard, Veil

TEXTS = ["the first text", "a second one", "and a third"]


def _seeded() -> np.random.Generator:
    return np.random.default_rng(11)


@pytest.mark.parametrize("shape", [None, rotated_shape()], ids=["diagonal", "rotated"])
@pytest.mark.parametrize("epsilon", [None, 12.5])
def test_a_veil_that_was_saved_and_loaded_is_the_same(
    tmp_path: Path, shape: NoiseShape | None, epsilon: float | None
) -> None:
    veil = made_veil(shape=shape, epsilon=epsilon)
    veil.save(tmp_path / "a.veil")
    loaded = Veil.load(tmp_path / "a.veil")
    assert loaded.digest() == veil.digest()
    assert loaded.epsilon == veil.epsilon
    assert loaded.fingerprint == veil.fingerprint
    assert loaded.typical == veil.typical
    assert str(loaded.guarantee(epsilon=3.0)) == str(veil.guarantee(epsilon=3.0))
    vectors = unit_vectors(7)
    np.testing.assert_array_equal(
        loaded.perturb(vectors, epsilon=3.0, rng=_seeded()), veil.perturb(vectors, epsilon=3.0, rng=_seeded())
    )
    loaded.save(tmp_path / "b.veil")
    assert listing(tmp_path / "a.veil") == listing(tmp_path / "b.veil")


def test_a_digest_follows_everything_in_a_veil() -> None:
    veil = made_veil(epsilon=1.0)
    others = [
        made_veil(epsilon=2.0),
        made_veil(epsilon=1.0, shape=rotated_shape()),
        replace(veil, provenance=replace(veil.provenance, pairs=21)),
        replace(veil, typical=replace(veil.typical, pair=0.6)),
        replace(veil, fingerprint=replace(veil.fingerprint, revision="2")),
        made_veil(epsilon=1.0, mechanism="laplace", shape=NoiseShape(variances=np.ones(DIMENSIONS))),
    ]
    assert len({veil.digest(), *(other.digest() for other in others)}) == 7


def test_saving_refuses_to_overwrite_unless_asked(tmp_path: Path) -> None:
    made_veil(epsilon=1.0).save(tmp_path / "a.veil")
    before = listing(tmp_path)
    with pytest.raises(InvalidInputError, match=r"a\.veil exists already"):
        made_veil(epsilon=2.0).save(tmp_path / "a.veil")
    assert listing(tmp_path) == before
    made_veil(epsilon=2.0).save(tmp_path / "a.veil", overwrite=True)
    assert Veil.load(tmp_path / "a.veil").epsilon == 2.0
    assert set(listing(tmp_path)) == {"a.veil/", "a.veil/manifest.json", "a.veil/tensors.safetensors"}


def test_a_saving_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("safetensors.numpy.save_file", fail)
    with pytest.raises(ArtifactError, match=r"a\.veil could not be written: No space left on device"):
        made_veil().save(tmp_path / "a.veil")
    assert listing(tmp_path) == {}


def _resigned(folder: Path, path: tuple[str, ...], value: Any) -> None:
    """Set a value deep in the manifest (None drops it), with a digest that fits."""
    document = json.loads((folder / "manifest.json").read_text())
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    del document["digest"]
    (folder / "manifest.json").write_text(json.dumps({**document, "digest": json_digest(document)}))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("epsilon",), None),
        (("epsilon",), -1.0),
        (("epsilon",), "8"),
        (("embedder",), None),
        (("embedder", "revision"), None),
        (("embedder", "dimensions"), 5),
        (("embedder", "dimensions"), "8"),
        (("embedder", "surprise"), 1),
        (("embedder",), [1, 2]),
        (("typical", "pair"), 0.0),
        (("typical", "pair"), "long"),
        (("provenance",), "none"),
        (("provenance", "learner"), None),
        (("provenance", "learner"), {}),
        (("provenance", "learner"), "uniform"),
        (("provenance", "versions"), 3),
        (("provenance", "concept"), []),
        (("mechanism",), "laplacian"),
        (("mechanism",), 3),
        (("mechanism",), ["laplace"]),
    ],
)
def test_a_manifest_with_wrong_content_is_refused_when_it_is_loaded(
    tmp_path: Path, path: tuple[str, ...], value: Any
) -> None:
    made_veil().save(tmp_path / "a.veil")
    _resigned(tmp_path / "a.veil", path, value)
    with pytest.raises(VecveilError):
        Veil.load(tmp_path / "a.veil")


def test_an_unknown_mechanism_is_guessed_at() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'laplace'"):
        made_veil(mechanism="laplase")


def test_a_shape_of_another_dimension_than_the_embedder_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="the shape has 3 dimensions, the embedder 8"):
        made_veil(shape=NoiseShape(variances=np.ones(3)))


def test_noise_differs_between_two_calls_and_repeats_with_a_seeded_generator() -> None:
    veil, vectors = made_veil(epsilon=50.0), unit_vectors(5)
    # On a grid, a coordinate may come out the same once in some thousand.
    assert (veil.perturb(vectors) != veil.perturb(vectors)).mean() > 0.8
    np.testing.assert_array_equal(veil.perturb(vectors, rng=_seeded()), veil.perturb(vectors, rng=_seeded()))


def test_protecting_texts_is_perturbing_their_vectors() -> None:
    veil, embedder = made_veil(epsilon=50.0), WordEmbedder()
    protected = veil.protect(TEXTS, embedder=embedder, rng=_seeded())
    np.testing.assert_array_equal(protected, veil.perturb(embedder.embed(TEXTS), rng=_seeded()))


def test_what_comes_in_is_not_changed() -> None:
    vectors = unit_vectors(5)
    before = vectors.copy()
    made_veil(epsilon=1.0).perturb(vectors)
    np.testing.assert_array_equal(vectors, before)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("grid", ["float32", "float16", "int8"])
def test_protected_vectors_have_the_type_of_their_grid(dtype: str, grid: str) -> None:
    veil = made_veil(epsilon=20.0)
    released = veil.perturb(unit_vectors(50, dtype=dtype), grid=grid)
    assert released.dtype == np.dtype(grid)
    step = 1.0 if grid == "int8" else veil.grid_at(20.0, grid).step
    np.testing.assert_array_equal(released.astype(np.float64) / step, np.rint(released.astype(np.float64) / step))


def test_an_unknown_grid_is_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match="unknown grid 'float8'"):
        made_veil(epsilon=1.0).perturb(unit_vectors(2), grid="float8")


def test_the_budget_of_a_veil_is_used_where_a_call_names_none() -> None:
    veil, vectors = made_veil(epsilon=20.0), unit_vectors(3)
    np.testing.assert_array_equal(
        veil.perturb(vectors, rng=_seeded()), veil.perturb(vectors, epsilon=20.0, rng=_seeded())
    )
    assert veil.guarantee().readings.epsilon == 20.0
    assert veil.guarantee(epsilon=3.0).readings.epsilon == 3.0


def test_a_veil_without_a_budget_asks_for_one() -> None:
    veil = made_veil()
    for call in (veil.guarantee, lambda: veil.perturb(unit_vectors(1)), lambda: veil.protect(TEXTS)):
        with pytest.raises(InvalidInputError, match="a budget must be given"):
            call()


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), "8", True])
def test_an_epsilon_that_is_no_budget_is_refused_with_its_value(epsilon: Any) -> None:
    veil = made_veil()
    for call in (
        lambda: veil.perturb(unit_vectors(1), epsilon=epsilon),
        lambda: veil.protect(TEXTS, epsilon=epsilon, embedder=WordEmbedder()),
        lambda: veil.guarantee(epsilon=epsilon),
        lambda: made_veil(epsilon=epsilon),
    ):
        with pytest.raises(InvalidInputError, match=rf"epsilon must be .*got {epsilon!r}"):
            call()


@pytest.mark.parametrize("epsilon", [1e-320, 1e-200, 1e-39, 1e200, 1e300])
def test_an_epsilon_whose_noise_no_number_can_hold_is_refused(epsilon: float) -> None:
    # Too small and the release overflows; too large and it equals the clean vector to the last bit.
    with pytest.raises(InvalidInputError, match="epsilon"):
        made_veil().perturb(unit_vectors(20), epsilon=epsilon)
    with pytest.raises(InvalidInputError, match="epsilon"):
        made_veil().guarantee(epsilon=epsilon)


@pytest.mark.parametrize("mechanism", ["mahalanobis", "laplace", "purkayastha"])
@pytest.mark.parametrize("ratio", [0.3, 1.0])
def test_every_reading_leads_back_to_the_same_epsilon(mechanism: str, ratio: float) -> None:
    veil = made_veil(mechanism=mechanism, shape=NoiseShape(variances=np.ones(DIMENSIONS)))
    epsilon = veil.epsilon_for(noise_ratio=ratio)
    readings = veil.guarantee(epsilon=epsilon).readings
    assert readings.noise_ratio == pytest.approx(ratio, rel=1e-9)
    assert veil.epsilon_for(pair_loss=readings.pair_loss) == pytest.approx(epsilon, rel=1e-9)


def test_an_epsilon_of_the_paper_is_calibrated_noise() -> None:
    veil = made_veil(shape=NoiseShape(variances=np.ones(DIMENSIONS)))
    # 15/epsilon times the signal, as a mean length of dimensions/epsilon.
    assert veil.mechanism_at(veil.epsilon_for(paper_epsilon=5.0)).noise_ratio(1.0) == pytest.approx(15.0 / 5.0)


@pytest.mark.parametrize("readings", [{}, {"noise_ratio": 1.0, "pair_loss": 1.0}])
def test_exactly_one_reading_must_be_given(readings: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError, match="exactly one"):
        made_veil().epsilon_for(**readings)


@pytest.mark.parametrize("reading", ["noise_ratio", "pair_loss", "paper_epsilon"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_a_reading_that_is_no_positive_number_is_refused(reading: str, value: float) -> None:
    with pytest.raises(InvalidInputError, match=rf"{value!r}"):
        made_veil().epsilon_for(**{reading: value})


def test_vectors_of_another_shape_are_refused() -> None:
    veil = made_veil(epsilon=1.0)
    with pytest.raises(InvalidInputError, match="must have 8 dimensions, got 5"):
        veil.perturb(unit_vectors(2, 5))
    with pytest.raises(InvalidInputError, match="two dimensions"):
        veil.perturb(unit_vectors(1)[0])
    ragged: Any = [[1.0, 0.0], [1.0]]
    with pytest.raises(InvalidInputError, match="rows of equal length"):
        veil.perturb(ragged)


def test_no_vectors_give_no_vectors() -> None:
    assert made_veil(epsilon=1.0).perturb(np.empty((0, DIMENSIONS))).shape == (0, DIMENSIONS)
    assert made_veil(epsilon=1.0).protect([], embedder=WordEmbedder()).shape == (0, DIMENSIONS)


def test_lengths_are_free_where_the_model_does_not_normalize() -> None:
    free = Fingerprint(model="words", revision="1", dimensions=DIMENSIONS, normalized=False)
    assert made_veil(epsilon=1.0, fingerprint=free).perturb(3 * unit_vectors(3)).shape == (3, DIMENSIONS)


def test_the_same_model_at_another_revision_is_refused() -> None:
    with pytest.raises(EmbedderMismatchError, match="revision '1' against '2'"):
        made_veil(epsilon=1.0).protect(TEXTS, embedder=WordEmbedder(revision="2"))


def test_a_veil_learned_with_an_object_asks_for_it() -> None:
    with pytest.raises(InvalidInputError, match="hand it in as embedder="):
        made_veil(epsilon=1.0).protect(TEXTS)


def test_a_text_without_content_is_refused_by_row() -> None:
    with pytest.raises(InvalidInputError, match="row 1 has no text"):
        made_veil(epsilon=1.0).protect(["something", " \n"], embedder=WordEmbedder())


def test_a_column_of_texts_is_protected_and_a_table_is_refused() -> None:
    table, ids = pa.table({"text": ["one text", "another"]}), ["a", "b"]
    column: Any = table["text"]
    veil, key = made_veil(epsilon=20.0), Key.new()
    wanted = veil.protect(["one text", "another"], embedder=WordEmbedder(), key=key, ids=ids)
    np.testing.assert_array_equal(veil.protect(column, embedder=WordEmbedder(), key=key, ids=ids), wanted)
    guard = Guard(veil, epsilon=20.0, key=key, embedder=WordEmbedder())
    np.testing.assert_array_equal(guard.protect_texts(column, ids=ids), wanted)
    for protect in (lambda texts: veil.protect(texts, embedder=WordEmbedder()), guard.protect_texts):
        with pytest.raises(InvalidInputError, match="one column"):
            protect(table)


def test_one_string_instead_of_a_list_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"one string|list of texts"):
        made_veil(epsilon=1.0).protect("a single text", embedder=WordEmbedder())


def test_a_guarantee_names_its_distance_its_model_and_that_the_shape_was_learned() -> None:
    sheet = str(made_veil().guarantee(epsilon=2.0))
    assert "Mahalanobis distance" in sheet
    assert "words at revision 1" in sheet
    assert "learned on 20 contrast pairs" in sheet


def test_a_uniform_shape_needs_no_word_on_learning() -> None:
    veil = made_veil()
    uniform = replace(veil, provenance=replace(veil.provenance, learner={"name": "uniform"}))
    assert "contrast pairs and is fixed" not in str(uniform.guarantee(epsilon=2.0))


def test_an_axis_whose_noise_drowns_in_rounding_is_refused() -> None:
    quiet = np.array([1e-9] + [1.0] * (DIMENSIONS - 1))
    veil = made_veil(shape=NoiseShape(variances=quiet))
    with pytest.warns(VecveilWarning, match="1 of 8 released axes get less than a hundredth"):
        veil.perturb(unit_vectors(2), epsilon=veil.epsilon_for(noise_ratio=10.0))
    with pytest.raises(InvalidInputError, match="along the quietest axis"):
        veil.perturb(unit_vectors(2), epsilon=veil.epsilon_for(noise_ratio=0.1))


@pytest.mark.parametrize("dimensions", [8, 384, 768])
@pytest.mark.parametrize("mechanism", ["laplace", "purkayastha", "mahalanobis"])
def test_a_noise_ratio_can_be_asked_of_every_mechanism_at_common_sizes(mechanism: str, dimensions: int) -> None:
    veil = made_veil(mechanism=mechanism, dimensions=dimensions, shape=NoiseShape(variances=np.ones(dimensions)))
    sheet = veil.guarantee(epsilon=veil.epsilon_for(noise_ratio=0.7))
    assert sheet.readings.noise_ratio == pytest.approx(0.7)


def test_a_veil_that_was_used_can_be_copied_and_sent() -> None:
    veil, vectors = made_veil(epsilon=30.0), unit_vectors(5)
    key = Key(bytes(range(32)))
    wanted = veil.perturb(vectors, key=key)
    veil.perturb(vectors)
    sent = pickle.loads(pickle.dumps(veil))  # noqa: S301
    for copied in (copy.deepcopy(veil), copy.copy(veil), sent):
        np.testing.assert_array_equal(copied.perturb(vectors, key=key), wanted)
        assert copied.perturb(vectors).shape == vectors.shape


@pytest.mark.parametrize("epsilon", [True, [1.0], "1", np.ones(2)])
def test_a_budget_that_is_no_number_is_refused_whatever_was_asked_for_before(epsilon: Any) -> None:
    veil, vectors = made_veil(), unit_vectors(5)
    veil.perturb(vectors, epsilon=1.0)
    with pytest.raises(InvalidInputError, match="epsilon must be a number"):
        veil.perturb(vectors, epsilon=epsilon)


def test_many_threads_may_ask_for_many_budgets() -> None:
    veil, vectors = made_veil(), unit_vectors(3)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda number: veil.perturb(vectors, epsilon=2.0 + number % 35).shape, range(600)))
    assert set(found) == {vectors.shape}


def test_a_grid_that_is_no_name_is_refused_in_words() -> None:
    with pytest.raises(VecveilError):
        made_veil(epsilon=30.0).perturb(unit_vectors(2), grid=["float32"])  # type: ignore[arg-type]


def test_a_key_and_a_seeded_generator_contradict_each_other() -> None:
    with pytest.raises(InvalidInputError, match="got both"):
        made_veil(epsilon=30.0).perturb(unit_vectors(2), key=Key.new(), rng=_seeded())


def test_a_key_may_be_named_by_its_file(tmp_path: Path) -> None:
    veil, vectors, key = made_veil(epsilon=30.0), unit_vectors(4), Key.new()
    write_key(key, tmp_path / "a.key")
    for named in (tmp_path / "a.key", str(tmp_path / "a.key")):
        np.testing.assert_array_equal(veil.perturb(vectors, key=named), veil.perturb(vectors, key=key))


@pytest.mark.parametrize("settings", [{"noise_ratio": 0.7}, {"paper_epsilon": 20.0}, {"epsilon": 12.0}])
def test_every_call_takes_every_kind_of_budget(settings: dict[str, float]) -> None:
    veil, vectors = made_veil(), unit_vectors(3)
    others = {name: value for name, value in settings.items() if name != "epsilon"}
    epsilon = veil.epsilon_for(**others) if others else settings["epsilon"]
    wanted = veil.perturb(vectors, epsilon=epsilon, rng=_seeded())
    np.testing.assert_array_equal(veil.perturb(vectors, rng=_seeded(), **settings), wanted)  # type: ignore[arg-type]
    released = veil.release(rng=_seeded(), **settings).protect_vectors(vectors)  # type: ignore[arg-type]
    np.testing.assert_array_equal(released, wanted)
    assert veil.guarantee(**settings).readings.epsilon == epsilon  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="give one budget"):
        veil.perturb(vectors, **{"epsilon": 1.0, "noise_ratio": 1.0, **settings})  # type: ignore[arg-type]


def test_noise_longer_than_ten_embeddings_is_warned_of() -> None:
    veil, vectors = made_veil(), unit_vectors(3)
    for release in (
        lambda: veil.perturb(vectors, noise_ratio=10.1),
        lambda: veil.protect(TEXTS, noise_ratio=10.1, embedder=WordEmbedder()),
        lambda: Guard(veil, noise_ratio=10.1),
    ):
        with pytest.warns(VecveilWarning, match=r"the noise is 10\.1 times as long as an embedding"):
            release()
    # Warnings are errors in tests.
    veil.perturb(vectors, noise_ratio=9.9)
    assert any("10.1 times" in line for line in veil.guarantee(noise_ratio=10.1).readings.warnings)


def test_a_warning_of_noise_points_at_the_call() -> None:
    with pytest.warns(VecveilWarning) as caught:
        made_veil().perturb(unit_vectors(3), noise_ratio=10.1)
    assert [warning.filename for warning in caught] == [__file__]


def _write_as_an_earlier_version(folder: Path) -> str:
    """Take the fields away that veils have got since, and return the digest of what is left."""
    document = json.loads((folder / "manifest.json").read_bytes())
    del document["provenance"]["public"], document["digest"]
    document["digest"] = json_digest(document)
    (folder / "manifest.json").write_text(json.dumps(document))
    return str(document["digest"])


def test_a_veil_keeps_its_digest_and_its_keyed_noise_when_later_versions_know_more_fields(tmp_path: Path) -> None:
    made_veil(epsilon=20.0).save(tmp_path / "a.veil")
    digest = _write_as_an_earlier_version(tmp_path / "a.veil")
    assert Veil.load(tmp_path / "a.veil").digest() == digest


def test_a_changed_copy_of_a_loaded_veil_has_a_digest_of_its_own(tmp_path: Path) -> None:
    """Two veils of one digest would share their keyed noise."""
    made_veil(epsilon=20.0).save(tmp_path / "a.veil")
    loaded = Veil.load(tmp_path / "a.veil")
    changed = replace(loaded, epsilon=21.0)
    assert changed.digest() == made_veil(epsilon=21.0).digest() != loaded.digest()


def test_calls_of_the_library_can_be_recorded(tmp_path: Path) -> None:
    veil, vectors, key = made_veil(epsilon=20.0), unit_vectors(5), Key.new()
    place = tmp_path / "ledger.sqlite"
    with open_ledger(place) as ledger:
        ledger.set_limit(1.5 * veil.mechanism_at(20.0).euclidean_loss())
    for _ in range(2):
        veil.perturb(vectors, ids=[*range(5)], key=key, ledger=place)
    with pytest.raises(BudgetExceededError):
        veil.perturb(vectors, ids=[*range(5)], ledger=place)
    veil.protect(TEXTS, embedder=WordEmbedder(), ledger=str(place), collection="elsewhere")
    with open_ledger(place) as ledger:
        assert [run.releases for run in ledger.runs() if run.releases] == [5, 5, 3]


def test_a_notebook_shows_what_it_is_and_what_it_comes_to() -> None:
    veil = made_veil()
    known = replace(veil, provenance=replace(veil.provenance, measured="It reads 5 % & no <more>."))
    assert veil.digest()[:12] in veil._repr_html_()
    assert "5 % &amp; no &lt;more&gt;." in known._repr_html_()
