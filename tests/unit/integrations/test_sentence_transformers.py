from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from support.embedders import WordEmbedder
from support.guards import TEXTS, named_guard, secret_of, without_words
from support.tiny_model import write_tiny_model
from support.veils import made_veil
from vecveil.concepts import terms
from vecveil.core.errors import EmbedderMismatchError, InvalidInputError
from vecveil.integrations.sentence_transformers import KEY_VARIABLE, VeilModule, load_veiled, veil_model
from vecveil.ledger import open_ledger
from vecveil.veil import Guard


@pytest.fixture
def model(model_folder: Path) -> SentenceTransformer:
    return SentenceTransformer(str(model_folder), device="cpu")


def test_every_way_to_encode_gives_protected_vectors(model: SentenceTransformer, guard: Guard) -> None:
    protected = veil_model(guard, model)
    clean = model.encode(TEXTS)
    for encode in (protected.encode, protected.encode_query, protected.encode_document):
        found = encode(TEXTS)
        assert found.shape == clean.shape
        assert (np.linalg.norm(found - clean, axis=1) > 1e-4).all()


@pytest.mark.filterwarnings("ignore:the ledger knows")
def test_they_are_what_the_veil_makes_of_the_clean_ones(model: SentenceTransformer, guard: Guard) -> None:
    assert np.allclose(
        veil_model(guard, model).encode(TEXTS[:1]), guard.protect_embedded(TEXTS[:1], model.encode(TEXTS[:1]))
    )


def test_tensors_stay_tensors_and_single_texts_single(model: SentenceTransformer, guard: Guard) -> None:
    protected = veil_model(guard, model)
    assert isinstance(protected.encode(TEXTS, convert_to_tensor=True), torch.Tensor)
    assert protected.encode(TEXTS[0]).shape == (16,)


def test_token_vectors_can_t_be_had(model: SentenceTransformer, guard: Guard) -> None:
    protected = veil_model(guard, model)
    with pytest.raises(KeyError):
        protected.encode(TEXTS, output_value="token_embeddings")
    (features,) = protected.encode(TEXTS[:1], output_value=None)
    assert "token_embeddings" not in features


def test_training_sees_clean_vectors(model: SentenceTransformer, guard: Guard) -> None:
    module = VeilModule(guard)
    clean = {"sentence_embedding": model.encode(TEXTS, convert_to_tensor=True)}
    assert module.train()(clean) is clean
    assert not torch.equal(module.eval()(dict(clean))["sentence_embedding"], clean["sentence_embedding"])


@pytest.mark.parametrize(
    "batch",
    [
        [{"text": "the ward is full"}],
        [("the ward is full", "a note")],
        [["the ward is full", "a note"]],
        ["the ward is full", {"text": "a note"}],
    ],
    ids=["dict", "pair", "list", "mixed"],
)
def test_what_is_no_text_is_refused_where_words_are_replaced(guard: Guard, batch: list[object]) -> None:
    protected = veil_model(without_words(guard, terms("ward")))
    with pytest.raises(InvalidInputError, match=r"plain texts alone: got (dict|tuple|list)"):
        protected.encode(batch)
    # The words of queries stay by design, in whatever form they come.
    assert protected.encode_query(batch).shape == (len(batch), 16)
    removed = protected.encode(["the ward is full"])
    assert np.array_equal(removed, protected.encode(["the is full"]))


