from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.corpora import CITIES, ILLNESSES, QUICK, toy_concept, toy_corpus, toy_texts
from support.embedders import WordEmbedder
from support.veils import made_veil
from vecveil.attacks import ProbeScore, Recovery, Sample, TrainingRun
from vecveil.attacks.averaging import Averaging
from vecveil.attacks.mlc import Mlc
from vecveil.attacks.nearest import NearestNeighbor
from vecveil.attacks.vec2text import Vec2Text
from vecveil.audit import AuditCorpus, attack_runner
from vecveil.audit.attack_runner import FOLDS, AttackCell, AttackRunner, PlannedAttack, give_access, probe_row
from vecveil.audit.audit import attack_from_spec
from vecveil.audit.defenses import Defense, Rewritten, Undefended, Veiled
from vecveil.audit.embedding import MemoizedEmbedder
from vecveil.audit.rows import AttackRow, ProbeRow, Setting
from vecveil.concepts import words
from vecveil.concepts.passage import passages
from vecveil.concepts.rewriting import build_rewriter
from vecveil.core.arrays import Embeddings, Vector
from vecveil.core.progress import Progress, silent
from vecveil.veil.blanks import Blank, choose_blanks


def _rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


PLAIN = Setting(defense="none", label="none", asked="", readings=None, seed=0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Spy:
    """An attack that remembers what it was given, and reads what it is told to."""

    releases: int = 1
    says: str = "a calm day"
    seen: list[Sample] = field(default_factory=list)

    def train(self, run: TrainingRun) -> Spy:
        self.seen.extend([run.sample, run.held_out])
        return self

    def recover(self, vectors: Embeddings, *, progress: Progress = silent) -> Recovery:
        del progress
        self.seen.append(Sample(vectors=vectors, texts=("",) * len(vectors), tokens=((),) * len(vectors)))
        return Recovery(
            words=(frozenset(words(self.says)),) * len(vectors),
            vocabulary=ILLNESSES,
            scores=np.tile(np.arange(len(ILLNESSES), dtype=float), (len(vectors), 1)),
            texts=(self.says,) * len(vectors),
        )

    def confidence(self, sample: Sample, *, progress: Progress = silent) -> tuple[Vector, ...]:
        del progress
        self.seen[-1] = sample
        return tuple(np.full(len(tokens), 0.5) for tokens in sample.tokens)


def _attacker(*, copies: int = 2, examples: int = 2, judge: WordEmbedder | None = None) -> AttackRunner:
    return AttackRunner(
        corpus=toy_corpus(),
        embed=MemoizedEmbedder(WordEmbedder()),
        judge=None if judge is None else MemoizedEmbedder(judge),
        copies=copies,
        examples=examples,
    )


def _noise(ratio: float = 0.5, seed: int = 0, *, keyed: bool = False) -> tuple[Setting, Defense]:
    veil = made_veil()
    setting = Setting(defense="veil", label="veil", asked=f"noise {ratio:g}", readings=None, seed=seed)
    return setting, Veiled(veil=veil, epsilon=veil.epsilon_for(noise_ratio=ratio), keyed=keyed)


def _rewritten(name: str) -> Rewritten:
    embed = MemoizedEmbedder(WordEmbedder())
    return Rewritten.over_corpus(toy_corpus().passages, build_rewriter(name), toy_concept(), embed, seed=0)


def _spied(spy: Spy, defended: tuple[Setting, Defense], attacker: AttackRunner | None = None) -> AttackCell:
    return (attacker or _attacker()).attack("spy", spy, *defended, np.random.default_rng(1))


@pytest.fixture
def no_filter(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Embeddings, Embeddings]]]:
    """A denoiser that does nothing but to remember what it was worked out from."""
    asked: list[tuple[Embeddings, Embeddings]] = []

    def fit(kind: str, clean: Embeddings, released: Embeddings, rng: object, *, axes: object) -> Any:
        del rng, axes
        assert kind == "wiener"
        asked.append((clean, released))
        return lambda vectors: vectors

    monkeypatch.setattr(attack_runner, "fit_denoiser", fit)
    return asked


@pytest.mark.parametrize("seed", [0, 3])
def test_nothing_is_tested_that_was_trained_on(seed: int) -> None:
    spy = Spy()
    _spied(spy, _noise(seed=seed))
    train, held_out, test = (set(sample.texts) for sample in spy.seen)
    assert train | held_out | test == set(toy_corpus().texts)
    assert not train & held_out
    assert not (train | held_out) & test
    assert [len(part) for part in (train, held_out, test)] == [280, 40, 80]


