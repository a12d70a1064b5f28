"""Whatever is wrong, a user gets one line that names it, no private word, and nothing on disk."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.command_line import CommandLine, check_refusal, finished, listing, start
from support.tiny_model import write_tiny_model
from support.veils import PRIVATE_WORD, unit_vectors
from vecveil.files.vectors import to_vector_column

CALM, ILL = "All was calm today.", f"One had {PRIVATE_WORD} today."


@pytest.fixture
def place(work: Path, learned_folder: Path) -> Path:
    shutil.copytree(learned_folder, work / "a.veil")
    (work / "concept.toml").write_text(f'[[part]]\nkind = "terms"\nterms = ["{PRIVATE_WORD}"]\n')
    (work / "good.jsonl").write_text("\n".join(json.dumps({"id": n, "text": ILL}) for n in range(3)))
    np.save(work / "good.npy", unit_vectors(3, 16))
    return work


def _json_lines(*rows: Any) -> bytes:
    return "\n".join(map(json.dumps, rows)).encode()


FILES: dict[str, tuple[str, bytes, tuple[str, ...]]] = {
    "empty json lines": ("in.jsonl", b"", ("in.jsonl has no rows",)),
    "blank json lines": ("in.jsonl", b"\n \n", ("in.jsonl has no rows",)),
    "empty csv": ("in.csv", b"", ("in.csv has no header line",)),
    "only a header": ("in.csv", b"id,text\n", ("in.csv has no rows",)),
    "empty lines": ("in.txt", b"\n\n", ("in.txt has no rows",)),
    "empty parquet": ("in.parquet", b"", ("in.parquet cannot be read as parquet",)),
    "empty arrow": ("in.arrow", b"", ("in.arrow cannot be read as arrow",)),
    "null text": ("in.jsonl", _json_lines({"text": ILL}, {"text": CALM}, {"text": None}), ("row 2 has no text",)),
    "blank text": ("in.jsonl", _json_lines({"text": ILL}, {"text": " \t"}, {"text": CALM}), ("row 1 has no text",)),
    "missing text": ("in.jsonl", _json_lines({"text": ILL}, {"id": 3}), ("row 1 has no text",)),
    "blank in csv": ("in.csv", f"id,text\n1,{ILL}\n2,\n3,{CALM}\n".encode(), ("row 1 has no text",)),
    "not utf-8": ("in.txt", f"{ILL}\né\n".encode("latin-1"), ("in.txt", "UTF-8")),
    "csv not utf-8": ("in.csv", f"id,text\n1,{ILL}é\n".encode("latin-1"), ("in.csv", "UTF-8")),
    "not json": ("in.jsonl", f'{{"text": "x"}}\n{ILL}\n'.encode(), ("in.jsonl: line 2 is not JSON",)),
    "no object": ("in.jsonl", _json_lines({"text": "x"}, [ILL]), ("line 2 must be a JSON object, got list",)),
    "number then text": ("in.jsonl", _json_lines({"text": 1}, {"text": ILL}), ("in.jsonl",)),
    "text then number": ("in.jsonl", _json_lines({"text": ILL}, {"text": 1}), ("in.jsonl",)),
    "text then list": ("in.jsonl", _json_lines({"text": ILL}, {"text": [ILL]}), ("in.jsonl",)),
    "huge number": ("in.jsonl", _json_lines({"text": ILL, "id": 2**70}), ("in.jsonl",)),
    "half a pair": ("in.jsonl", f'{{"text": "{ILL} \\ud83d"}}'.encode(), ("in.jsonl",)),
    "crooked csv": ("in.csv", f"id,text\n1,{ILL},3\n".encode(), ("line 2 has 3 fields",)),
    "open quote": ("in.csv", f'id,text\n1,"{ILL}\n'.encode(), ("in.csv: line 2",)),
    "other column": ("in.csv", f"id,txt\n1,{ILL}\n".encode(), ("id, txt",)),
    "unknown ending": ("in.jsnl", _json_lines({"text": ILL}), ("'.jsnl'", "did you mean '.jsonl'")),
    "zipped": ("in.jsonl.gz", b"\x1f\x8b", ("'.gz'",)),
}


@pytest.mark.parametrize("case", FILES)
def test_a_bad_file_of_texts_is_refused_by_protect(run: CommandLine, place: Path, case: str) -> None:
    name, content, named = FILES[case]
    (place / name).write_bytes(content)
    before = listing(place)
    outcome = run("protect", "a.veil", name, "out.parquet", "--epsilon", "9")
    check_refusal(outcome, *named, hidden=[PRIVATE_WORD])
    assert listing(place) == before


@pytest.mark.parametrize("case", sorted(set(FILES) - {"other column"}))
def test_a_bad_file_of_texts_is_refused_by_learn_and_concept(
    run: CommandLine, place: Path, model_folder: Path, case: str
) -> None:
    name, content, named = FILES[case]
    (place / name).write_bytes(content)
    before = listing(place)
    learned = run("learn", "concept.toml", name, "--out", "b.veil", "--embedder", model_folder, "--shape", "uniform")
    check_refusal(learned, *named, hidden=[PRIVATE_WORD])
    check_refusal(run("concept", "concept.toml", name), *named, hidden=[PRIVATE_WORD])
    assert listing(place) == before


@pytest.mark.parametrize(
    ("texts", "named"),
    [
        ([CALM, CALM], "matches nothing in 2 text"),
        ([ILL, ILL], "matches all 2 text"),
        ([ILL, ILL, f"{PRIVATE_WORD}!", CALM], "empty without the concept, first in row 2"),
        ([ILL, CALM], "at least 10 texts with the concept, got 1"),
    ],
)
def test_a_corpus_that_teaches_nothing_is_refused(
    run: CommandLine, place: Path, model_folder: Path, texts: list[str], named: str
) -> None:
    (place / "in.txt").write_text("\n".join(texts))
    before = listing(place)
    outcome = run("learn", "concept.toml", "in.txt", "--out", "b.veil", "--embedder", model_folder)
    check_refusal(outcome, named, hidden=[PRIVATE_WORD])
    assert listing(place) == before


def _spoilt(row: int, value: float) -> Any:
    vectors = unit_vectors(6, 16)
    vectors[row] = value
    return vectors


VECTORS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "nan": (_spoilt(4, np.nan), ("NaN or infinite numbers, first in row 4",)),
    "infinite": (_spoilt(3, -np.inf), ("NaN or infinite numbers, first in row 3",)),
    "zero": (_spoilt(2, 0), ("zero vector, first in row 2",)),
    "another dimension": (unit_vectors(6, 5), ("must have 16 dimensions, got 5",)),
    "not normalized": (7 * unit_vectors(6, 16), ("length 1", "row 0")),
    "flat": (unit_vectors(6, 16)[0], ("shape (16,)",)),
    "whole numbers": (np.ones((2, 16), dtype=np.int64), ("int64",)),
    "no rows": (np.empty((0, 16), dtype=np.float32), ("no rows",)),
    "no columns": (np.empty((3, 0), dtype=np.float32), ("(3, 0)",)),
    "complex": (np.ones((2, 16), dtype=np.complex64), ("complex64",)),
}


@pytest.mark.parametrize("case", VECTORS)
def test_a_bad_file_of_vectors_is_refused(run: CommandLine, place: Path, case: str) -> None:
    vectors, named = VECTORS[case]
    np.save(place / "in.npy", vectors)
    before = listing(place)
    check_refusal(run("protect", "a.veil", "in.npy", "out.npy", "--epsilon", "9"), *named)
    assert listing(place) == before


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ([[1.0] * 16, [1.0] * 3], ("row 1", "got 3")),
        ([[1.0] * 16, None], ("no vector in row 1",)),
        ([[1.0] * 16, [None] * 16], ("row 1",)),
        ([[1.0] * 16, []], ("row 1", "got 0")),
    ],
)
def test_ragged_and_missing_vectors_are_refused(
    run: CommandLine, place: Path, rows: Any, named: tuple[str, ...]
) -> None:
    pq.write_table(pa.table({"v": pa.array(rows, pa.list_(pa.float64()))}), place / "in.parquet")
    before = listing(place)
    check_refusal(run("protect", "a.veil", "in.parquet", "out.npy", "--epsilon", "9"), *named)
    assert listing(place) == before


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--epsilon", "0"), ("epsilon must be", "0.0")),
        (("--epsilon", "-2"), ("epsilon must be", "-2.0")),
        (("--epsilon", "nan"), ("epsilon must be", "nan")),
        (("--epsilon", "inf"), ("epsilon must be", "inf")),
        (("--epsilon", "eight"), ("'eight'",)),
        (("--epsilon", "1e-300"), ("epsilon", "1e-300")),
        (("--noise-ratio", "-1"), ("noise ratio", "-1.0")),
        (("--epsilon", "9", "--noise-ratio", "1"), ("give one budget",)),
        ((), ("a budget must be given (epsilon, noise_ratio or paper_epsilon)",)),
        (("--epsilon", "9", "--batch-rows", "0"), ("--batch-rows", "0")),
        (("--epsilon", "9", "--batch-rows", "many"), ("'many'",)),
        (("--epsilon", "9", "--text-column", "txt"), ("'txt'", "did you mean 'text'")),
        (("--epsilon", "9", "--vector-column", "txt"), ("'txt'", "did you mean 'text'")),
        (("--epsilon", "9", "--vector-column", "text"), ("lists of floating-point numbers", "string")),
        (("--epsilon", "9", "--text-column", "id"), ("'id'",)),
        (("--epsilon", "9", "--keep", "txt"), ("'txt'", "did you mean 'text'")),
        (("--epsilon", "9", "--embedder", "minilmm"), ("'minilmm'", "did you mean 'minilm'")),
    ],
)
def test_a_wrong_option_is_refused_and_nothing_is_written(
    run: CommandLine, place: Path, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    before = listing(place)
    outcome = run("protect", "a.veil", "good.jsonl", "out.parquet", *options)
    check_refusal(outcome, *named, hidden=[PRIVATE_WORD])
    assert listing(place) == before


@pytest.mark.parametrize(
    ("out", "named"),
    [
        ("old.parquet", ("old.parquet exists already",)),
        ("missing/out.parquet", ("no folder missing",)),
        ("out.csv", ("'.csv'", ".parquet")),
        ("out.parqet", ("'.parqet'", "did you mean '.parquet'")),
        ("out", ("ending",)),
        ("good.npy", ("another file than the input",)),
    ],
)
def test_a_wrong_output_is_refused_and_nothing_is_written(
    run: CommandLine, place: Path, out: str, named: tuple[str, ...]
) -> None:
    (place / "old.parquet").write_bytes(b"old")
    before = listing(place)
    check_refusal(run("protect", "a.veil", "good.npy", out, "--epsilon", "9"), *named)
    assert listing(place) == before


def test_an_output_is_replaced_only_with_overwrite_and_never_the_input(run: CommandLine, place: Path) -> None:
    (place / "old.parquet").write_bytes(b"old")
    assert run("protect", "a.veil", "good.npy", "old.parquet", "--epsilon", "9", "--overwrite").code == 0
    assert pq.read_table(place / "old.parquet").num_rows == 3
    outcome = run("protect", "a.veil", "good.npy", "good.npy", "--epsilon", "9", "--overwrite")
    check_refusal(outcome, "another file than the input")
    np.testing.assert_array_equal(np.load(place / "good.npy"), unit_vectors(3, 16))


def test_a_veil_is_not_used_with_another_model_or_revision(
    run: CommandLine, place: Path, tmp_path_factory: pytest.TempPathFactory, model_folder: Path
) -> None:
    before = listing(place)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    revision = write_tiny_model(elsewhere / model_folder.name, seed=1)
    other = write_tiny_model(elsewhere / "other", normalize=False)
    base = ("protect", "a.veil", "good.jsonl", "out.parquet", "--epsilon", "9", "--embedder")
    check_refusal(run(*base, revision), "another embedder", "revision", hidden=[PRIVATE_WORD])
    check_refusal(run(*base, other), "another embedder", "model 'small' against 'other'", hidden=[PRIVATE_WORD])
    (elsewhere / "empty").mkdir()
    check_refusal(run(*base, elsewhere / "empty"), "cannot load the model", hidden=[PRIVATE_WORD])
    assert listing(place) == before


def test_a_moved_copy_of_the_model_serves_as_well(
    run: CommandLine, place: Path, tmp_path_factory: pytest.TempPathFactory, model_folder: Path
) -> None:
    moved = tmp_path_factory.mktemp("moved") / model_folder.name
    shutil.copytree(model_folder, moved)
    outcome = run("protect", "a.veil", "good.jsonl", "out.parquet", "--epsilon", "9", "--embedder", moved)
    assert outcome.code == 0, outcome.err


def test_a_text_that_has_no_precomputed_vector_is_refused_by_its_number_in_the_file(
    run: CommandLine, place: Path
) -> None:
    texts = [f"Note {number} on {PRIVATE_WORD}." for number in range(4)] + [CALM, "Nothing."]
    known = [*texts, *(f"Note {number} on." for number in range(4))]
    pq.write_table(pa.table({"text": known, "vector": to_vector_column(unit_vectors(10))}), place / "known.parquet")
    (place / "in.txt").write_text("\n".join(texts))
    spec = "precomputed:known.parquet@elsewhere"
    learned = run("learn", "concept.toml", "in.txt", "--out", "b.veil", "--embedder", spec, "--shape", "uniform")
    assert learned.code == 0, learned.err
    (place / "in.txt").write_text("\n".join([*texts[:5], f"Unknown {PRIVATE_WORD}."]))
    outcome = run("protect", "b.veil", "in.txt", "out.npy", "--epsilon", "9", "--batch-rows", "2")
    check_refusal(outcome, "row 5", hidden=[PRIVATE_WORD])
    assert not (place / "out.npy").exists()


def test_a_concept_that_only_matches_in_the_dark_is_told_without_words(run: CommandLine, place: Path) -> None:
    spans = [{"start": 0, "end": 999, "label": "X"}]
    (place / "in.jsonl").write_bytes(_json_lines({"text": CALM}, {"text": ILL, "entities": spans}))
    check_refusal(run("concept", "concept.toml", "in.jsonl"), "row 1", hidden=[PRIVATE_WORD])
    (place / "in.jsonl").write_bytes(
        _json_lines({"text": ILL, "entities": [{"start": PRIVATE_WORD, "end": 3, "label": "X"}]})
    )
    check_refusal(run("concept", "concept.toml", "in.jsonl"), "row 0", hidden=[PRIVATE_WORD])


@pytest.mark.parametrize("texts", [0, 1, 2, 4, 10])
def test_a_demo_of_too_few_texts_is_refused(
    run: CommandLine, work: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch, texts: int
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(work))
    outcome = run("demo", "--texts", texts, "--shape", "uniform", "--embedder", model_folder)
    check_refusal(outcome, "--texts", str(texts))


def test_nothing_private_is_said_when_something_goes_wrong_in_a_process_of_its_own(place: Path) -> None:
    (place / "in.jsonl").write_bytes(_json_lines({"text": ILL, "n": 1}, {"text": ILL, "n": PRIVATE_WORD}))
    outcome = finished(start("protect", "a.veil", "in.jsonl", "out.parquet", "--epsilon", "9"))
    check_refusal(outcome, "in.jsonl", hidden=[PRIVATE_WORD])
