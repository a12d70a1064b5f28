"""The ledger sees a text again by whichever name it returns, and shows when it was rewritten."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.command_line import CommandLine
from support.embedders import WordEmbedder
from support.ledgers import tamper
from support.veils import made_veil, unit_vectors, with_words
from vecveil.concepts import terms
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import BudgetExceededError, InvalidInputError, VecveilWarning
from vecveil.core.key import Key
from vecveil.ledger import Ledger, open_ledger
from vecveil.veil import Guard, Veil, protect_file

TEXT = "the patient has asthma"
VEIL = made_veil(epsilon=30.0)
COST = VEIL.mechanism_at(30.0).euclidean_loss()


class Uncased(WordEmbedder):
    """A model that reads no upper case."""

    def embed(self, texts: Sequence[str]) -> Embeddings:
        return super().embed([text.lower() for text in texts])


WAYS: dict[str, Callable[[Ledger], object]] = {
    "by id": lambda ledger: VEIL.protect([TEXT], embedder=Uncased(), ids=["a"], ledger=ledger),
    "by text": lambda ledger: VEIL.protect([TEXT], embedder=Uncased(), ledger=ledger),
    "in upper case": lambda ledger: VEIL.protect([TEXT.upper()], embedder=Uncased(), ledger=ledger),
    "as a vector": lambda ledger: VEIL.perturb(Uncased().embed([TEXT]), ledger=ledger),
    "in a collection": lambda ledger: VEIL.protect(
        [TEXT], embedder=Uncased(), ids=["a"], ledger=ledger, collection="ward"
    ),
}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


@pytest.mark.filterwarnings("ignore:the ledger knows")
def test_one_text_by_five_names_is_held_to_one_limit(ledger: Ledger) -> None:
    ledger.set_limit(2.5 * COST)
    ways = iter(WAYS.values())
    next(ways)(ledger)
    next(ways)(ledger)
    for way in ways:
        with pytest.raises(BudgetExceededError, match="1 record "):
            way(ledger)
    assert ledger.totals().releases == 2


@pytest.mark.parametrize("second", [name for name in WAYS if name != "by id"])
def test_a_vector_under_another_name_is_warned_of_or_refused(ledger: Ledger, second: str) -> None:
    WAYS["by id"](ledger)
    with pytest.warns(VecveilWarning, match="1 of these vectors by another name"):
        WAYS[second](ledger)
    ledger.set_renamed("refuse")
    with pytest.raises(InvalidInputError, match="1 of these vectors are on record under another name"):
        WAYS[second](ledger)
    assert ledger.totals().releases == 2


@pytest.mark.filterwarnings("ignore:the ledger knows")
def test_one_text_with_a_removed_word_is_held_to_one_limit_by_whichever_name(ledger: Ledger) -> None:
    """Two texts with other words there are two records; one text under other ids, or written otherwise, is not."""
    veil = with_words(VEIL, terms("asthma", "gout"))
    ledger.set_limit(2.5 * COST)
    given: dict[str, Any] = {"embedder": Uncased(), "ledger": ledger}
    veil.protect([TEXT], ids=["a"], **given)
    veil.protect([TEXT.replace("asthma", "gout")], ids=["b"], **given)
    veil.protect([TEXT.upper()], ids=["c"], **given)
    with pytest.raises(BudgetExceededError, match="1 record "):
        veil.protect([TEXT], ids=["d"], **given)
    assert ledger.totals().releases == 3


def test_two_names_in_one_batch_are_seen_too(ledger: Ledger) -> None:
    twice = np.repeat(unit_vectors(1), 2, axis=0)
    with pytest.warns(VecveilWarning, match="2 of these vectors"):
        VEIL.perturb(twice, ids=["a", "b"], ledger=ledger)


def test_a_record_that_returns_under_its_own_name_is_no_news(ledger: Ledger) -> None:
    ledger.set_renamed("refuse")
    for _ in range(3):
        VEIL.perturb(unit_vectors(5), ids=range(5), ledger=ledger)
    assert ledger.totals().releases == 15


@pytest.mark.filterwarnings("ignore:the ledger knows")
def test_equal_bytes_under_two_names_cost_a_vector_once(ledger: Ledger) -> None:
    ledger.set_limit(1.5 * COST)
    key = Key.new()
    for collection in ("", "ward"):
        VEIL.perturb(unit_vectors(5), ledger=ledger, key=key, collection=collection)
    assert ledger.totals().records == 10


def test_library_calls_are_recorded_where_a_ledger_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    VEIL.perturb(unit_vectors(5))
    monkeypatch.setenv("VECVEIL_LEDGER", str(tmp_path / "set.sqlite"))
    VEIL.perturb(unit_vectors(5), ids=range(5))
    Guard(VEIL).protect_vectors(unit_vectors(5), ids=range(5))
    VEIL.perturb(unit_vectors(5), ids=range(5), ledger="none")
    VEIL.perturb(unit_vectors(5), ids=range(5), rng=np.random.default_rng(0))
    with open_ledger(tmp_path / "set.sqlite", create=False) as ledger:
        assert ledger.totals().releases == 10


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, Path]:
    """A ledger and an output that is recorded in it."""
    source, place = tmp_path / "in.parquet", tmp_path / "ledger.sqlite"
    pq.write_table(pa.table({"id": range(20), "text": [f"note {number}" for number in range(20)]}), source)
    output = tmp_path / "out.parquet"
    protect_file(VEIL, source, output, embedder=WordEmbedder(), id_column="id", ledger=place, batch_rows=6)
    return place, output


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE releases SET record = token WHERE place = 7",
        "UPDATE releases SET vector = token WHERE place = 7",
        "UPDATE runs SET cost = cost / 2",
        "UPDATE runs SET veil = 'another'",
        "UPDATE links SET rows = 0 WHERE number = 2",
        "DELETE FROM links WHERE number = 2",
        "UPDATE links SET head = zeroblob(32) WHERE number = 3",
    ],
)
def test_what_was_changed_breaks_the_chain(run: CommandLine, recorded: tuple[Path, Path], statement: str) -> None:
    place, output = recorded
    good = run("ledger", "check", "--ledger", place, "--output", output)
    assert good.code == 0, good
    tamper(str(place), statement)
    outcome = run("ledger", "check", "--ledger", place)
    assert outcome.code == 1
    assert "the chain breaks at link" in outcome.out


def test_a_ledger_that_was_put_back_does_not_know_the_output(
    run: CommandLine, recorded: tuple[Path, Path], tmp_path: Path
) -> None:
    """A copy of before is whole in itself; the head in the output's label tells."""
    place, first = recorded
    shutil.copy(place, tmp_path / "backup.sqlite")
    second = tmp_path / "second.parquet"
    veil: Veil = made_veil(epsilon=30.0)
    protect_file(veil, tmp_path / "in.parquet", second, embedder=WordEmbedder(), id_column="id", ledger=place)
    for known, code in ((place, 0), (tmp_path / "backup.sqlite", 1)):
        outcome = run("ledger", "check", "--ledger", known, "--output", first, "--output", second)
        assert outcome.code == code, outcome