def test_another_seed_trains_on_other_texts() -> None:
    one, other = Spy(), Spy()
    _spied(one, (PLAIN, Undefended()))
    _spied(other, (replace(PLAIN, seed=1), Undefended()))
    assert set(one.seen[0].texts) != set(other.seen[0].texts)


def test_vectors_texts_and_tokens_belong_together() -> None:
    spy = Spy()
    _spied(spy, (PLAIN, Undefended()))
    corpus = toy_corpus()
    tokens = dict(zip(corpus.texts, corpus.tokens, strict=True))
    for sample in spy.seen:
        np.testing.assert_array_equal(sample.vectors, WordEmbedder().embed(sample.texts))
        assert sample.tokens == tuple(tokens[text] for text in sample.texts)


def test_an_attacker_learns_from_fresh_copies_of_each_text(no_filter: list[Any]) -> None:
    spy = Spy()
    _spied(spy, _noise(), _attacker(copies=3))
    train, held_out, test = spy.seen
    assert (len(train), len(held_out), len(test)) == (3 * 280, 40, 80)
    assert train.texts[:280] == train.texts[280:560] == train.texts[560:]
    first, second, third = np.split(train.vectors, 3)
    assert (first != second).any(axis=1).all()
    assert (second != third).any(axis=1).all()
    assert len(no_filter) == 1 + FOLDS


@pytest.mark.parametrize("name", ["none", "remove"])
def test_without_noise_copies_are_equal_and_nothing_is_denoised(name: str, no_filter: list[Any]) -> None:
    spy, concept = Spy(releases=8), toy_concept()
    removed = _rewritten("remove")
    _spied(spy, (PLAIN, Undefended() if name == "none" else removed), _attacker(copies=3))
    texts = spy.seen[0].texts
    assert len(texts) == 3 * 280
    assert texts[:280] == texts[280:560] == texts[560:]
    assert no_filter == []
    expected = WordEmbedder().embed(texts if name == "none" else [concept.remove(text) for text in texts])
    np.testing.assert_array_equal(spy.seen[0].vectors, expected)


@pytest.mark.parametrize("releases", [4, 16])
def test_the_mean_of_k_releases_has_one_over_root_k_of_the_noise(releases: int, no_filter: list[Any]) -> None:
    one, many = Spy(), Spy(releases=releases)
    _spied(one, _noise())
    _spied(many, _noise())
    assert len(no_filter) == 2 * (1 + FOLDS)
    for first, mean in zip(one.seen, many.seen, strict=True):
        lengths = [
            np.sqrt(np.mean(np.sum((sample.vectors - WordEmbedder().embed(sample.texts)) ** 2, axis=1)))
            for sample in (first, mean)
        ]
        # The held-out part has 40 rows of eight numbers each.
        assert lengths[0] / lengths[1] == pytest.approx(np.sqrt(releases), rel=0.15)
        assert len(first) == len(mean)


def test_the_denoiser_is_worked_out_from_training_texts_alone(no_filter: list[tuple[Embeddings, Embeddings]]) -> None:
    spy = Spy()
    _spied(spy, _noise())
    (clean, released), *folds = no_filter
    np.testing.assert_array_equal(clean, WordEmbedder().embed(spy.seen[0].texts))
    np.testing.assert_array_equal(released, spy.seen[0].vectors)
    assert len(folds) == FOLDS
    for known, _ in folds:
        # Four fifths of the training texts, each of them one of those.
        assert len(known) == pytest.approx(len(clean) * (FOLDS - 1) / FOLDS, rel=0.02)
        assert (known[:, None] == clean).all(axis=2).any(axis=1).all()


def test_no_training_vector_is_denoised_by_what_was_learned_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tagging:
        """Gives back twos for what it had seen, and ones for what is new to it."""

        def __init__(self, released: Embeddings) -> None:
            self.known = {row.tobytes() for row in released}

        def __call__(self, released: Embeddings) -> Embeddings:
            seen = np.array([row.tobytes() in self.known for row in released])
            return np.ones_like(released) + seen[:, None]

    def tagging(kind: str, clean: Embeddings, released: Embeddings, rng: object, *, axes: object) -> Tagging:
        return Tagging(released)

    monkeypatch.setattr(attack_runner, "fit_denoiser", tagging)
    spy = Spy()
    _spied(spy, _noise(), _attacker(copies=2))
    assert [sample.vectors.max() for sample in spy.seen] == [1.0, 1.0, 1.0]


