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


def test_a_shadow_is_made_compared_and_swapped_when_told_to(
    run: CommandLine, place: LancePlace, model_folder: Path
) -> None:
    clean = place.rows("notes")
    made = run(*BASE)
    assert made.code == 0, made.err
    assert f"{ROWS} rows protected into notes-vecveil; notes is as it was" in made.err
    assert "left out: body" in made.err
    assert "went along: more.page, more.topic" in made.err
    assert "next: compare with --queries FILE, or swap with --swap" in made.err
    assert "noise-to-signal" in made.err
    assert "under which assumptions: vecveil guarantee" in made.err
    compared = run(*BASE, "--queries", "queries.txt", "--k", 3, "--embedder", model_folder)
    assert f"({ROWS} of them by an earlier run)" in compared.err
    assert compared.out.startswith("recall@3 ")
    assert "over 2 queries" in compared.out
    assert compared.err.splitlines()[-1] == "next: swap with --swap"
    assert place.rows("notes") == clean
    done = run(*BASE, "--swap")
    assert f"notes holds {ROWS} protected rows" in done.err
    assert "the clean rows are in notes-before-vecveil: --drop-backup deletes them" in done.err
    assert "now restart whatever has notes open" in done.err
    assert "all that writes or searches must pass the guard" in done.err
    again = run(*BASE, "--swap")
    assert f"notes was swapped before and holds {ROWS} rows; those written since are as their writer" in again.err
    assert place.rows("notes-before-vecveil") == clean


def test_the_clean_rows_are_deleted_when_that_is_meant(run: CommandLine, place: LancePlace) -> None:
    run(*BASE)
    check_refusal(run(*BASE, "--drop-backup", "--yes"), "notes was not swapped")
    run(*BASE, "--swap")
    check_refusal(run(*BASE, "--drop-backup"), f"notes-before-vecveil holds {ROWS} clean rows; to delete them for good")
    assert place.rows("notes-before-vecveil") is not None
    gone = run(*BASE, "--drop-backup", "--yes")
    assert f"notes-before-vecveil is gone, with {ROWS} clean rows" in gone.err
    assert "not reached from here: snapshots" in gone.err
    assert place.rows("notes-before-vecveil") is None
    assert "there are no clean rows beside it" in run(*BASE, "--swap").err
    check_refusal(run(*BASE, "--drop-backup", "--yes"), "there is no notes-before-vecveil to drop")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ((), "--key FILE"),
        (("--key", "a.key", "--fresh-noise"), "got --fresh-noise and --key"),
        (("--key", "a.key", "--swap", "--queries", "queries.txt"), "compare first"),
        (("--key", "a.key", "--swap"), "there is no notes-vecveil"),
        (("--key", "a.key", "--swap", "--drop-backup", "--yes"), "by itself"),
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


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("append", "repeat the command to go on"),
        ("swap", "goes on when the command is repeated"),
        ("drop_backup", "repeat the command to finish it"),
    ],
)
def test_a_stop_says_what_is_left(
    run: CommandLine, place: LancePlace, monkeypatch: pytest.MonkeyPatch, method: str, said: str
) -> None:
    def stopped(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    steps = {"append": (), "swap": ("--swap",), "drop_backup": ("--drop-backup", "--yes")}
    monkeypatch.setattr(f"vecveil.migrate.lancedb.LanceStore.{method}", stopped)
    for options in steps.values():
        ended = run(*BASE, *options)
        if options == steps[method]:
            break
        assert ended.code == 0
    assert ended.code == 130
    assert said in ended.err


def test_fresh_noise_and_kept_texts_are_choices(run: CommandLine, place: LancePlace) -> None:
    done = run("migrate", "lancedb:store", "notes", "a.veil", "--fresh-noise", "--keep-texts", "--no-ledger")
    assert "left out: nothing" in done.err
    assert "went along: body, more.page, more.topic" in done.err
    assert "not recorded in any ledger" in done.err
    rows = place.rows("notes-vecveil")
    assert rows is not None
    assert PRIVATE_WORD in str(rows)


def test_without_a_key_it_is_said_that_changes_are_not_noticed(run: CommandLine, place: LancePlace) -> None:
    base = ("migrate", "lancedb:store", "notes", "a.veil", "--fresh-noise", "--no-ledger")
    run(*base)
    assert "without a key it can't be seen whether vectors have changed" in run(*base, "--swap").err


def test_seals_are_written_where_they_are_asked_for_and_swapped_along(
    run: CommandLine, place: LancePlace, guard: Guard
) -> None:
    made = run(*BASE, "--seal")
    assert made.code == 0, made.err
    assert "clean vectors sealed for their owner, with each row" in made.err
    check_refusal(run(*BASE), "another choice about seals, or key of them")
    assert run(*BASE, "--swap").code == 0
    seals = place.seals("notes")
    clean = guard.model.embed([text_of(row) for row in range(ROWS)])
    hits = guard.rerank(clean[5], [*seals], [*seals.values()], top=1)
    assert hits[0].id == "it's 5"
    assert place.seals("notes-before-vecveil") == {}


def test_seals_may_have_a_key_of_their_own_and_need_one(run: CommandLine, place: LancePlace, guard: Guard) -> None:
    base = ("migrate", "lancedb:store", "notes", "a.veil", "--fresh-noise", "--no-ledger")
    check_refusal(run(*base, "--seal"), "seals need a key")
    run("key", "new", "seal.key")
    assert run(*base, "--seal-key", "seal.key").code == 0
    seals = place.seals("notes-vecveil")
    opened = guard.opened_veil.sealer("seal.key").open([*seals.values()], [*seals])
    assert opened.shape == (ROWS, 16)