def test_a_history_that_was_made_up_anew_does_not_know_the_output(
    run: CommandLine, recorded: tuple[Path, Path], tmp_path: Path
) -> None:
    """Rows taken from the end, with their links: the rest is a whole ledger, and the same run."""
    place, output = recorded
    tamper(str(place), "DELETE FROM links WHERE number > 3")
    tamper(str(place), "DELETE FROM releases WHERE place >= 18")
    shorter = pq.read_table(output).slice(0, 18)
    metadata = pq.read_metadata(output).metadata
    with pq.ParquetWriter(tmp_path / "shorter.parquet", shorter.schema) as writer:
        writer.write_table(shorter)
        writer.add_key_value_metadata({"ledger_head": metadata[b"ledger_head"].decode()})
    assert run("ledger", "check", "--ledger", place).code == 0
    outcome = run("ledger", "check", "--ledger", place, "--output", tmp_path / "shorter.parquet")
    assert outcome.code == 1
    assert "a head that this ledger does not know" in outcome.out


def test_the_choice_counts_for_all_who_use_the_ledger(run: CommandLine, tmp_path: Path) -> None:
    place = tmp_path / "ledger.sqlite"
    assert run("ledger", "renamed", "refuse", "--ledger", place).code == 0
    with open_ledger(place) as ledger:
        assert ledger.renamed == "refuse"
    assert run("ledger", "renamed", "never", "--ledger", place).code == 2