def test_what_an_attacker_reads_was_denoised() -> None:
    spy = Spy()
    setting, defense = _noise(ratio=1.0)
    _spied(spy, (setting, defense))
    rng = np.random.default_rng(1)
    for sample in spy.seen:
        clean = WordEmbedder().embed(sample.texts)
        noisy = defense.protect([], clean, rng)
        assert np.mean((sample.vectors - clean) ** 2) < 0.8 * np.mean((noisy - clean) ** 2)


def test_an_attack_may_do_without_a_denoiser_and_have_copies_of_its_own(no_filter: list[Any]) -> None:
    spy = Spy()
    setting, defense = _noise()
    _attacker().attack("spy", PlannedAttack(attack=spy, denoiser="none", copies=3), setting, defense, _rng())
    assert no_filter == []
    assert len(spy.seen[0]) == 3 * len(toy_corpus().split(0)[0])


def test_a_network_denoises_no_worse_than_the_filter() -> None:
    errors = {}
    setting, defense = _noise(ratio=1.0)
    for kind in ("wiener", "mlp"):
        spy = Spy()
        planned = PlannedAttack(attack=spy, denoiser=kind)
        _attacker(copies=4).attack("spy", planned, setting, defense, _rng())
        test = spy.seen[-1]
        errors[kind] = float(np.mean((test.vectors - WordEmbedder().embed(test.texts)) ** 2))
    assert errors["mlp"] < 1.05 * errors["wiener"]


