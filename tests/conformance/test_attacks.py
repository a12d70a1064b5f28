"""Every registered attack keeps the contract of `vecveil.testing.attacks`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from vecveil.attacks import ATTACKS, Attack, Recovery, Sample, TrainedAttack, TrainingRun, build_attack
from vecveil.attacks.mlc import Mlc
from vecveil.attacks.nearest import NearestNeighbor
from vecveil.core.arrays import Embeddings, Vector
from vecveil.testing.attacks import check_attack
from vecveil.testing.toy_notes import embed_words, toy_notes

MLC: dict[str, Any] = {"hidden": (64,), "learning_rate": 1e-2, "epochs": 40}
WRITING: dict[str, Any] = {
    "width": 32,
    "layers": 1,
    "heads": 2,
    "vocabulary": 400,
    "max_tokens": 8,
    "batch_size": 32,
    "dropout": 0.0,
    "learning_rate": 1e-2,
    "patience": 50,
}
GEIA: dict[str, Any] = {**WRITING, "hidden": 64}
VEC2TEXT: dict[str, Any] = {**WRITING, "encoder_layers": 1, "positions": 2}

# The settings that a good attack takes here, and what is enough where it need not be good.
SETTINGS: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {
    "averaging": [
        ({"releases": 2, "settings": MLC}, {}),
        ({"releases": 3, "base": "nearest", "embed": embed_words}, {}),
    ],
    "boosted": [({}, {"rounds": 10, "landmarks": 20}), ({"most": 8, "components": 4, "leaves": 8}, {"rounds": 5})],
    "geia": [({**GEIA, "epochs": 40}, {"epochs": 3, "dropout": 0.1})],
    "mlc": [(MLC, {"epochs": 6}), ({**MLC, "hidden": (), "batch_size": 40, "rarest": 2}, {"epochs": 3})],
    "ridge": [({}, {}), ({"threshold": 0.4}, {})],
    "nearest": [({}, {}), ({"embed": embed_words, "neighbors": 5}, {})],
    "vec2text": [
        ({**VEC2TEXT, "steps": 0, "epochs": 40}, {"epochs": 3, "dropout": 0.1}),
        ({**VEC2TEXT, "steps": 1, "epochs": 20, "embed": embed_words}, {"epochs": 3, "dropout": 0.1}),
    ],
}


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Networks of this size take many times as long where two threads wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_every_registered_attack_is_covered() -> None:
    assert sorted(SETTINGS) == ATTACKS.names()


@pytest.mark.parametrize("name", ATTACKS.names())
def test_an_attack_keeps_the_contract(name: str) -> None:
    for settings, fewer in SETTINGS[name]:
        check_attack(build_attack(name, settings), brief=build_attack(name, {**settings, **fewer}))


@dataclass(frozen=True, kw_only=True)
class Honest:
    """An attack that does all that it must, and whose children each do not."""

    releases: ClassVar[int] = 1

    def train(self, run: TrainingRun) -> TrainedAttack:
        return self.reading(NearestNeighbor().train(run))

    def reading(self, base: TrainedAttack) -> TrainedAttack:
        return Reader(base=base)


@dataclass(kw_only=True)
class Reader:
    """Reads as its base does."""

    base: TrainedAttack

    def recover(self, vectors: Embeddings, **_: Any) -> Recovery:
        return self.base.recover(vectors)

    def confidence(self, sample: Sample, **_: Any) -> tuple[Vector, ...]:
        return self.base.confidence(sample)


class Unreleased(Honest):
    releases: ClassVar[int] = 0


class Greedy(Honest):
    def train(self, run: TrainingRun) -> TrainedAttack:
        run.sample.vectors[0] += 1
        return super().train(run)


class Stubborn(Honest):
    """Starts anew wherever it was stopped."""

    def train(self, run: TrainingRun) -> TrainedAttack:
        return Mlc(**MLC).train(replace(run, folder=None))


class Confused(Honest):
    """Goes on from its folder, but with other batches."""

    def train(self, run: TrainingRun) -> TrainedAttack:
        if run.folder is not None and run.folder.exists() and run.folder.name == "stopped":
            run.rng.random()
        return Mlc(**{**MLC, "epochs": 6}).train(run)


@dataclass(kw_only=True)
class Changed(Reader):
    """Reads as its base does, and tells something else."""

    changes: Any

    def recover(self, vectors: Embeddings, **_: Any) -> Recovery:
        found = self.base.recover(vectors)
        return replace(found, **self.changes(found))


class Noisy(Reader):
    """Draws from a generator that was not handed in."""

    def confidence(self, sample: Sample, **_: Any) -> tuple[Vector, ...]:
        drawn = np.random.default_rng().random()
        return tuple(0.9 * values + 0.01 * drawn for values in self.base.confidence(sample))


class Overwriting(Reader):
    def recover(self, vectors: Embeddings, **_: Any) -> Recovery:
        found = self.base.recover(vectors)
        vectors[:1] *= 2
        return found


class TooSure(Reader):
    def confidence(self, sample: Sample, **_: Any) -> tuple[Vector, ...]:
        return tuple(values + 1 for values in self.base.confidence(sample))


class Averse(Reader):
    def confidence(self, sample: Sample, **_: Any) -> tuple[Vector, ...]:
        return tuple(np.full(len(tokens), 0.5) for tokens in sample.tokens)


class Wordless(Reader):
    def confidence(self, sample: Sample, **_: Any) -> tuple[Vector, ...]:
        return tuple(values for values in self.base.confidence(sample) if values.size)


class Fragile(Reader):
    def recover(self, vectors: Embeddings, **_: Any) -> Recovery:
        return self.base.recover(vectors) if len(vectors) else replace(self.base.recover(vectors), scores=np.zeros(0))


@dataclass(kw_only=True)
class Clairvoyant(Reader):
    """Knows the test texts by heart, whatever their vectors are."""

    def recover(self, vectors: Embeddings, **_: Any) -> Recovery:
        texts = toy_notes().test.texts[: len(vectors)]
        return replace(self.base.recover(vectors), texts=texts, words=tuple(frozenset(text.split()) for text in texts))


@dataclass(frozen=True, kw_only=True)
class Reading(Honest):
    """An attack whose training is honest, and whose reading is not."""

    reader: Any

    def reading(self, base: TrainedAttack) -> TrainedAttack:
        trained: TrainedAttack = self.reader(base=base)
        return trained


def telling(changes: Any) -> Reading:
    """Return the attack that changes a recovery after it was made."""
    return Reading(reader=lambda base: Changed(base=base, changes=changes))


def test_the_contract_lets_an_honest_attack_pass() -> None:
    notes = toy_notes()
    check_attack(Honest())
    np.testing.assert_array_equal(notes.test.vectors, toy_notes().test.vectors)


CAUGHT: dict[str, tuple[Attack, str]] = {
    "no release": (Unreleased(), "at least one release"),
    "training changes vectors": (Greedy(), "must not change the vectors that it learns from"),
    "reading changes vectors": (Reading(reader=Overwriting), "must not change the vectors that it reads"),
    "a row too few": (telling(lambda found: {"words": found.words[1:]}), "one set of words per vector"),
    "a word twice": (telling(lambda found: {"vocabulary": found.vocabulary[:1] * 12}), "each word once"),
    "a word from nowhere": (
        telling(lambda found: {"vocabulary": ("xylophone", *found.vocabulary[1:])}),
        "words of its training texts only",
    ),
    "a column too few": (telling(lambda found: {"scores": found.scores[:, 1:]}), "a column per word"),
    "scores that are no numbers": (telling(lambda found: {"scores": found.scores * np.nan}), "must be finite"),
    "words as written": (
        telling(lambda found: {"texts": None, "words": tuple(frozenset({"Rome"}) for _ in found.words)}),
        "as vecveil.concepts.words gives them",
    ),
    "a text too few": (telling(lambda found: {"texts": found.texts[1:]}), "one text per vector"),
    "words of other texts": (telling(lambda found: {"words": found.words[::-1]}), "must be those of the texts"),
    "reads nothing": (
        telling(lambda found: {"texts": None, "words": tuple(frozenset() for _ in found.words)}),
        "must read more than chance",
    ),
    "claims everything": (
        telling(lambda found: {"texts": None, "words": tuple(frozenset(found.vocabulary) for _ in found.words)}),
        "must read more than chance",
    ),
    "scores upside down": (telling(lambda found: {"scores": -found.scores}), "must score above others"),
    "no probabilities": (Reading(reader=TooSure), "must be a probability"),
    "confidence for everyone": (Reading(reader=Averse), "must come from the vector"),
    "confidence for some": (Reading(reader=Wordless), "one number per token"),
    "no vectors, no shape": (Reading(reader=Fragile), "a column per word"),
    "knows the texts": (Reading(reader=Clairvoyant), "no more than chance"),
    "random": (Reading(reader=Noisy), "same samples and generator state"),
    "starts anew": (Stubborn(), "must go on from its folder"),
    "goes on elsewhere": (Confused(), "must end as if it had not been"),
}


@pytest.mark.parametrize("name", CAUGHT)
def test_the_contract_catches(name: str) -> None:
    attack, fact = CAUGHT[name]
    with pytest.raises(AssertionError, match=fact):
        check_attack(attack)