def test_a_saved_model_is_one_folder_without_the_key(
    model: SentenceTransformer, guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    protected = veil_model(guard, model)
    protected.save_pretrained(str(tmp_path / "saved"))
    found = protected.encode(TEXTS)
    secret = secret_of(guard)
    for path in (tmp_path / "saved").rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes()
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with pytest.raises(InvalidInputError, match=r"\$VECVEIL_KEY"):
        load_veiled(tmp_path / "saved", device="cpu")
    monkeypatch.setenv(KEY_VARIABLE, str(guard.key))
    (tmp_path / "a.veil" / "manifest.json").unlink()
    assert np.array_equal(load_veiled(tmp_path / "saved", device="cpu").encode(TEXTS), found)


def test_another_key_is_refused(
    model: SentenceTransformer, guard: Guard, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    veil_model(guard, model).save_pretrained(str(tmp_path / "saved"))
    (tmp_path / "other").mkdir()
    monkeypatch.setenv(KEY_VARIABLE, str(named_guard(tmp_path / "other", model_folder).key))
    with pytest.raises(InvalidInputError, match="names another"):
        load_veiled(tmp_path / "saved", device="cpu")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("config.json", '{"auto\\u005fmap": {"AutoModel": "evil/repo--mod.C"}}', "evil/repo"),
        ("deep/more.json", '{"a": [{"auto_map": "x.Y"}]}', "x.Y"),
        ("modules.json", '[{"idx": 0, "type": "this.Class"}]', "this.Class"),
        ("modules.json", '[{"idx": 0, "type": "evil/repo--mod.Class"}]', "evil/repo"),
    ],
)
def test_a_folder_that_names_other_code_is_not_loaded(
    guard: Guard, tmp_path: Path, name: str, content: str, said: str
) -> None:
    veil_model(guard).save_pretrained(str(tmp_path / "saved"))
    place = tmp_path / "saved" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(content)
    with pytest.raises(InvalidInputError, match=said):
        load_veiled(tmp_path / "saved")


def test_a_direct_call_gives_nothing_clean(
    model: SentenceTransformer, guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    veil_model(guard, model).save_pretrained(str(tmp_path / "saved"))
    monkeypatch.setenv(KEY_VARIABLE, str(guard.key))
    clean = model.encode(TEXTS, convert_to_tensor=True)
    for protected in (veil_model(guard, model), load_veiled(tmp_path / "saved", device="cpu")):
        features = protected(protected.preprocess(TEXTS))
        assert not torch.allclose(features["sentence_embedding"], clean, atol=1e-5)
        assert "token_embeddings" not in features


def test_a_text_is_one_record_in_any_batch(model: SentenceTransformer, guard: Guard) -> None:
    protected = veil_model(guard, model)
    for batch in (
        TEXTS,
        TEXTS[:1],
        [*TEXTS, "a much longer text than all of the others together, so that they are padded"],
    ):
        protected.encode(batch)
    with open_ledger(str(guard.ledger)) as ledger:
        assert ledger.totals().records == len(TEXTS) + 1


def test_a_model_without_a_key_needs_none(model: SentenceTransformer, tmp_path: Path, model_folder: Path) -> None:
    veil_model(named_guard(tmp_path, model_folder, keyed=False), model).save_pretrained(str(tmp_path / "saved"))
    again = load_veiled(tmp_path / "saved", device="cpu")
    assert not np.array_equal(again.encode(TEXTS), again.encode(TEXTS))


def test_a_folder_with_code_of_its_own_is_not_loaded(model: SentenceTransformer, guard: Guard, tmp_path: Path) -> None:
    veil_model(guard, model).save_pretrained(str(tmp_path / "saved"))
    (tmp_path / "saved" / "modeling.py").write_text("raise SystemExit('run')")
    with pytest.raises(InvalidInputError, match=r"modeling\.py"):
        load_veiled(tmp_path / "saved")
    with pytest.raises(InvalidInputError, match="there is no folder"):
        load_veiled(tmp_path / "nowhere")


def test_another_model_is_refused(guard: Guard, tmp_path: Path) -> None:
    other = SentenceTransformer(str(write_tiny_model(tmp_path / "other", seed=1)), device="cpu")
    with pytest.raises(EmbedderMismatchError, match="the veil is for small"):
        veil_model(guard, other)


def test_a_veiled_model_is_not_veiled_again(model: SentenceTransformer, guard: Guard) -> None:
    with pytest.raises(InvalidInputError, match="veiled already"):
        veil_model(guard, veil_model(guard, model))


def test_the_veil_loads_its_model_itself(model: SentenceTransformer, guard: Guard) -> None:
    assert np.array_equal(veil_model(guard).encode(TEXTS), veil_model(guard, model).encode(TEXTS))
    with pytest.raises(InvalidInputError, match="words is no model of sentence-transformers"):
        veil_model(Guard(made_veil(epsilon=3.0), embedder=WordEmbedder()))


def test_releases_are_on_record(model: SentenceTransformer, guard: Guard) -> None:
    veil_model(guard, model).encode(TEXTS)
    with open_ledger(str(guard.ledger)) as ledger:
        assert ledger.totals().releases == len(TEXTS)