def test_a_group_is_one_row_with_the_mean_of_its_vectors_and_all_its_words() -> None:
    texts = toy_texts(400)
    corpus = AuditCorpus.from_texts(
        toy_concept(),
        passages(texts),
        MemoizedEmbedder(WordEmbedder()),
        groups=[number // 5 for number in range(400)],
    )
    runner = replace(_attacker(copies=1), corpus=corpus)
    spy = Spy()
    cell = runner.attack("spy", spy, PLAIN, Undefended(), _rng(), grouped=True)
    parts = [{corpus.groups[row] for row in part} for part in corpus.split(0)]
    assert not parts[0] & parts[2]
    assert [len(sample) for sample in spy.seen] == [len(part) for part in parts]
    assert cell.readings == ()
    last = spy.seen[-1]
    members = [row for row in range(400) if corpus.passages[row].text in last.texts[0].split("\n")]
    np.testing.assert_allclose(last.vectors[0], corpus.clean[members].mean(axis=0), rtol=1e-5)
    assert {token.word for row in members for token in corpus.tokens[row]} == {t.word for t in last.tokens[0]}
    assert cell.exposures == ()
    own = runner.attack("spy", spy, replace(PLAIN, own=True), Undefended(), _rng(), grouped=True)
    with_words = {corpus.groups[row]: 0 for row in corpus.split(0)[2] if corpus.tokens[row]}
    assert {one.record for one in own.exposures} == {*with_words}
    assert all(one.grouped for one in own.exposures)
    first = next(one for one in own.exposures if one.record == corpus.groups[members[0]])
    assert first.words == len({token.word for row in members for token in corpus.tokens[row]})


def _blanks() -> list[Blank]:
    corpus = toy_corpus()
    values = {"ILLNESS": ILLNESSES, "CITY": CITIES}
    return choose_blanks(corpus.passages, corpus.spans, values, _rng(), most=20)


def test_blanks_are_filled_without_a_defense_and_not_behind_strong_noise() -> None:
    clear = _attacker().fill_blanks(_blanks(), PLAIN, Undefended(), _rng())
    setting, defense = _noise(9.0)
    hidden = _attacker().fill_blanks(_blanks(), replace(setting, own=True), defense, _rng())
    assert clear.row is not None
    assert hidden.row is not None
    assert clear.row.right.value == 1.0
    assert clear.row.bits.value > 0.9
    assert hidden.row.right.value < 0.8
    assert hidden.row.bits.value < 0.5
    assert clear.exposures == ()
    assert [one.record for one in hidden.exposures] == [str(blank.row) for blank in _blanks()]


def test_blanks_behind_random_words_are_not_worked_out() -> None:
    assert _attacker().fill_blanks(_blanks(), PLAIN, _rewritten("random-replacement"), _rng()).row is None
    assert _attacker().fill_blanks([], PLAIN, Undefended(), _rng()).row is None


def test_words_read_are_counted_by_rank_and_guessing_by_frequency() -> None:
    row = _spied(Spy(), (PLAIN, Undefended())).row
    corpus = toy_corpus()
    train, _, test = corpus.split(0)
    counts = Counter(token.word for number in train for token in corpus.tokens[number])
    # The spy ranks the last illnesses first, whatever the vector is.
    expected = guess = total = 0.0
    for number in test:
        held = [token.word for token in corpus.tokens[number]]
        total += len(held)
        expected += sum(word in held for word in ILLNESSES[::-1][: len(held)])
        frequent = sorted(ILLNESSES, key=lambda word: -counts[word])
        guess += sum(word in held for word in frequent[: len(held)])
    assert row.r_precision.value == pytest.approx(expected / total)
    assert row.r_chance == pytest.approx(guess / total)


def test_a_row_holds_every_metric_of_what_was_read() -> None:
    setting, defense = _noise()
    row = _spied(Spy(says=f"{ILLNESSES[3]} {CITIES[0]} again"), (setting, defense)).row
    corpus = toy_corpus()
    tested = [corpus.tokens[row] for row in corpus.split(0)[2]]
    held = [token.word for tokens in tested for token in tokens]
    assert (row.setting, row.attack, row.releases) == (setting, "spy", 1)
    assert (row.texts, row.tokens) == (60, len(held))
    assert row.leakage.value == row.chance == (held.count(ILLNESSES[3]) + held.count(CITIES[0])) / len(held)
    assert row.confidence.value == 0.5
    assert row.known == sum(word in ILLNESSES for word in held) / len(held)
    # The last illness has the highest score everywhere, and is the only word of the vocabulary that was claimed.
    assert row.top_one.value == held.count(ILLNESSES[3]) / 60
    assert row.precision is not None
    assert row.precision.value == held.count(ILLNESSES[3]) / 80
    assert set(row.categories) == {"ILLNESS", "CITY"}
    assert row.similarity is None
    assert row.seconds > 0


def test_readings_are_of_the_example_texts() -> None:
    attacker = _attacker(examples=5)
    corpus = toy_corpus()
    cell = _spied(Spy(says=ILLNESSES[0]), (PLAIN, Undefended()), attacker)
    rows = attacker.example_rows(0)
    assert len(cell.readings) == len(rows) == 5
    assert set(rows) <= set(corpus.split(0)[2].tolist())
    for row, reading in zip(rows, cell.readings, strict=True):
        held = [token.word for token in corpus.tokens[row]]
        assert held
        assert reading.leaked == ((ILLNESSES[0],) if ILLNESSES[0] in held else ())
        assert reading.text == ILLNESSES[0]


def test_no_examples_keep_no_reading() -> None:
    attacker = _attacker(examples=0)
    assert attacker.example_rows(0) == []
    assert _spied(Spy(), (PLAIN, Undefended()), attacker).readings == ()


def test_a_judge_says_how_near_reconstructions_come() -> None:
    judge = WordEmbedder(revision="judge")
    cell = _spied(Spy(says="a calm day"), (PLAIN, Undefended()), _attacker(judge=judge))
    assert cell.row.similarity is not None
    tested = [row for row in toy_corpus().split(0)[2] if toy_corpus().tokens[row]]
    vectors = WordEmbedder().embed([toy_corpus().texts[row] for row in tested])
    expected = vectors @ WordEmbedder().embed(["a calm day"])[0]
    assert cell.row.similarity.value == pytest.approx(expected.mean(), abs=1e-5)
    similar = [reading.similarity for reading in cell.readings]
    np.testing.assert_allclose(np.array(similar, dtype=float), expected[:2], atol=1e-5)


def test_an_attack_that_says_nothing_comes_near_nothing() -> None:
    judge = WordEmbedder(revision="judge")
    cell = _spied(Spy(says=" "), (PLAIN, Undefended()), _attacker(judge=judge))
    assert cell.row.similarity is not None
    assert cell.row.similarity.value == 0.0
    assert judge.asked == []


def test_more_examples_than_judged_texts_are_judged_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attack_runner, "JUDGED", 3)
    cell = _spied(Spy(), (PLAIN, Undefended()), _attacker(examples=7, judge=WordEmbedder(revision="judge")))
    assert len(cell.readings) == 7
    assert all(reading.similarity is not None for reading in cell.readings)


def test_the_same_generator_gives_the_same_row(tmp_path: Path) -> None:
    def attacked(folder: Path | None) -> AttackCell:
        cell = _attacker().attack("mlc", attack_from_spec(QUICK), *_noise(), np.random.default_rng(7), folder=folder)
        return replace(cell, row=replace(cell.row, seconds=0.0))

    assert attacked(None) == attacked(None) == attacked(tmp_path / "checkpoints")


