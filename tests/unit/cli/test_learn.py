from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import CommandLine, check_refusal, listing
from support.veils import PRIVATE_WORD
from vecveil.veil import Veil


@pytest.fixture
def corpus(work: Path, private_texts: list[str]) -> Path:
    (work / "notes.txt").write_text("\n".join(private_texts))
    (work / "concept.toml").write_text(f'[[part]]\nkind = "terms"\nterms = ["{PRIVATE_WORD}"]\n')
    return work


def test_learning_writes_a_veil_and_tells_what_is_in_it(run: CommandLine, corpus: Path, model_folder: Path) -> None:
    options = ("--embedder", model_folder, "--shape", "uniform", "--epsilon", "40")
    outcome = run("learn", "concept.toml", "notes.txt", "--out", "a.veil", *options)
    assert outcome.code == 0, outcome.err
    veil = Veil.load(corpus / "a.veil")
    assert veil.epsilon == 40.0
    assert veil.digest() in outcome.out
    assert "a.veil" in outcome.err
    assert PRIVATE_WORD not in outcome.out + outcome.err


def test_settings_and_presets_reach_the_learner(run: CommandLine, corpus: Path, model_folder: Path) -> None:
    named = ("--shape", "hard-concrete", "--preset", "paper")
    options = ("--embedder", model_folder, *named, "--set", "epochs=2", "--set", "hidden=[8]")
    outcome = run("learn", "concept.toml", "notes.txt", "--out", "a.veil", *options)
    assert outcome.code == 0, outcome.err
    learner = Veil.load(corpus / "a.veil").provenance.learner
    assert (learner["epochs"], learner["hidden"], learner["floor"]) == (2, [8], 1e-6)


def test_a_kept_concept_is_in_the_veil(run: CommandLine, corpus: Path, model_folder: Path) -> None:
    options = ("--embedder", model_folder, "--shape", "uniform")
    assert run("learn", "concept.toml", "notes.txt", "--out", "a.veil", *options).code == 0
    assert PRIVATE_WORD in (corpus / "a.veil" / "manifest.json").read_text()
    assert run("learn", "concept.toml", "notes.txt", "--out", "b.veil", *options, "--no-keep-concept").code == 0
    assert PRIVATE_WORD not in (corpus / "b.veil" / "manifest.json").read_text()


