"""What a user learns once and uses everywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.accounting import GuaranteeSheet, paper_noise_ratio
from vecveil.accounting.ledger import Ledger
from vecveil.artifacts import Artifact, read_artifact, write_artifact
from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.checks import budget, positive, rows_of
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.core.key import Key
from vecveil.core.progress import Progress, silent
from vecveil.core.recent import Recent
from vecveil.embedders import Embedder, Fingerprint, resolve_embedder
from vecveil.mechanisms import MECHANISMS, Mechanism
from vecveil.mechanisms.grid import Grid
from vecveil.shapes import NoiseShape
from vecveil.shapes.filling import Filling
from vecveil.veil.budget import epsilon_for_noise_ratio, require_noise_on_every_axis
from vecveil.veil.embedding import embed_texts
from vecveil.veil.journal import Journal, recorded_release
from vecveil.veil.promise import guarantee_sheet
from vecveil.veil.protection import Protection
from vecveil.veil.provenance import Provenance
from vecveil.veil.records import RecordBatch, id_bytes, seen_contents, text_contents, vector_contents
from vecveil.veil.typical import TypicalLengths

KIND, FORMAT = "veil", 1
FILLING = ("reads", "writes", "centre")

KEPT = 8
"""Budgets whose mechanisms are kept; a search for a budget passes through many."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Veil:
    """A noise shape and a mechanism for the vectors of one embedder, and where they come from.

    Attributes:
        shape: Where the noise goes.
        mechanism: Name of the mechanism that adds it.
        fingerprint: The only model whose vectors this veil is for.
        typical: Lengths of embeddings and contrast pairs, for the dials.
        provenance: What was learned from what.
        filling: Estimates what the shape leaves out from what it releases; None to leave the gap.
        epsilon: Budget that is used where a call names none; None means that every call must name one.
    """

    shape: NoiseShape
    mechanism: str
    fingerprint: Fingerprint
    typical: TypicalLengths
    provenance: Provenance
    filling: Filling | None = None
    epsilon: float | None = None

    def __post_init__(self) -> None:
        MECHANISMS.load(self.mechanism)
        if self.shape.dimensions != self.fingerprint.dimensions:
            raise InvalidInputError(
                f"the shape has {self.shape.dimensions} dimensions, the embedder {self.fingerprint.dimensions}"
            )
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", budget(self.epsilon))

    def __repr__(self) -> str:
        shape = self.provenance.learner["name"]
        return f"<Veil {self.digest()[:12]}: {shape} shape for {self.fingerprint.model}, {self.mechanism}>"

    def protect(
        self,
        texts: Sequence[str],
        *,
        epsilon: float | None = None,
        embedder: str | Embedder | None = None,
        key: Key | None = None,
        ids: Sequence[str | int] | None = None,
        rng: np.random.Generator | None = None,
        grid: str = "float32",
        ledger: Ledger | None = None,
        progress: Progress = silent,
    ) -> NDArray[Any]:
        """Return protected vectors of `texts`.

        Args:
            texts: What to embed.
            epsilon: Literal privacy loss per unit of the guarantee's distance.
            embedder: The embedder, where it isn't to be found under the name that the veil was learned with.
            key: Makes the noise of a text the same again at each call; fresh noise where None.
            ids: One per text: what the ledger knows them by, and with a key equal texts of different ids get different
                noise.
            rng: For tests and published experiments only: a seeded generator makes noise that is not private.
            grid: What the release is rounded to: float32, float16 or int8.
            ledger: Where the releases are recorded; nowhere where None.
            progress: Told after each chunk of texts.
        """
        protection = self.protection(epsilon=epsilon, key=key, rng=rng, grid=grid)
        # A key promises the same bytes, and a model's last bits depend on which texts it gets together.
        model = self.embedder(embedder)
        vectors = embed_texts(model, texts, alone=protection.keyed, progress=progress)
        if ledger is None and not protection.keyed and ids is None:
            return protection.release(vectors)
        known = None if ids is None else id_bytes(ids)
        # Fresh noise depends on nothing.
        seen = seen_contents(model, texts, vectors) if protection.keyed else None
        records = RecordBatch.of(text_contents(texts), known, seen=seen)
        return recorded_release(protection, vectors, records, _journal(protection, ledger))

    def perturb(
        self,
        vectors: Embeddings,
        *,
        epsilon: float | None = None,
        key: Key | None = None,
        ids: Sequence[str | int] | None = None,
        rng: np.random.Generator | None = None,
        grid: str = "float32",
        ledger: Ledger | None = None,
        first_row: int = 0,
    ) -> NDArray[Any]:
        """Return protected copies of `vectors`, which the veil's embedder must have made.

        Args:
            vectors: One row per record.
            epsilon: Literal privacy loss per unit of the guarantee's distance.
            key: Makes the noise of a vector the same again at each call; fresh noise where None.
            ids: One per vector: what the ledger knows them by, and with a key equal vectors of different ids get
                different noise.
            rng: For tests and published experiments only: a seeded generator makes noise that is not private.
            grid: What the release is rounded to: float32, float16 or int8.
            ledger: Where the releases are recorded; nowhere where None.
            first_row: Number of the first row in an error, where `vectors` are a part of something larger.
        """
        protection = self.protection(epsilon=epsilon, key=key, rng=rng, grid=grid)
        if ledger is None and not protection.keyed and ids is None:
            return protection.release(vectors, first_row=first_row)
        # What is in them is looked at before they are released, and nothing is recorded before that.
        clean = rows_of(vectors, dimensions=self.fingerprint.dimensions)
        known = None if ids is None else id_bytes(ids, first_row=first_row)
        records = RecordBatch.of(vector_contents(clean), known)
        return recorded_release(protection, clean, records, _journal(protection, ledger), first_row=first_row)

    def protection(
        self,
        *,
        epsilon: float | None = None,
        key: Key | None = None,
        rng: np.random.Generator | None = None,
        grid: str = "float32",
    ) -> Protection:
        """Return this veil at one budget, to release many batches with."""

        def made() -> Protection:
            return Protection.of(self, epsilon=self._budget(epsilon), key=key, rng=rng, grid=grid)

        plain = (epsilon is None or type(epsilon) is float) and type(grid) is str
        if key is not None or rng is not None or not plain:
            return made()
        # Made once: for a single vector, all this takes longer than its noise.
        return self._protections.get((epsilon, grid), made)

    def grid_at(self, epsilon: float, kind: str = "float32") -> Grid:
        """Return the grid that releases at `epsilon` are rounded to."""
        length = self.mechanism_at(epsilon).released_length(self.typical.signal)
        return Grid.of(kind, coordinate=length / math.sqrt(self.fingerprint.dimensions))

    def guarantee(self, *, epsilon: float | None = None, grid: str = "float32", releases: int = 1) -> GuaranteeSheet:
        """Return what is promised at `epsilon`, in which distance and under which assumptions.

        Args:
            epsilon: Literal budget; the veil's own where None.
            grid: What releases are rounded to.
            releases: Releases of each record with fresh noise that the exact figures are for.
        """
        return guarantee_sheet(self, epsilon=self._budget(epsilon), grid=grid, releases=releases)

    def epsilon_for(
        self, *, noise_ratio: float | None = None, pair_loss: float | None = None, paper_epsilon: float | None = None
    ) -> float:
        """Return the literal epsilon for another dial: exactly one of the three must be given.

        Args:
            noise_ratio: Length of the noise over the length of an embedding.
            pair_loss: Worst-case loss of the median contrast pair, in nats.
            paper_epsilon: An epsilon on the axis of the paper's tables (calibrated, not derived).
        """
        if [noise_ratio, pair_loss, paper_epsilon].count(None) != 2:
            raise InvalidInputError("give exactly one of noise_ratio, pair_loss and paper_epsilon")
        if pair_loss is not None:
            return positive(pair_loss, "pair_loss") / self.typical.pair
        ratio = noise_ratio if paper_epsilon is None else paper_noise_ratio(paper_epsilon)
        return epsilon_for_noise_ratio(
            ratio, lambda epsilon: self.mechanism_at(epsilon).noise_ratio(self.typical.signal)
        )

    def mechanism_at(self, epsilon: float) -> Mechanism:
        """Return the mechanism of this veil at one budget."""
        kind, shape = MECHANISMS.load(self.mechanism), self.shape

        def made() -> Mechanism:
            return kind.for_shape(epsilon=epsilon, variances=shape.variances, axes=shape.axes, centre=shape.centre)

        return self._mechanisms.get(budget(epsilon), made)

    def embedder(self, given: str | Embedder | None = None, *, cache: Path | None = None) -> Embedder:
        """Return the veil's embedder, or `given` if it is the same model at the same revision."""
        spec = self.provenance.embedder if given is None else given
        if spec is None:
            raise InvalidInputError("this veil was learned with an embedder object; hand it in as embedder=")
        embedder = resolve_embedder(spec, cache=cache)
        self.fingerprint.require(embedder.fingerprint)
        return embedder

    def digest(self) -> str:
        """Return the SHA-256 of everything in the veil; of one that was loaded, as it lies on disk."""
        loaded = self.__dict__.get("_loaded_digest")
        return self._own_digest if loaded is None else str(loaded)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the veil as a folder, whole or not at all."""
        write_artifact(self._artifact(), Path(path), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Veil:
        """Return the veil in the folder `path`, its digests checked."""
        artifact = read_artifact(Path(path), kind=KIND, newest=FORMAT)
        manifest, tensors = artifact.manifest, artifact.tensors
        try:
            veil = cls(
                shape=NoiseShape(
                    variances=tensors["variances"], axes=tensors.get("axes"), centre=tensors.get("centre")
                ),
                mechanism=manifest["mechanism"],
                fingerprint=Fingerprint(**manifest["embedder"]),
                typical=TypicalLengths(**manifest["typical"]),
                provenance=Provenance(**manifest["provenance"]),
                filling=_filling(tensors),
                epsilon=manifest["epsilon"],
            )
        except (KeyError, TypeError) as error:
            raise ArtifactError(f"{path} does not hold what a veil must hold: {error}") from None
        # Keyed noise depends on the digest, so it must not change when a later version knows of further fields. It is
        # no field of the dataclass, or a changed copy of the veil would take it along and share its noise.
        object.__setattr__(veil, "_loaded_digest", artifact.digest())
        return veil

    @cached_property
    def _own_digest(self) -> str:
        return self._artifact().digest()

    @cached_property
    def _mechanisms(self) -> Recent[float, Mechanism]:
        return Recent(KEPT)

    @cached_property
    def _protections(self) -> Recent[tuple[float | None, str], Protection]:
        return Recent(KEPT)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy gets: all but what is kept to be quick."""
        kept = {"_mechanisms", "_protections"}
        return {name: value for name, value in self.__dict__.items() if name not in kept}

    def _artifact(self) -> Artifact:
        tensors = {"variances": self.shape.variances, "axes": self.shape.axes, "centre": self.shape.centre}
        if self.filling is not None:
            tensors |= {f"filling_{name}": getattr(self.filling, name) for name in FILLING}
        manifest: dict[str, Any] = {
            "mechanism": self.mechanism,
            "embedder": self.fingerprint.settings(),
            "typical": asdict(self.typical),
            "provenance": self.provenance.settings(),
            "epsilon": self.epsilon,
        }
        held = {name: tensor for name, tensor in tensors.items() if tensor is not None}
        return Artifact(kind=KIND, format=FORMAT, manifest=manifest, tensors=held)

    def _budget(self, epsilon: float | None) -> float:
        chosen = self.epsilon if epsilon is None else epsilon
        if chosen is None:
            raise InvalidInputError("epsilon must be given: this veil was saved without a budget")
        noise_ratio = self.mechanism_at(budget(chosen)).noise_ratio(self.typical.signal)
        require_noise_on_every_axis(chosen, noise_ratio, self.shape.variances)
        return float(chosen)


def _journal(protection: Protection, ledger: Ledger | None) -> Journal | None:
    return None if ledger is None else Journal(ledger, protection)


def _filling(tensors: Mapping[str, Matrix]) -> Filling | None:
    if f"filling_{FILLING[0]}" not in tensors:
        return None
    return Filling(**{name: tensors[f"filling_{name}"] for name in FILLING})
