"""Bundled corpus: synthetic clinical sentences, and a concept private in them."""

from importlib.resources import files
from pathlib import Path

from vecveil.samples.clinical import clinical_sentences
from vecveil.samples.queries import SampleQuery, judged_queries
from vecveil.samples.sentence import SampleSentence, SampleSpan

__all__ = ["SampleQuery", "SampleSentence", "SampleSpan", "clinical_sentences", "concept_path", "judged_queries"]


def concept_path() -> Path:
    """Return the file of the bundled concept, "disease and age"."""
    return Path(str(files("vecveil.samples") / "concept.toml"))
