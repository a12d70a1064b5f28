from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command_line import CommandLine, check_refusal, listing
from support.corpora import write_vectors
from support.veils import PRIVATE_WORD
from vecveil.samples import clinical_sentences, concept_path


@pytest.fixture
def corpus(work: Path, private_texts: list[str]) -> Path:
    (work / "notes.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in private_texts))
    (work / "concept.toml").write_text(f'[[part]]\nkind = "terms"\nterms = ["{PRIVATE_WORD}"]\nlabel = "ILL"\n')
    return work


def test_counts_and_marked_examples_are_shown(run: CommandLine, corpus: Path) -> None:
    outcome = run("concept", "concept.toml", "notes.jsonl", "--examples", "2")
    assert outcome.code == 0
    assert "12 of 24 texts (50 %) hold the concept" in outcome.out
    assert outcome.out.count(f"[{PRIVATE_WORD}]ILL") == 2
    assert PRIVATE_WORD not in outcome.err


def test_no_examples_show_no_text(run: CommandLine, corpus: Path) -> None:
    outcome = run("concept", "concept.toml", "notes.jsonl", "--examples", "0")
    assert (outcome.code, PRIVATE_WORD in outcome.out) == (0, False)


def test_a_concept_that_is_nowhere_is_said_to_be(run: CommandLine, corpus: Path) -> None:
    (corpus / "concept.toml").write_text('[[part]]\nkind = "terms"\nterms = ["nowhere"]\n')
    outcome = run("concept", "concept.toml", "notes.jsonl")
    assert "0 of 24 texts" in outcome.out
    assert "matches nothing" in outcome.err


def test_pairs_embedded_elsewhere_are_enough_for_the_default_shape(run: CommandLine, corpus: Path) -> None:
    assert run("concept", "concept.toml", "notes.jsonl", "--examples", "0", "--pairs", "pairs.jsonl").code == 0
    texts = [json.loads(line)["text"] for line in (corpus / "pairs.jsonl").read_text().splitlines()]
    write_vectors(corpus / "pairs.parquet", list(dict.fromkeys(texts)))
    embedder = ("--embedder", "precomputed:pairs.parquet@mine")
    learned = run("learn", "concept.toml", "notes.jsonl", *embedder, "--out", "my.veil", "--no-ledger")
    assert learned.code == 0, learned.err
    budget = ("--vector-column", "vector", "--noise-ratio", "0.7", "--no-ledger")
    protected = run("protect", "my.veil", "pairs.parquet", "protected.parquet", *budget)
    assert protected.code == 0, protected.err


def test_the_default_comes_to_an_operating_point_on_vectors_alone(run: CommandLine, work: Path) -> None:
    """Without the model, search is measured by neighbors, of which even redaction keeps far less than the default."""
    (work / "concept.toml").write_bytes(concept_path().read_bytes())
    texts = [sentence.text for sentence in clinical_sentences(400)]
    (work / "notes.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    assert run("concept", "concept.toml", "notes.jsonl", "--examples", "0", "--pairs", "pairs.jsonl").code == 0
    written = [json.loads(line)["text"] for line in (work / "pairs.jsonl").read_text().splitlines()]
    write_vectors(work / "pairs.parquet", list(dict.fromkeys(written)))
    embedder = ("--embedder", "precomputed:pairs.parquet@mine")
    learned = run("learn", "concept.toml", "notes.jsonl", *embedder, "--out", "my.veil", "--no-ledger")
    assert learned.code == 0, learned.err
    assert "no veil keeps 95 % of neighbors" in learned.err
    said = " ".join(learned.out.split())
    assert "The strongest attack reads" in said
    assert "promised: no vector depends on a word that the concept finds" in said


@pytest.fixture
def marked(corpus: Path) -> Path:
    rows = [
        {"text": f"Two {PRIVATE_WORD}s.", "marks": [{"start": 4, "end": 5 + len(PRIVATE_WORD), "label": "ILL"}]},
        {"text": "He has lumbago.", "marks": [{"start": 7, "end": 14, "label": "ILL"}]},
        {"text": f"No {PRIVATE_WORD}.", "marks": []},
        {"text": "He is 60.", "marks": [{"start": 6, "end": 8, "label": "AGE"}]},
    ]
    (corpus / "marked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return corpus


def test_annotations_tell_precision_recall_and_what_was_missed(run: CommandLine, marked: Path) -> None:
    outcome = run("concept", "concept.toml", "marked.jsonl", "--annotations", "marks")
    assert outcome.code == 0, outcome.err
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert "ILL 2 50.0 % 50.0 % 2 50.0 % 50.0 %" in lines
    assert "all 2 50.0 % 50.0 % 2 50.0 % 50.0 %" in lines
    assert "missed 1×: lumbago (ILL)" in lines
    assert f"wrong 1×: {PRIVATE_WORD} (ILL)" in lines
    assert "lumbago" not in outcome.err


def test_labels_choose_which_annotations_count(run: CommandLine, marked: Path) -> None:
    outcome = run("concept", "concept.toml", "marked.jsonl", "--annotations", "marks", "--label", "AGE")
    assert "AGE 1 0.0 % 0.0 % 0 - -" in [" ".join(line.split()) for line in outcome.out.splitlines()]
    check_refusal(run("concept", "concept.toml", "marked.jsonl", "--label", "ILL"), "--annotations")
    wrong = run("concept", "concept.toml", "marked.jsonl", "--annotations", "marks", "--label", "AGES")
    check_refusal(wrong, "did you mean 'AGE'")


def test_without_examples_no_missed_form_is_shown(run: CommandLine, marked: Path) -> None:
    outcome = run("concept", "concept.toml", "marked.jsonl", "--annotations", "marks", "--examples", "0")
    assert "recall" in outcome.out
    assert not {"lumbago", PRIVATE_WORD} & set(outcome.out.split())


def test_a_concept_that_reads_annotations_is_not_measured_by_them(run: CommandLine, marked: Path) -> None:
    (marked / "concept.toml").write_text('[[part]]\nkind = "annotated"\n')
    outcome = run("concept", "concept.toml", "marked.jsonl", "--annotations", "marks")
    assert (outcome.code, "recall" in outcome.out) == (0, False)


@pytest.mark.parametrize("label", ["[/b]", "[bold]ILL", "[link=x]"])
def test_a_label_in_square_brackets_is_shown_as_it_is(run: CommandLine, corpus: Path, label: str) -> None:
    (corpus / "concept.toml").write_text(f'[[part]]\nkind = "terms"\nterms = ["{PRIVATE_WORD}"]\nlabel = "{label}"\n')
    outcome = run("concept", "concept.toml", "notes.jsonl", "--examples", "0")
    assert outcome.code == 0
    assert label in outcome.out


def test_texts_are_shown_as_they_are(run: CommandLine, corpus: Path) -> None:
    text = f"Sign [/b] [red]says[/red] :pill: {PRIVATE_WORD}"
    (corpus / "notes.jsonl").write_text(json.dumps({"text": text}) + '\n{"text": "calm"}')
    outcome = run("concept", "concept.toml", "notes.jsonl")
    assert f"Sign [/b] [red]says[/red] :pill: [{PRIVATE_WORD}]ILL" in outcome.out
    assert "without Sign [/b] [red]says[/red] :pill:" in outcome.out


def test_pairs_are_written_for_embedding_elsewhere(run: CommandLine, corpus: Path) -> None:
    outcome = run("concept", "concept.toml", "notes.jsonl", "--pairs", "pairs.jsonl")
    assert outcome.code == 0, outcome.err
    assert "36 texts written to pairs.jsonl" in outcome.err
    rows = [json.loads(line) for line in (corpus / "pairs.jsonl").read_text().splitlines()]
    sides = {side: [row for row in rows if row["concept"] == side] for side in ("with", "without", "other")}
    assert [len(side) for side in sides.values()] == [12, 12, 12]
    assert sides["with"][0]["text"] == f"Patient 1 has {PRIVATE_WORD} and rests well."
    assert sides["without"][0]["text"] == "Patient 1 has and rests well."
    assert [row["pair"] for row in sides["with"]] == [row["pair"] for row in sides["without"]] == [*range(12)]
    # Texts without the concept belong to no pair, and are needed by whoever learns from the vectors.
    assert sides["other"][0] == {"pair": None, "concept": "other", "text": "Visit 0 was calm and short."}


@pytest.mark.parametrize("name", ["notes.jsonl", "concept.toml", "other.jsonl"])
def test_pairs_replace_no_file(run: CommandLine, corpus: Path, name: str) -> None:
    (corpus / "other.jsonl").write_text("mine")
    before = listing(corpus)
    outcome = run("concept", "concept.toml", "notes.jsonl", "--examples", "0", "--pairs", name)
    assert listing(corpus) == before
    check_refusal(outcome, name, "exists already", hidden=[PRIVATE_WORD])


def test_pairs_in_a_missing_folder_are_refused(run: CommandLine, corpus: Path) -> None:
    outcome = run("concept", "concept.toml", "notes.jsonl", "--examples", "0", "--pairs", "missing/pairs.jsonl")
    check_refusal(outcome, "missing", hidden=[PRIVATE_WORD])


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", ("concept.toml", "no parts")),
        ("[[part]]\n", ("concept.toml", "'kind' is missing")),
        ('[[part]]\nkind = "term"\n', ("'term'", "did you mean 'terms'")),
        (f'[[part]]\nkind = "terms"\nterm = ["{PRIVATE_WORD}"]\n', ("'term'", "did you mean 'terms'")),
        (f'[[part]]\nkind = "terms"\nterms = "{PRIVATE_WORD}"\n', ("'terms' must be a list of strings",)),
        ('[[part]]\nkind = "terms"\nfile = "gone.txt"\n', ("gone.txt",)),
        (f'[[part]\nkind = "{PRIVATE_WORD}"', ("concept.toml is not valid TOML",)),
        (f'[[part]]\nkind = "patterns"\npatterns = {{ X = "({PRIVATE_WORD}" }}\n', ("concept.toml",)),
    ],
)
def test_a_wrong_concept_is_refused(run: CommandLine, corpus: Path, content: str, named: tuple[str, ...]) -> None:
    (corpus / "concept.toml").write_text(content)
    check_refusal(run("concept", "concept.toml", "notes.jsonl"), *named)


def test_a_missing_concept_or_corpus_is_refused(run: CommandLine, corpus: Path) -> None:
    check_refusal(run("concept", "gone.toml", "notes.jsonl"), "gone.toml")
    check_refusal(run("concept", "concept.toml", "gone.jsonl"), "gone.jsonl")
    check_refusal(run("concept", "concept.toml", "."), "folder")