@pytest.mark.parametrize("name", ["[bold]a.veil", "b[/b]a.veil", "b[/]"])
def test_square_brackets_in_a_name_are_just_letters(
    run: CommandLine, corpus: Path, model_folder: Path, name: str
) -> None:
    (corpus / name).parent.mkdir(exist_ok=True)
    outcome = run("learn", "concept.toml", "notes.txt", "--out", name, "--embedder", model_folder, "--shape", "uniform")
    assert outcome.code == 0
    assert name in outcome.err


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--shape", "unifrom"), ("unknown shape 'unifrom'", "did you mean 'uniform'")),
        (("--mechanism", "laplase"), ("'laplase'", "did you mean 'laplace'")),
        (("--shape", "hard-concrete", "--preset", "papers"), ("'papers'", "did you mean 'paper'")),
        (("--preset", "paper"), ("'canonical' has no presets", "'hard-concrete' and")),
        (("--shape", "hard-concrete", "--set", "epoch=3"), ("'epoch'", "did you mean 'epochs'")),
        (("--set", "epochs"), ("--set takes NAME=VALUE", "'epochs'")),
        (("--shape", "hard-concrete", "--set", "epochs=none"), ("epochs", "'none'")),
        (("--shape", "hard-concrete", "--set", "hidden=5"), ("hidden", "5")),
        (("--shape", "hard-concrete", "--set", "held-out=abc"), ("held_out", "'abc'")),
        (("--embedder", "minilmm"), ("'minilmm'", "did you mean 'minilm'")),
        (("--embedder", "precomputed:x.parquet"), ("precomputed:FILE.parquet@MODEL",)),
        (("--text-column", "txt"), ("'txt'", "did you mean 'text'")),
        (("--contrast", "remove"), ("'remove'", "removal")),
        (("--seed", "-1"), ("seed", "-1")),
        (("--epsilon", "0"), ("epsilon must be", "0.0")),
        (("--epsilon", "-3"), ("epsilon must be", "-3.0")),
        (("--epsilon", "nan"), ("epsilon must be", "nan")),
        (("--epsilon", "inf"), ("epsilon must be", "inf")),
        (("--epsilon", "much"), ("'much'",)),
    ],
)
def test_a_wrong_option_is_refused_and_nothing_is_written(
    run: CommandLine, corpus: Path, model_folder: Path, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    before = listing(corpus)
    outcome = run("learn", "concept.toml", "notes.txt", "--out", "a.veil", "--embedder", model_folder, *options)
    check_refusal(outcome, *named, hidden=[PRIVATE_WORD])
    assert listing(corpus) == before


@pytest.mark.parametrize(
    ("out", "named"),
    [
        (("old",), "old exists already"),
        (("missing/a.veil",), "no folder missing"),
        ((".",), "exists already"),
        ((".", "--overwrite"), "."),
        (("..", "--overwrite"), ".."),
        (("old", "--overwrite"), "old"),
        (("notes.txt", "--overwrite"), "notes.txt"),
        (("concept.toml", "--overwrite"), "concept.toml"),
    ],
)
def test_what_is_no_veil_is_never_replaced(
    run: CommandLine, corpus: Path, model_folder: Path, out: tuple[str, ...], named: str
) -> None:
    (corpus / "old").mkdir()
    (corpus / "old" / "thesis.tex").write_text("years of it")
    before = listing(corpus)
    options = ("--embedder", model_folder, "--shape", "uniform", "--ledger", "none.sqlite")
    check_refusal(run("learn", "concept.toml", "notes.txt", *options, "--out", *out), named)
    # Refused before anything is learned: no ledger was opened, and no release of the texts is on record.
    assert listing(corpus) == before


def test_an_error_speaks_of_the_flags_of_the_command_line(run: CommandLine, corpus: Path, model_folder: Path) -> None:
    options = ("--out", "a.veil", "--embedder", model_folder)
    (corpus / "notes.txt").write_text(f"One has {PRIVATE_WORD}.\nTwo has {PRIVATE_WORD}.\n")
    check_refusal(run("learn", "concept.toml", "notes.txt", *options), "--allow-everywhere", hidden=[PRIVATE_WORD])
    (corpus / "notes.txt").write_text(f"One has {PRIVATE_WORD}.\n{PRIVATE_WORD}\nAll is calm.\n")
    check_refusal(run("learn", "concept.toml", "notes.txt", *options), "row 1", "--drop-empty", hidden=[PRIVATE_WORD])


def test_public_texts_are_said_to_be_public_and_are_no_release(
    run: CommandLine, corpus: Path, model_folder: Path
) -> None:
    options = ("--embedder", model_folder, "--shape", "uniform", "--ledger", "book.sqlite")
    outcome = run("learn", "concept.toml", "--public", "notes.txt", "--out", "public.veil", *options)
    assert outcome.code == 0, outcome.err
    assert "pairs of public texts" in outcome.out
    assert Veil.load("public.veil").provenance.public
    assert not Path("book.sqlite").exists()
    outcome = run("learn", "concept.toml", "notes.txt", "--out", "private.veil", *options)
    assert outcome.code == 0, outcome.err
    assert "pairs of private texts" in outcome.out
    assert "shape" in run("ledger", "show", "--ledger", "book.sqlite").out


@pytest.mark.parametrize(("texts", "named"), [((), "neither"), (("notes.txt", "--public", "notes.txt"), "both")])
def test_texts_are_private_or_public(run: CommandLine, corpus: Path, texts: tuple[str, ...], named: str) -> None:
    before = listing(corpus)
    check_refusal(run("learn", "concept.toml", *texts, "--out", "a.veil"), "--public", named)
    assert listing(corpus) == before


def test_anything_takes_the_place_of_a_concept_file(run: CommandLine, corpus: Path, model_folder: Path) -> None:
    outcome = run("learn", "anything", "notes.txt", "--out", "a.veil", "--embedder", model_folder)
    assert outcome.code == 0, outcome.err
    veil = Veil.load(corpus / "a.veil")
    assert veil.provenance.concept == {"kind": "content-words", "at_least": 3, "share": 0.5}
    assert veil.shape.released < veil.shape.dimensions


EMBEDDER = ("--embedder", "precomputed:known.parquet@words")
WITH_TARGET = ("learn", "concept.toml", "notes.txt", "--out", "b.veil", *EMBEDDER, "--no-ledger")


def test_the_next_command_works_where_the_veil_keeps_no_budget(
    run: CommandLine, corpus: Path, model_folder: Path
) -> None:
    options = ("--embedder", model_folder, "--preset", "sparse", "--set", "epochs=2", "--no-ledger")
    outcome = run("learn", "concept.toml", "notes.txt", "--out", "a.veil", *options)
    assert outcome.code == 0, outcome.err
    command = outcome.err.partition("next:  vecveil ")[2].replace("TEXTS", "notes.txt").split()
    again = run(*command, "--embedder", model_folder, "--no-ledger")
    assert again.code == 0, again.err
    assert Path("OUTPUT.parquet").exists()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--keep-utility", "97"), ("keep_utility", "97")),
        (("--keep-utility", "0.9", "--epsilon", "3"), ("name a target or a budget, got both",)),
        (
            ("--max-leakage", "0.000001", "--shape", "uniform", "--substitution", "keep"),
            ("of the words are read, above 0.0 %",),
        ),
        (("--values", "ILLNESS=x.txt"), ("--values goes with --substitution randomize",)),
    ],
)
def test_a_wrong_target_is_refused(
    run: CommandLine, toy_place: Path, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    check_refusal(run(*WITH_TARGET, *options), *named)
    assert not (toy_place / "b.veil").exists()
