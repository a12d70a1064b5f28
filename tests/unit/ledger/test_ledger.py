"""What every ledger does, on every database."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context

import pytest

from support.ledgers import fresh, held, made_charge, names, read_spent, shape_charge, tamper
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.ledger import Charge, Ledger, Totals, open_ledger

ROWS, BATCH = 20_000, 4096


@pytest.fixture
def ledger(ledger_place: str) -> Iterator[Ledger]:
    with open_ledger(ledger_place) as opened:
        yield opened


def test_a_new_ledger_is_empty(ledger: Ledger) -> None:
    assert ledger.limit is None
    assert ledger.runs() == []
    assert list(ledger.releases()) == []
    assert ledger.totals() == Totals(releases=0, records=0, highest=0.0)
    assert read_spent(ledger, names(1)) == [0.0]
    assert ledger.problems() == []


def test_what_was_recorded_is_there_when_it_is_opened_again(ledger_place: str) -> None:
    charge, records, tokens = made_charge(cost=2.5), names(7, 5, 7), fresh(3)
    with open_ledger(ledger_place) as ledger:
        ledger.spend(charge, 0, records, tokens)
        ledger.set_limit(100)
    with open_ledger(ledger_place, create=False) as ledger:
        assert ledger.limit == 100
        found = list(ledger.releases())
        assert [release.charge for release in found] == [charge] * 3
        assert [(release.row, release.record, release.token) for release in found] == list(
            zip(range(3), records, tokens, strict=True)
        )
        assert all(abs(release.at - datetime.now(UTC)) < timedelta(minutes=1) for release in found)
        (run,) = ledger.runs()
        assert (run.charge, run.releases, run.records) == (charge, 3, 2)
        assert abs(run.started - datetime.now(UTC)) < timedelta(minutes=1)
        assert ledger.totals() == Totals(releases=3, records=2, highest=5.0)


def test_digests_are_the_same_in_one_ledger_and_others_in_another(ledger_place: str, tmp_path: object) -> None:
    ids = [b"patient 7", b"patient 8", b"patient 7", b""]
    with open_ledger(ledger_place) as ledger:
        first = ledger.digests(ids)
    with open_ledger(ledger_place) as again, open_ledger(f"{tmp_path}/other.sqlite") as other:
        assert again.digests(ids) == first
        assert not set(other.digests(ids)) & set(first)
        assert again.id != other.id
    assert {len(digest) for digest in first} == {16}
    assert first[0] == first[2]
    assert len(set(first)) == 3


def test_a_run_begins_once(ledger: Ledger) -> None:
    charge = made_charge()
    ledger.spend(charge, 0, names(1), fresh(1))
    ledger.spend(charge, 1, names(2), fresh(1))
    assert len(ledger.runs()) == 1


@pytest.mark.parametrize(
    "changes", [{"epsilon": 9.0}, {"cost": 1.5, "noise": "keyed"}], ids=["epsilon", "cost and noise"]
)
def test_a_run_does_not_change_its_charge(ledger: Ledger, changes: dict[str, object]) -> None:
    charge = made_charge()
    ledger.spend(charge, 0, names(1), fresh(1))
    with pytest.raises(InvalidInputError, match="another charge"):
        ledger.spend(replace(charge, **changes), 1, names(2), fresh(1))
    assert ledger.totals().releases == 1


def test_the_same_rows_again_change_nothing(ledger: Ledger) -> None:
    charge, records, tokens = made_charge(), names(1, 2, 3), fresh(3)
    ledger.spend(charge, 0, records[:2], tokens[:2])
    ledger.spend(charge, 0, records, tokens)
    ledger.spend(charge, 1, records[1:], tokens[1:])
    assert [release.record for release in ledger.releases()] == records
    assert read_spent(ledger, records) == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("changed", ["record", "token"])
def test_a_row_on_record_is_not_rewritten(ledger: Ledger, changed: str) -> None:
    charge, records, tokens = made_charge(), names(1, 2, 3), fresh(3)
    ledger.spend(charge, 4, records[:2], tokens[:2])
    before = list(ledger.releases())
    others = (names(1, 9, 3), tokens) if changed == "record" else (records, [tokens[0], *fresh(1), tokens[2]])
    with pytest.raises(InvalidInputError, match=r"1 of these rows on record .* first row 5"):
        ledger.spend(charge, 4, *others)
    assert list(ledger.releases()) == before


def test_equal_noise_costs_once_and_is_kept_under_each_run(ledger: Ledger) -> None:
    records, keyed = names(1, 2), names(1, 2, kind="keyed")
    for _ in range(3):
        charge = made_charge(cost=4.0, noise="keyed")
        ledger.spend(charge, 0, records, keyed)
    assert read_spent(ledger, [*records, *names(3)]) == [4.0, 4.0, 0.0]
    assert [run.releases for run in ledger.runs()] == [2, 2, 2]
    assert ledger.totals() == Totals(releases=6, records=2, highest=4.0)


def test_equal_noise_of_another_record_costs_by_itself(ledger: Ledger) -> None:
    charge = made_charge(noise="keyed")
    ledger.spend(charge, 0, names(1, 2), names(7, 7, kind="keyed"))
    assert read_spent(ledger, names(1, 2)) == [1.0, 1.0]


def test_releases_of_different_veils_add_up(ledger: Ledger) -> None:
    for cost in (1.0, 2.5):
        charge = made_charge(cost=cost)
        ledger.spend(charge, 0, names(1), fresh(1))
    assert read_spent(ledger, names(1, 1)) == [3.5, 3.5]


def test_a_shape_is_on_record_and_costs_nothing_that_can_be_added(ledger: Ledger) -> None:
    charge = shape_charge()
    ledger.set_limit(0.5)
    ledger.require(charge, [(names(1), fresh(1))])
    ledger.spend(charge, 0, names(1, 2), fresh(2))
    assert read_spent(ledger, names(1)) == [0.0]
    assert ledger.totals() == Totals(releases=2, records=2, highest=0.0)
    assert [run.charge for run in ledger.runs()] == [charge]
    assert ledger.problems() == []


def test_an_empty_batch_is_no_release(ledger: Ledger) -> None:
    charge = made_charge()
    ledger.set_limit(1.0)
    ledger.spend(charge, 0, [], [])
    ledger.require(charge, [([], [])])
    assert read_spent(ledger, []) == []
    assert ledger.totals().releases == 0


@pytest.mark.parametrize(
    ("records", "tokens"), [(names(1), []), ([b"short"], fresh(1)), (names(1), [b"x" * 17]), (["a" * 16], fresh(1))]
)
def test_records_and_tokens_are_digests_in_pairs(ledger: Ledger, records: list[bytes], tokens: list[bytes]) -> None:
    charge = made_charge()
    ledger.set_limit(100)
    with pytest.raises(InvalidInputError, match=r"16 bytes|one token per record"):
        ledger.spend(charge, 0, records, tokens)
    with pytest.raises(InvalidInputError, match=r"16 bytes|one token per record"):
        ledger.require(charge, [(records, tokens)])
    with pytest.raises(InvalidInputError, match="first_row"):
        ledger.spend(charge, -1, names(1), fresh(1))


def test_neither_ids_nor_texts_reach_the_database(ledger_place: str) -> None:
    with open_ledger(ledger_place) as ledger:
        charge = made_charge()
        ledger.spend(charge, 0, ledger.digests([b"patient-4711"]), fresh(1))
    for statement in ("SELECT * FROM meta", "SELECT * FROM runs", "SELECT * FROM releases"):
        found = tamper(ledger_place, statement)
        assert found
        assert "patient-4711" not in repr(found)


def test_many_rows_in_batches(ledger: Ledger) -> None:
    charge = made_charge()
    records, tokens = names(*range(ROWS)), names(*range(ROWS), kind="fresh")
    parts = [slice(start, start + BATCH) for start in range(0, ROWS, BATCH)]
    ledger.set_limit(1.0)
    ledger.require(charge, [(records[part], tokens[part]) for part in parts])
    for part in parts:
        ledger.spend(charge, part.start, records[part], tokens[part])
    assert [release.record for release in ledger.releases()] == records
    assert ledger.totals() == Totals(releases=ROWS, records=ROWS, highest=1.0)
    assert ledger.problems() == []
    # A resumed run asks for all of its rows again.
    ledger.require(charge, [(records[part], tokens[part]) for part in parts])


@pytest.mark.parametrize("rows", [1, 2, 4, 5, 6])
def test_releases_are_read_page_by_page(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr("vecveil.ledger.ledger.PAGE_ROWS", 2)
    charges = [made_charge(), made_charge(cost=2.0)]
    ledger.spend(charges[0], 0, names(*range(3)), fresh(3))
    ledger.spend(charges[1], 0, names(*range(rows)), fresh(rows))
    found = [(entry.charge, entry.row) for entry in ledger.releases()]
    assert found == [(charges[0], row) for row in range(3)] + [(charges[1], row) for row in range(rows)]


def test_threads_may_share_a_ledger(ledger: Ledger) -> None:
    def release(number: int) -> None:
        charge = made_charge()
        for row in range(5):
            ledger.spend(charge, row, names(number), fresh(1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(release, range(8)))
    assert read_spent(ledger, names(*range(8))) == [5.0] * 8
    assert ledger.problems() == []


def test_a_ledger_is_read_while_it_is_written(ledger: Ledger) -> None:
    charge = made_charge()
    ledger.spend(charge, 0, names(1, 2), fresh(2))
    reading = ledger.releases()
    next(reading)
    ledger.spend(charge, 2, names(3), fresh(1))
    assert len(list(reading)) == 1
    assert ledger.totals().releases == 3


def test_a_closed_ledger_says_so(ledger: Ledger) -> None:
    ledger.close()
    ledger.close()
    with pytest.raises(InvalidInputError, match="is closed"):
        ledger.runs()


def _use(ledger: Ledger) -> None:
    for use in (ledger.runs, lambda: next(ledger.releases()), lambda: ledger.require(made_charge(), [])):
        with pytest.raises(InvalidInputError, match="before a fork"):
            use()
    # The session is the parent's: to end it here would end it there.
    ledger.close()


def test_a_ledger_is_not_carried_through_a_fork(ledger: Ledger) -> None:
    child = get_context("fork").Process(target=_use, args=(ledger,))
    child.start()
    child.join(30)
    assert child.exitcode == 0
    assert ledger.runs() == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE meta SET value = '2' WHERE key = 'format'", "format 2; install a newer"),
        ("UPDATE meta SET value = 'x' WHERE key = 'format'", "does not say what format"),
        ("DELETE FROM meta WHERE key = 'salt'", "does not say what format"),
    ],
)
def test_a_ledger_that_this_version_does_not_know_is_left_alone(ledger_place: str, change: str, message: str) -> None:
    open_ledger(ledger_place).close()
    tamper(ledger_place, change)
    before = tamper(ledger_place, "SELECT * FROM meta")
    with pytest.raises(ArtifactError, match=message):
        open_ledger(ledger_place)
    assert tamper(ledger_place, "SELECT * FROM meta") == before


def test_whoever_waits_too_long_for_a_turn_is_told(ledger_place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    open_ledger(ledger_place).close()
    monkeypatch.setattr("vecveil.ledger.session.Session.PATIENCE_SECONDS", 0.2)
    with open_ledger(ledger_place) as ledger:
        charge = made_charge()
        with held(ledger_place):
            # Who only reads doesn't wait at all.
            assert len(ledger.runs()) == 0
            with pytest.raises(ArtifactError, match="another process has held it"):
                ledger.spend(charge, 0, names(1), fresh(1))
        ledger.spend(charge, 0, names(1), fresh(1))
        assert ledger.totals().releases == 1


@pytest.fixture
def charge() -> Charge:
    return made_charge(cost=4.0)


@pytest.fixture
def filled(ledger: Ledger, charge: Charge) -> Ledger:
    """A ledger with a run of ten rows."""
    ledger.spend(charge, 0, names(*range(10)), fresh(10))
    return ledger


def test_a_sound_ledger_has_no_problems(filled: Ledger) -> None:
    filled.set_limit(4.0)
    assert filled.problems() == []


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM releases WHERE place = 4",
        "DELETE FROM releases WHERE place < 3",
        "DELETE FROM releases WHERE place > 5",
    ],
)
def test_rows_that_were_taken_out_are_missed(filled: Ledger, ledger_place: str, charge: Charge, statement: str) -> None:
    tamper(ledger_place, statement)
    (problem,) = filled.problems()
    assert problem.startswith("the chain breaks at link 1")
    assert charge.run in problem


def test_a_run_that_was_taken_out_is_missed(filled: Ledger, ledger_place: str) -> None:
    tamper(ledger_place, "DELETE FROM runs")
    (problem,) = filled.problems()
    assert problem.startswith("the chain breaks at link 1")


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE meta SET value = '9.0' WHERE key = 'limit'", "these settings were changed past the ledger: limit"),
        ("DELETE FROM meta WHERE key = 'limit'", "these settings were changed past the ledger: limit"),
        ("INSERT INTO meta VALUES ('renamed', 'warn')", "these settings were changed past the ledger: renamed"),
        (
            'UPDATE links SET setting = \'["limit", "9.0"]\' WHERE number = 2',
            "the chain breaks at link 2, of a setting",
        ),
        ("UPDATE meta SET value = '" + "00" * 32 + "' WHERE key = 'salt'", "the chain breaks at link 1"),
    ],
)
def test_a_setting_that_was_changed_past_the_ledger_is_seen(
    filled: Ledger, ledger_place: str, statement: str, problem: str
) -> None:
    filled.set_limit(4.0)
    tamper(ledger_place, statement)
    with open_ledger(ledger_place) as opened:
        (found,) = opened.problems()
    assert found.startswith(problem)


def test_a_change_of_a_limit_changes_the_head(ledger: Ledger) -> None:
    heads = [ledger.head]
    for change in (lambda: ledger.set_limit(4.0), lambda: ledger.set_limit(None), lambda: ledger.set_renamed("refuse")):
        change()
        heads.append(ledger.head)
    assert len(set(heads)) == 4
    assert ledger.problems() == []
    assert all(ledger.knows(head) for head in heads[1:])


def test_records_over_a_limit_that_was_lowered_are_counted(filled: Ledger) -> None:
    filled.set_limit(3.0)
    (problem,) = filled.problems()
    assert problem == "records over the limit of 3 nats per unit of Euclidean distance: 10; the highest has spent 4"


def test_records_over_a_lowered_limit_of_words_are_counted(ledger: Ledger, charge: Charge) -> None:
    ledger.spend(replace(charge, word_epsilon=2.0), 0, names(1, 2), fresh(2), words=[1, 3])
    ledger.set_word_limit(5.0)
    (problem,) = ledger.problems()
    assert problem == "records over the limit of 5 nats, over all private words of a record: 1; the highest has spent 6"