def test_an_attack_that_can_use_the_model_gets_it() -> None:
    memory = MemoizedEmbedder(WordEmbedder())
    armed: Sequence[Any] = [give_access(attack, memory) for attack in (NearestNeighbor(), Vec2Text(), Mlc())]
    assert armed[0].embed is armed[1].embed is memory
    assert armed[1].embedder == WordEmbedder().fingerprint
    assert armed[2] == Mlc()


@pytest.mark.filterwarnings("ignore:the noise is 20 times as long")
def test_real_attacks_read_the_toy_corpus_and_noise_keeps_them_from_it() -> None:
    for spec in (QUICK, "nearest"):
        clear = _attacker().attack(spec, attack_from_spec(spec), PLAIN, Undefended(), np.random.default_rng(0)).row
        hidden = _attacker().attack(spec, attack_from_spec(spec), *_noise(20.0), np.random.default_rng(0)).row
        assert clear.leakage.low - clear.chance > 0.2
        assert hidden.leakage.value - hidden.chance < 0.1


def _read(attack: Averaging | NearestNeighbor, *, keyed: bool) -> AttackRow:
    return _attacker(copies=1).attack("attack", attack, *_noise(1.5, keyed=keyed), np.random.default_rng(2)).row


def test_the_averaging_attack_gains_nothing_from_keyed_noise_and_much_from_fresh_noise() -> None:
    averaging, single = Averaging(base="nearest", releases=16), NearestNeighbor()
    fresh = [_read(attack, keyed=False).leakage.value for attack in (single, averaging)]
    keyed = [_read(attack, keyed=True).leakage.value for attack in (single, averaging)]
    assert keyed[0] == keyed[1]
    assert fresh[1] > fresh[0] + 0.2


def _probe(setting: Setting, defense: Defense, kind: Any = "linear") -> ProbeRow:
    return probe_row(kind, toy_corpus(), setting, defense, np.random.default_rng(0))


@pytest.mark.filterwarnings("ignore:the noise is 30 times as long")
@pytest.mark.parametrize("kind", ["linear", "mlp"])
def test_a_probe_sees_the_concept_in_unprotected_vectors_and_not_through_noise(kind: str) -> None:
    seen, hidden = _probe(PLAIN, Undefended(), kind), _probe(*_noise(30.0), kind)
    assert seen.probe == kind
    assert seen.auc.low > 0.75
    assert seen.tested == 2 * round(0.3 * 300)
    assert hidden.auc.low < 0.5 < hidden.auc.high
    assert seen.auc.low <= seen.auc.value <= seen.auc.high


def test_nothing_is_left_to_tell_apart_where_the_concept_was_deleted() -> None:
    row = _probe(PLAIN, _rewritten("remove"))
    assert row.auc.value == pytest.approx(0.5)
    assert row.accuracy == pytest.approx(0.5)


def test_a_text_in_which_one_illness_stands_for_another_still_speaks_of_illness() -> None:
    assert _probe(PLAIN, _rewritten("semantic-replacement")).auc.low > 0.75


def test_the_same_generator_gives_the_same_row_of_a_probe() -> None:
    one, same = (replace(_probe(*_noise(1.0), "mlp"), seconds=0.0) for _ in range(2))
    assert one == same


def _score(separation: float, rng: np.random.Generator, rows: int = 60) -> ProbeScore:
    chances = np.concatenate([rng.normal(separation, 1, rows), rng.normal(0, 1, rows)])
    present = np.arange(2 * rows) < rows
    wins = np.mean(chances[present][:, None] > chances[~present][None, :])
    return ProbeScore(auc=float(wins), accuracy=0.0, chances=chances, present=present)


def test_the_interval_covers_the_true_auc_about_95_times_in_100() -> None:
    rng = np.random.default_rng(5)
    # Two bells of width one whose centers are one apart: a draw from the first is above one from the other this often.
    truth = 0.7602499
    found = [attack_runner._auc_interval(_score(1.0, rng), rng) for _ in range(100)]
    covered = np.mean([one.low <= truth <= one.high for one in found])
    assert 0.89 <= covered <= 0.99


def test_the_interval_counts_ties_as_half() -> None:
    score = ProbeScore(auc=0.5, accuracy=0.5, chances=np.full(20, 0.3), present=np.arange(20) < 10)
    found = attack_runner._auc_interval(score, np.random.default_rng(0))
    assert (found.low, found.high) == (0.5, 0.5)
