from __future__ import annotations

import csv
import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.command_line import CommandLine, check_refusal, listing
from support.ledgers import fresh, made_charge, names, shape_charge, tamper
from vecveil.files.output import FOLDER_LABEL
from vecveil.ledger import Charge, open_ledger

RUN = "0123456789abcdef" * 2


@pytest.fixture
def place(ledger_place: str, work: Path) -> str:
    """A ledger of two runs: three releases of two records, and a shape."""
    charge, shape = made_charge(run=RUN, cost=2.0), shape_charge()
    with open_ledger(ledger_place) as ledger:
        ledger.spend(charge, 0, names(1, 2, 1), fresh(3))
        ledger.spend(shape, 0, names(1), fresh(1))
    return ledger_place


def test_show_lists_runs_sums_and_the_limit(run: CommandLine, place: str) -> None:
    outcome = run("ledger", "show", "--ledger", place)
    assert outcome.code == 0
    shown = " ".join(outcome.out.split())
    for part in (
        "limit: none",
        "highest: 4 nats per unit of Euclidean distance",
        "records: 2",
        "releases: 4",
        "release a1a1a1a1 mahalanobis 8 Mahalanobis fresh 2 3",
        "shape b2b2b2b2 hard-concrete not bounded none 1 1",
    ):
        assert part in shown


def test_show_prints_json_for_programs(run: CommandLine, place: str) -> None:
    shown = json.loads(run("ledger", "show", "--json", "--ledger", place).out)
    assert (shown["limit"], shown["highest"], shown["records"], shown["releases"]) == (None, 4.0, 2, 4)
    assert (shown["word_limit"], shown["highest_words"]) == (None, 0.0)
    assert shown["unit"] == "nats per unit of Euclidean distance"
    first, second = shown["runs"]
    assert (first["run"], first["releases"], first["records"], first["cost"]) == (RUN, 3, 2, 2.0)
    assert (second["kind"], second["cost"]) == ("shape", None)
    assert first["started"].endswith("+00:00")


@pytest.mark.parametrize("command", [("show",), ("check",), ("export", "out.csv")])
def test_a_ledger_that_is_not_there_is_not_made(run: CommandLine, work: Path, command: tuple[str, ...]) -> None:
    check_refusal(run("ledger", *command, "--ledger", "mine.sqlite"), "there is no ledger mine.sqlite")
    assert listing(work) == {}


