"""Make the corpora of docs/frontier.md from the benchmark data: `python texts.py DATA OUT`."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from vecveil.concepts import Passage, load_concept

HERE = Path(__file__).parent
OTHERS = 1.5
"""Texts without the concept for each text with it, where a benchmark has far more of them."""

SOME = 3000
"""Texts for attacks that take minutes to train."""

TEN_THOUSAND = 10_000
"""Sentences of the corpus that goes to a target."""

LONGEST = 700
"""Characters of a document: what the models read of it, so that no private word stands where they don't look."""

MOST_DOCUMENTS = 5000
"""Documents of a retrieval benchmark: those that are judged relevant to its test queries, and others."""


def main() -> None:
    """Write one Parquet file of texts for each concept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    sets = {name: _sentences(asked.data / name / f"{name}.parquet") for name in ("sts12", "sts14", "stsb")}
    _write(asked.out / "entities.parquet", sets["sts12"])
    everything = list(dict.fromkeys(text for texts in sets.values() for text in texts))
    chosen = np.random.default_rng(0).permutation(len(everything))[:TEN_THOUSAND]
    _write(asked.out / "ten.parquet", [everything[row] for row in chosen])
    for name in ("countries", "days"):
        _write(asked.out / f"{name}.parquet", _balanced(everything, name))
    for name in ("nfcorpus", "fiqa"):
        _cut(asked.data / name, asked.out / name)
    # The order is mixed, so that the first are a sample: as many as generative attacks have time for.
    _write(asked.out / "some-countries.parquet", _balanced(everything, "countries")[:SOME])


def _sentences(path: Path) -> list[str]:
    table = pq.read_table(path, columns=["sentence1", "sentence2"]).to_pydict()
    return list(dict.fromkeys(text for text in [*table["sentence1"], *table["sentence2"]] if text.strip()))


def _balanced(texts: list[str], concept: str) -> list[str]:
    """Return every text with the concept, and some without it, in a mixed order."""
    found = load_concept(HERE / f"{concept}.toml").find_all([Passage(text) for text in texts])
    held = [text for text, spans in zip(texts, found, strict=True) if spans]
    rest = [text for text, spans in zip(texts, found, strict=True) if not spans]
    rng = np.random.default_rng(0)
    chosen = [rest[row] for row in rng.permutation(len(rest))[: round(OTHERS * len(held))]]
    mixed = held + chosen
    return [mixed[row] for row in rng.permutation(len(mixed))]


def _cut(source: Path, out: Path) -> None:
    """Write a retrieval benchmark with its documents cut."""
    out.mkdir(exist_ok=True)
    documents = pq.read_table(source / "corpus.parquet").to_pylist()
    judgments = pq.read_table(source / "qrels.parquet")
    relevant = {row["doc_id"] for row in judgments.to_pylist() if row["split"] == "test"}
    judged = [row for row in documents if row["id"] in relevant]
    others = [row for row in documents if row["id"] not in relevant]
    chosen = np.random.default_rng(0).permutation(len(others))[: max(0, MOST_DOCUMENTS - len(judged))]
    kept = judged + [others[row] for row in chosen]
    texts = [f"{row['title']} {row['text']}".strip()[:LONGEST] for row in kept]
    pq.write_table(pa.table({"id": [row["id"] for row in kept], "text": texts}), out / "corpus.parquet")
    pq.write_table(judgments, out / "qrels.parquet")
    pq.write_table(pq.read_table(source / "queries.parquet"), out / "queries.parquet")


def _write(path: Path, texts: list[str]) -> None:
    pq.write_table(pa.table({"text": texts}), path)


if __name__ == "__main__":
    main()
