"""The defenses on several embedding models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reproduction.grid import Request, measure, with_undefended
from reproduction.lab import NEAREST, Lab
from reproduction.result import PaperResult

STANDING_IN = {"minilm": "sbert", "mpnet": "sbert"}
"""The packaged models, and the paper's model that is nearest: both are Sentence-BERT models of a later training."""


@dataclass(frozen=True, kw_only=True)
class EmbeddingModels:
    """Leakage and utility on STS12 at ε = 10, model by model."""

    name: ClassVar[str] = "embedding-models"
    title: ClassVar[str] = "Embedding models on STS12, ε = 10"
    where: ClassVar[str] = "Appendix, more embedding models"

    def run(self, lab: Lab) -> PaperResult:
        """Return the table; a model that is not installed is left out, and the notes say so."""
        models = {lab.embedder: STANDING_IN.get(lab.embedder, lab.embedder), **STANDING_IN}
        requests = []
        for model, nearest in models.items():
            requests += [
                Request(
                    keys={"embedder": model, "defense": defense.name},
                    named={"embedder": nearest},
                    dataset="sts12",
                    embedder=model,
                    defense=defense,
                    attack=NEAREST,
                    metrics=("leakage", "utility"),
                    scale=scale,
                )
                for scale, defense in with_undefended(lab, 10)
            ]
        return measure(lab, self.name, self.title, requests)