def test_the_users_own_ledger_is_meant_where_none_is_named(
    run: CommandLine, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VECVEIL_LEDGER", "own.sqlite")
    assert run("ledger", "limit", "7.5").code == 0
    assert "limit:    7.5 nats per unit of Euclidean distance" in run("ledger", "show").out


def test_a_limit_is_set_and_taken_away(run: CommandLine, place: str) -> None:
    outcome = run("ledger", "limit", "12.5", "--ledger", place)
    assert "12.5 nats per unit of Euclidean distance" in outcome.out
    assert outcome.err == ""
    with open_ledger(place) as ledger:
        assert ledger.limit == 12.5
        assert "none" in run("ledger", "limit", "none", "--ledger", place).out
        assert ledger.limit is None


def test_a_limit_below_what_is_spent_brings_a_warning(run: CommandLine, place: str) -> None:
    outcome = run("ledger", "limit", "3", "--ledger", place)
    assert outcome.code == 0
    assert "a record has lost 4 already" in outcome.err


def test_a_limit_of_words_is_set_shown_and_taken_away(run: CommandLine, place: str) -> None:
    with open_ledger(place) as ledger:
        ledger.spend(replace(made_charge(), word_epsilon=2.5), 0, names(1, 1, 2), fresh(3), words=[1, 3, 2])
        outcome = run("ledger", "limit", "--words", "12.5", "--ledger", place)
        assert "12.5 nats, over all private words of a record" in outcome.out
        assert outcome.err == ""
        assert (ledger.limit, ledger.word_limit) == (None, 12.5)
        shown = run("ledger", "show", "--ledger", place).out
        assert "words:    limit 12.5, highest 10 nats, over all private words of a record" in shown
        assert "a record has lost 10 already" in run("ledger", "limit", "9", "--words", "--ledger", place).err
        assert run("ledger", "limit", "--words", "none", "--ledger", place).code == 0
        assert ledger.word_limit is None
    assert "words:    limit none, highest 10 nats" in run("ledger", "show", "--ledger", place).out


@pytest.mark.parametrize("nats", ["much", "nan", "inf", "-inf", "-5", "-.5", "-1e3"])
def test_a_limit_that_is_no_number_of_at_least_zero_is_refused(run: CommandLine, work: Path, nats: str) -> None:
    shown = nats if nats == "much" else repr(float(nats))
    check_refusal(run("ledger", "limit", nats, "--ledger", "mine.sqlite"), "limit", shown)
    check_refusal(run("ledger", "limit", "--ledger", "mine.sqlite", nats), "limit", shown)
    assert listing(work) == {}


def test_a_misspelled_option_is_not_taken_for_a_limit(run: CommandLine, work: Path) -> None:
    outcome = run("ledger", "limit", "--ledgr", "mine.sqlite", "5")
    assert outcome.code == 2
    assert "No such option" in outcome.err


def test_a_sound_ledger_passes_the_check(run: CommandLine, place: str) -> None:
    outcome = run("ledger", "check", "--ledger", place)
    assert outcome.code == 0
    assert "no problem found" in outcome.out
    assert "2 runs" in outcome.out


def test_every_problem_is_told_and_ends_in_exit_code_1(run: CommandLine, place: str) -> None:
    tamper(place, "DELETE FROM releases WHERE place = 1")
    run("ledger", "limit", "3", "--ledger", place)
    outcome = run("ledger", "check", "--ledger", place)
    assert outcome.code == 1
    first, second = outcome.out.splitlines()
    assert (
        first == "problem: records over the limit of 3 nats per unit of Euclidean distance: 1; the highest has spent 4"
    )
    assert second.startswith("problem: the chain breaks")
    assert RUN in second


def _protected(place: str, path: Path, *, rows: int = 3, **label: str) -> Path:
    """Write a protected file as `vecveil protect` does."""
    with open_ledger(place) as ledger:
        known = {"vecveil": "1", "veil": "a1" * 32, "run": RUN, "ledger": ledger.id, "ledger_head": ledger.head}
    text = json.dumps({**known, **label})
    if path.suffix == ".npy":
        np.save(path, np.ones((rows, 2)))
        path.with_name(f"{path.name}.json").write_text(text, encoding="utf-8")
    else:
        table = pa.table({"id": range(rows)}).replace_schema_metadata({"vecveil": text})
        pq.write_table(table, path)
    return path


@pytest.mark.parametrize("name", ["out.parquet", "out.npy"])
def test_an_output_with_as_many_rows_as_are_recorded_passes(run: CommandLine, place: str, name: str) -> None:
    outcome = run("ledger", "check", "--ledger", place, "--output", _protected(place, Path(name)))
    assert outcome.code == 0, outcome
    assert "1 file" in outcome.out


@pytest.mark.parametrize("name", ["out.parquet", "out.npy"])
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rows": 4}, f"has 4 rows, but 3 are on record for its run {RUN}"),
        ({"rows": 2}, "has 2 rows, but 3 are on record"),
        ({"run": "f" * 32}, "which is not in this ledger"),
        ({"ledger": "none"}, "was made without a ledger: none of its rows is on record"),
        ({"veil": "c3" * 32}, "another veil"),
        ({"ledger_head": "0" * 64}, "a head that this ledger does not know"),
        ({"ledger_head": "none"}, "a head that this ledger does not know"),
    ],
)
def test_an_output_that_disagrees_is_told(
    run: CommandLine, place: str, name: str, changes: dict[str, Any], said: str
) -> None:
    good, bad = _protected(place, Path(f"good-{name}")), _protected(place, Path(name), **changes)
    outcome = run("ledger", "check", "--ledger", place, "--output", good, "--output", bad)
    assert outcome.code == 1
    (line,) = outcome.out.splitlines()
    assert line.startswith(f"problem: {name} ")
    assert said in line


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ({}, "no problem found"),
        ({"veil": "c3" * 32}, "was made with a veil of which nothing is on record"),
        ({"ledger_head": "0" * 64}, "a head that this ledger does not know"),
        (None, "does not say of itself that vecveil made it"),
    ],
)
def test_a_folder_that_an_engine_wrote_is_checked_by_its_label(
    run: CommandLine, place: str, label: dict[str, str] | None, said: str
) -> None:
    Path("parts").mkdir()
    if label is not None:
        with open_ledger(place) as ledger:
            known = {"veil": "a1" * 32, "run": "e" * 32, "ledger": ledger.id, "ledger_head": ledger.head}
        Path("parts", FOLDER_LABEL).write_text(json.dumps(known | label), encoding="utf-8")
    outcome = run("ledger", "check", "--ledger", place, "--output", "parts")
    assert outcome.code == int(label != {})
    assert said in outcome.out


