from __future__ import annotations

from pathlib import Path

import pytest
from support.command_line import CommandLine, check_refusal, listing
from support.guards import named_guard
from support.stores import LancePlace, text_of
from support.veils import PRIVATE_WORD

from vecveil.veil import Guard

ROWS = 12


@pytest.fixture
def guard(work: Path, model_folder: Path) -> Guard:
    """A guard whose model can be loaded by its name."""
    return named_guard(work, model_folder)


@pytest.fixture
def place(work: Path, guard: Guard) -> LancePlace:
    """A table of texts that the guard's model has embedded, and queries for it."""
    (work / "store").mkdir()
    found = LancePlace(where="lancedb:store")
    found.fill("notes", guard.model.embed([text_of(row) for row in range(ROWS)]))
    (work / "queries.txt").write_text("who rests well\nwho has a cold\n")
    return found


BASE = ("migrate", "lancedb:store", "notes", "a.veil", "--key", "a.key")


def test_a_shadow_is_made_compared_and_swapped_when_told_to(run: CommandLine, place: LancePlace) -> None:
    clean = place.rows("notes")
    made = run(*BASE)
    assert made.code == 0, made.err
    assert f"{ROWS} rows protected into notes-vecveil; notes is as it was" in made.err
    assert "left out: body" in made.err
    assert "next: compare with --queries FILE, or swap with --swap" in made.err
    compared = run(*BASE, "--queries", "queries.txt", "--k", 3)
    assert f"({ROWS} of them by an earlier run)" in compared.err
    assert compared.out.startswith("recall@3 ")
    assert "over 2 queries" in compared.out
    assert compared.err.splitlines()[-1] == "next: swap with --swap"
    assert place.rows("notes") == clean
    done = run(*BASE, "--swap")
    assert f"notes holds {ROWS} protected rows; the clean ones are in notes-before-vecveil" in done.err
    again = run(*BASE, "--swap")
    assert f"notes holds {ROWS} protected rows already" in again.err
    assert place.rows("notes-before-vecveil") == clean


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ((), "--key FILE"),
        (("--key", "a.key", "--fresh-noise"), "--fresh-noise"),
        (("--key", "a.key", "--swap", "--queries", "queries.txt"), "compare first"),
        (("--key", "a.key", "--swap"), "there is no notes-vecveil"),
        (("--key", "a.key", "--queries", "none.txt"), "none.txt"),
        (("--key", "a.key", "--id-column", "ids"), "did you mean 'id'"),
    ],
)
def test_what_can_not_be_done_is_said_in_one_line_before_anything_is_written(
    run: CommandLine, place: LancePlace, work: Path, options: tuple[str, ...], named: str
) -> None:
    before = listing(work)
    check_refusal(run("migrate", "lancedb:store", "notes", "a.veil", *options), named, hidden=[PRIVATE_WORD])
    assert listing(work) == before


def test_a_stop_says_what_is_left(run: CommandLine, place: LancePlace, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("vecveil.migrate.lancedb.LanceStore.append", stopped)
    ended = run(*BASE)
    assert ended.code == 130
    assert "repeat the command to go on" in ended.err


def test_fresh_noise_and_kept_texts_are_choices(run: CommandLine, place: LancePlace) -> None:
    done = run("migrate", "lancedb:store", "notes", "a.veil", "--fresh-noise", "--keep-texts", "--no-ledger")
    assert "left out: nothing" in done.err
    assert "not recorded in any ledger" in done.err
    rows = place.rows("notes-vecveil")
    assert rows is not None
    assert PRIVATE_WORD in str(rows)