@pytest.mark.parametrize("name", ["out.parquet", "out.npy"])
@pytest.mark.parametrize("text", [None, "[]", "not JSON"])
def test_a_file_that_vecveil_did_not_make_is_told(run: CommandLine, place: str, name: str, text: str | None) -> None:
    path = Path(name)
    if path.suffix == ".npy":
        np.save(path, np.ones((3, 2)))
        if text is not None:
            Path(f"{name}.json").write_text(text, encoding="utf-8")
    else:
        pq.write_table(pa.table({"id": range(3)}).replace_schema_metadata({"vecveil": text} if text else None), path)
    outcome = run("ledger", "check", "--ledger", place, "--output", path)
    assert outcome.code == 1
    assert f"{name} does not say of itself that vecveil made it" in outcome.out


def _read(path: Path) -> list[dict[str, object]]:
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as stream:
            numbers = {"row": int, "epsilon": float, "cost": float}
            return [
                {key: None if value == "" else numbers.get(key, str)(value) for key, value in row.items()}
                for row in csv.DictReader(stream)
            ]
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows: list[dict[str, object]] = pq.read_table(path).to_pylist()
    return rows


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_an_export_holds_every_release(run: CommandLine, place: str, work: Path, ending: str) -> None:
    path = work / f"releases{ending}"
    outcome = run("ledger", "export", path, "--ledger", place)
    assert outcome.code == 0
    assert "4 releases written" in outcome.err
    with open_ledger(place) as ledger:
        releases = list(ledger.releases())
    found = _read(path)
    assert found == [_expected(one.charge, one.row, one.record, one.token, one.at.isoformat()) for one in releases]
    assert str(found[0]["time"]).endswith("+00:00")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def _expected(charge: Charge, row: int, record: bytes, token: bytes, time: str) -> dict[str, object]:
    return {
        "run": charge.run,
        "row": row,
        "kind": charge.kind,
        "record": record.hex(),
        "token": token.hex(),
        "veil": charge.veil,
        "mechanism": charge.mechanism,
        "epsilon": charge.epsilon,
        "distance": charge.distance,
        "cost": charge.cost,
        "noise": charge.noise,
        "time": time,
    }


def test_an_export_replaces_a_file_only_where_asked(run: CommandLine, place: str) -> None:
    path = Path("releases.csv")
    path.write_text("mine", encoding="utf-8")
    check_refusal(run("ledger", "export", path, "--ledger", place), "releases.csv exists already")
    assert path.read_text(encoding="utf-8") == "mine"
    assert run("ledger", "export", path, "--ledger", place, "--overwrite").code == 0
    assert len(_read(path)) == 4


def test_an_export_to_an_unknown_kind_of_file_is_refused(run: CommandLine, place: str) -> None:
    check_refusal(run("ledger", "export", "releases.jsno", "--ledger", place), ".jsno", ".csv, .jsonl, .parquet")
    assert not Path("releases.jsno").exists()


def test_an_empty_ledger_is_exported_as_columns_without_rows(run: CommandLine, ledger_place: str, work: Path) -> None:
    open_ledger(ledger_place).close()
    assert run("ledger", "export", "releases.parquet", "--ledger", ledger_place).code == 0
    assert pq.read_table("releases.parquet").num_rows == 0
