"""Veils: a shape and a mechanism for one embedder."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from html import escape
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from vecveil.accounting import EuclideanBounds, GuaranteeSheet
from vecveil.accounting.budget_readings import NOISE_WARNING_RATIO, noise_warning
from vecveil.accounting.sheet import quiet_warning
from vecveil.concepts import Concept, Passage
from vecveil.concepts.toml_file import concept_from_settings
from vecveil.core.arrays import Embeddings
from vecveil.core.checks import at_least, budget, one_line, one_of, positive
from vecveil.core.errors import ArtifactError, InvalidInputError, VecveilWarning
from vecveil.core.key import Key
from vecveil.core.progress import Progress, silent
from vecveil.core.texts import shorten
from vecveil.embedders import Embedder, EmbedderLike, Fingerprint, resolve_embedder
from vecveil.embedders.registry import stays_here
from vecveil.files import Artifact, read_artifact, write_artifact
from vecveil.files.key_file import read_key
from vecveil.files.signature import require_signature
from vecveil.mechanisms import MECHANISMS, Mechanism
from vecveil.mechanisms.grid import Grid
from vecveil.mechanisms.mechanism import require_uniform
from vecveil.shapes import NoiseShape
from vecveil.substitutions import Substitution, substitution_from_settings
from vecveil.substitutions.plain import Keep
from vecveil.veil.budget import Budget, TypicalLengths, require_noise_on_every_axis
from vecveil.veil.embedding import embed_texts
from vecveil.veil.ledger_run import choose_ledger
from vecveil.veil.noise import FreshNoise, KeyedNoise, NoiseSource, SeededNoise
from vecveil.veil.provenance import Provenance
from vecveil.veil.release import Release, ReleaseSettings, clean_step
from vecveil.veil.seal import Hit, Sealer, rerank
from vecveil.veil.sheet import make_sheet
from vecveil.veil.words import WordProtection

KIND, FORMAT = "veil", 1

MOST_DIMENSIONS = 2**14
FARTHEST = 1e3
"""Of a center from the origin, in typical lengths."""

NEAREST = 1e-4
"""Of the texts of a typical contrast pair, in typical lengths; nearer ones would be the same text."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Veil:
    """A noise shape and a mechanism for the vectors of one embedder, and where they come from.

    Wherever a budget is taken, give one of `epsilon` (literal privacy loss per unit of the guarantee's distance),
    `noise_ratio` (length of the noise over the length of an embedding) and `paper_epsilon` (the axis of the paper's
    tables); the veil's own budget is used where none is given.

    Attributes:
        shape: Where the noise goes.
        mechanism: Name of the mechanism that adds it.
        fingerprint: The only model whose vectors this veil is for.
        typical: Lengths of embeddings and contrast pairs, for the readings of a budget.
        provenance: What was learned from what.
        epsilon: Budget that is used where a call names none; None means that every call must name one.
        substitution: What becomes of private words before the model reads them.
        concept: What is private; None where the veil was learned not to tell.
        learned_here: Whether it was learned by this program, whose user has named the embedder then; False for one
            that was loaded, however it is changed afterwards.
    """

    shape: NoiseShape
    mechanism: str
    fingerprint: Fingerprint
    typical: TypicalLengths
    provenance: Provenance
    epsilon: float | None = None
    substitution: Substitution = field(default_factory=Keep)
    concept: Concept | None = None
    learned_here: bool = False

    def __post_init__(self) -> None:
        if not MECHANISMS.load(one_line(self.mechanism, "mechanism")).takes_shape:
            require_uniform(self.mechanism, self.shape.variances)
        if self.shape.dimensions != self.fingerprint.dimensions:
            raise InvalidInputError(
                f"the shape has {self.shape.dimensions} dimensions, the embedder {self.fingerprint.dimensions}"
            )
        typical = self.typical
        if self.fingerprint.normalized and (typical.signal != 1 or typical.euclidean_pair > 2):
            # The step that vectors are rounded to, and every reading of a budget, follow from it.
            raise InvalidInputError(
                f"{self.fingerprint.model} makes vectors of length 1, got typical lengths of {typical.signal!r} and, "
                f"between two, {typical.euclidean_pair!r}"
            )
        if typical.pair > typical.high_pair:
            raise InvalidInputError(f"the median pair is above the 95th percentile: {typical.pair!r}")
        if typical.euclidean_pair < NEAREST * typical.signal:
            raise InvalidInputError(f"contrast pairs of a length of {typical.euclidean_pair!r} are no pairs of texts")
        center = self.shape.center
        if center is not None and np.abs(center).max() > FARTHEST * typical.signal:
            raise InvalidInputError(f"a center must lie within {FARTHEST:g} typical lengths of the origin")
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", budget(self.epsilon))

    def __repr__(self) -> str:
        shape = self.provenance.learner["name"]
        return f"<Veil {self.digest()[:12]}: {shape} shape for {self.fingerprint.model}, {self.mechanism}>"

    def _repr_html_(self) -> str:
        return f"<p><code>{escape(repr(self))}</code></p><p>{escape(self.provenance.measured)}</p>"

    def protect(
        self,
        texts: Sequence[str | Passage],
        *,
        ids: Sequence[str | int] | None = None,
        groups: Sequence[str | int] | None = None,
        embedder: EmbedderLike | None = None,
        progress: Progress = silent,
        **settings: Unpack[ReleaseSettings],
    ) -> NDArray[Any]:
        """Return protected vectors of `texts`.

        Args:
            texts: What to embed.
            ids: One per text: what the ledger knows them by, and with a key equal texts of different ids get different
                noise.
            groups: One per text, such as the person it is about: with a key, a private value has one outcome in all
                texts of a group.
            embedder: The embedder, where it isn't to be found under the name that the veil was learned with.
            progress: Told after each chunk of texts.
            **settings: Budget, key, ledger and grid: see `ReleaseSettings`.
        """
        with self.release(**settings) as release:
            self.warn_of_noise(release.mechanism.epsilon)
            return release.protect_texts(texts, self.embedder(embedder), ids=ids, groups=groups, progress=progress)

    def perturb(
        self,
        vectors: Embeddings,
        *,
        ids: Sequence[str | int] | None = None,
        **settings: Unpack[ReleaseSettings],
    ) -> NDArray[Any]:
        """Return protected copies of `vectors`, which the veil's embedder must have made.

        Shape and noise alone protect them: private words can't be taken out of a vector. A veil that takes them out of
        texts warns of it.

        Args:
            vectors: One row per record.
            ids: One per vector, as for `protect`.
            **settings: Budget, key, ledger and grid: see `ReleaseSettings`.
        """
        if not isinstance(self.substitution, Keep):
            warnings.warn(without_texts(self.substitution.name), VecveilWarning, stacklevel=2)
        with self.release(**settings).for_vectors() as release:
            self.warn_of_noise(release.mechanism.epsilon)
            return release.protect_vectors(vectors, ids=ids)

    def sealer(self, key: Key | str | Path) -> Sealer:
        """Return what seals clean vectors of this veil's records for their owner, and opens them again."""
        return Sealer(key=open_key(key), veil=self.digest(), dimensions=self.fingerprint.dimensions)

    def rerank(
        self,
        query: str | Embeddings,
        ids: Sequence[str | int],
        candidates: Sequence[bytes | str],
        *,
        key: Key | str | Path | None = None,
        embedder: EmbedderLike | None = None,
        top: int | None = None,
    ) -> list[Hit]:
        """Return the candidates that a store found on protected vectors in their exact order, the nearest first.

        Args:
            query: The query, or its clean vector.
            ids: Ids of the candidates, in the order of the store.
            candidates: The seal of each, or its text, which is embedded again.
            key: The key of the seals, or its file.
            embedder: The embedder, where it isn't to be found under the name that the veil was learned with.
            top: How many to return; all where None.
        """
        sealer = None if key is None else self.sealer(key)

        def embed(texts: list[str]) -> Embeddings:
            return embed_texts(self.embedder(embedder), texts)

        dimensions = self.fingerprint.dimensions
        return rerank(query, ids, candidates, dimensions=dimensions, embed=embed, sealer=sealer, top=top)

    def release(self, **settings: Unpack[ReleaseSettings]) -> Release:
        """Return this veil at one budget, to protect many batches with.

        Args:
            **settings: Budget, key, ledger and grid: see `ReleaseSettings`.
        """
        epsilon = self._literal_epsilon(settings)
        mechanism = self.mechanism_at(epsilon)
        require_noise_on_every_axis(epsilon, mechanism.noise_ratio(self.typical.signal), self.shape.variances)
        release = Release(
            veil=self.digest(),
            mechanism=mechanism,
            mechanism_name=self.mechanism,
            model=self.fingerprint,
            signal=self.typical.signal,
            noise=self._noise(epsilon, settings.get("key"), settings.get("rng")),
            grid=self.grid_at(epsilon, settings.get("grid", "float32")),
            words=self.word_protection(settings.get("concept")),
        )
        ledger = settings.get("ledger")
        if ledger is not None or settings.get("rng") is None:
            ledger = choose_ledger(ledger)
        return release if ledger is None else release.record_in(ledger, collection=settings.get("collection", ""))

    def guarantee(self, *, releases: int = 1, **settings: Unpack[ReleaseSettings]) -> GuaranteeSheet:
        """Return what is promised at a budget, in which distance and under which assumptions.

        Args:
            releases: Releases of each record with fresh noise that the exact figures are for.
            **settings: Budget and grid: see `ReleaseSettings`.
        """
        epsilon = self._literal_epsilon(settings)
        mechanism = self.mechanism_at(epsilon)
        require_noise_on_every_axis(epsilon, mechanism.noise_ratio(self.typical.signal), self.shape.variances)
        return make_sheet(
            mechanism,
            shape=self.shape,
            typical=self.typical,
            provenance=self.provenance,
            model=self.fingerprint,
            grid=str(self.grid_at(epsilon, settings.get("grid", "float32"))),
            rounding=clean_step(self.typical.signal),
            releases=releases,
            substitution=self.substitution,
        )

    def warn_of_noise(self, epsilon: float, *, stacklevel: int = 3) -> None:
        """Warn of noise that no search survives, and of axes that are released almost in clear."""
        ratio = self.mechanism_at(epsilon).noise_ratio(self.typical.signal)
        bounds = EuclideanBounds.from_variances(epsilon=epsilon, variances=self.shape.variances)
        if ratio > NOISE_WARNING_RATIO:
            warnings.warn(noise_warning(ratio), VecveilWarning, stacklevel=stacklevel)
        if bounds.quiet:
            warnings.warn(quiet_warning(bounds), VecveilWarning, stacklevel=stacklevel)

    def epsilon_for(
        self, *, noise_ratio: float | None = None, pair_loss: float | None = None, paper_epsilon: float | None = None
    ) -> float:
        """Return the literal epsilon for another reading of a budget: exactly one of the three must be given.

        Args:
            noise_ratio: Length of the noise over the length of an embedding.
            pair_loss: Worst-case loss of the median contrast pair, in nats.
            paper_epsilon: An epsilon on the axis of the paper's tables (calibrated, not derived).
        """
        if [noise_ratio, pair_loss, paper_epsilon].count(None) != 2:
            raise InvalidInputError("give exactly one of noise_ratio, pair_loss and paper_epsilon")
        if pair_loss is not None:
            return positive(pair_loss, "pair_loss") / self.typical.pair
        asked = Budget.from_settings({"noise_ratio": noise_ratio, "paper_epsilon": paper_epsilon})
        return self.epsilon_at(asked) if asked else 0.0

    def epsilon_at(self, asked: Budget) -> float:
        """Return the literal epsilon of a budget."""
        return asked.literal(self.mechanism_at, self.typical.signal)

    def mechanism_at(self, epsilon: float) -> Mechanism:
        """Return the mechanism of this veil at a literal epsilon."""
        return _mechanism(self, budget(epsilon))

    def grid_at(self, epsilon: float, kind: str = "float32") -> Grid:
        """Return the grid that releases at a literal epsilon are rounded to."""
        length = self.mechanism_at(epsilon).released_length(self.typical.signal)
        return Grid.for_coordinate(kind, length / math.sqrt(self.fingerprint.dimensions))

    def choose_concept(self, given: Concept | None = None) -> Concept:
        """Return `given`, or the concept that the veil holds."""
        chosen = self.concept if given is None else given
        if chosen is None:
            raise InvalidInputError(
                "this veil does not tell what is private: name the concept (--concept FILE, in Python concept=)"
            )
        return chosen

    def word_protection(self, concept: Concept | None = None) -> WordProtection | None:
        """Return what replaces private words of texts; None where they stay.

        Args:
            concept: What is private, where the veil does not keep it: that which it was learned for.
        """
        if isinstance(self.substitution, Keep):
            return None
        if concept is not None and _to_plain(concept.summary()) != _to_plain(self.provenance.concept):
            raise InvalidInputError(
                f"the veil was learned for another concept: {_to_plain(self.provenance.concept)}, got "
                f"{_to_plain(concept.summary())}"
            )
        return WordProtection(substitution=self.substitution, concept=self.concept if concept is None else concept)

    def choose_embedder(self, given: EmbedderLike | None = None) -> EmbedderLike:
        """Return `given`, or what the veil itself names where that may be followed.

        Whoever made a veil must not decide where texts are sent: unless the veil was learned here, its own word leads
        to models on this machine or on the model hub, and to no service.
        """
        named = self.provenance.embedder
        if given is not None:
            return given
        if named is None:
            raise InvalidInputError("this veil was learned with an embedder object; hand it in as embedder=")
        if not self.learned_here and not stays_here(named):
            raise InvalidInputError(
                f"this veil was learned with the embedder {named!r}, to which texts would be sent, and a veil may be "
                "from anyone: if you trust that embedder, name it yourself (--embedder, in Python embedder=)"
            )
        return named

    def embedder(self, given: EmbedderLike | None = None, *, cache: Path | None = None) -> Embedder:
        """Return the veil's embedder, or `given` if it is the same model at the same revision.

        Raises:
            InvalidInputError: If the veil names one that its user must name: see `choose_embedder`.
        """
        embedder = resolve_embedder(self.choose_embedder(given), cache=cache)
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
    def load(cls, path: str | Path, *, signed_by: str | None = None) -> Veil:
        """Return the veil in the folder `path`, with all that it holds checked: it may be from anyone.

        Args:
            path: The folder.
            signed_by: Public key that must have signed it; None to take it from anyone.
        """
        try:
            artifact = read_artifact(Path(path), kind=KIND, newest=FORMAT, count_numbers=_count_numbers)
            manifest, tensors = artifact.manifest, artifact.tensors
            for name, tensor in tensors.items():
                if tensor.dtype.kind != "f":
                    raise InvalidInputError(f"{name} must be floating-point numbers, got {tensor.dtype}")
            shape = NoiseShape(variances=tensors["variances"], axes=tensors.get("axes"), center=tensors.get("center"))
            held = manifest["concept"]
            concept = None if held is None else concept_from_settings(held, folder=Path())
            veil = cls(
                shape=shape,
                mechanism=manifest["mechanism"],
                fingerprint=Fingerprint(**manifest["embedder"]),
                typical=TypicalLengths(**manifest["typical"]),
                provenance=Provenance(**manifest["provenance"]),
                epsilon=manifest["epsilon"],
                substitution=substitution_from_settings(manifest["substitution"]),
                concept=concept,
            )
            if concept is not None and _to_plain(concept.summary()) != _to_plain(veil.provenance.concept):
                raise InvalidInputError("the concept is another than the one that it says it was learned for")
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ArtifactError(f"{path} does not hold what a veil must hold: {shorten(str(error))}") from None
        # Keyed noise depends on the digest, so it must not change when a later version knows of further fields. It is
        # no field of the dataclass, or a changed copy of the veil would take it along and share its noise.
        object.__setattr__(veil, "_loaded_digest", artifact.digest())
        if signed_by is not None:
            require_signature(Path(path), veil.digest(), signed_by)
        return veil

    @cached_property
    def _own_digest(self) -> str:
        return self._artifact().digest()

    def _artifact(self) -> Artifact:
        tensors = {"variances": self.shape.variances, "axes": self.shape.axes, "center": self.shape.center}
        manifest: dict[str, Any] = {
            "mechanism": self.mechanism,
            "embedder": self.fingerprint.settings(),
            "typical": asdict(self.typical),
            "provenance": self.provenance.settings(),
            "epsilon": self.epsilon,
            "substitution": self.substitution.settings(),
            "concept": None if self.concept is None else self.concept.settings(),
        }
        present = {name: tensor for name, tensor in tensors.items() if tensor is not None}
        return Artifact(kind=KIND, format=FORMAT, manifest=manifest, tensors=present)

    def _literal_epsilon(self, settings: Mapping[str, Any]) -> float:
        for name in settings:
            one_of(name, ReleaseSettings.__annotations__, "setting of a release")
        asked = Budget.from_settings(settings)
        if asked is not None:
            return self.epsilon_at(asked)
        if self.epsilon is None:
            raise InvalidInputError(
                "a budget must be given (epsilon, noise_ratio or paper_epsilon): this veil was saved without one"
            )
        return self.epsilon

    def _noise(self, epsilon: float, key: Key | str | Path | None, rng: np.random.Generator | None) -> NoiseSource:
        if key is not None and rng is not None:
            raise InvalidInputError("noise comes from a key or from a seeded generator, got both")
        if rng is not None:
            return SeededNoise(rng)
        if key is None:
            return FreshNoise()
        return KeyedNoise(key=open_key(key), veil=self.digest(), epsilon=epsilon)


@lru_cache(maxsize=32)
def _mechanism(veil: Veil, epsilon: float) -> Mechanism:
    shape = veil.shape
    return MECHANISMS.load(veil.mechanism).for_shape(
        epsilon=epsilon, variances=shape.variances, axes=shape.axes, center=shape.center
    )


def open_key(key: Key | str | Path) -> Key:
    """Return a key, read from its file where that is named."""
    return key if isinstance(key, Key) else read_key(Path(key))


def without_texts(substitution: str) -> str:
    """Return the warning that words of vectors can't be replaced."""
    return (
        f"the vectors come without their texts, so private words are not replaced ({substitution}): shape and noise "
        "alone protect them"
    )


def _to_plain(summary: Mapping[str, Any]) -> Any:
    """Return a concept's summary as JSON brings it back."""
    return json.loads(json.dumps(dict(summary)))


def _count_numbers(manifest: Mapping[str, Any]) -> int:
    """Return how many numbers a veil can hold: axes, variances and a center."""
    dimensions = at_least(manifest["embedder"]["dimensions"], 1, "dimensions")
    if dimensions > MOST_DIMENSIONS:
        raise InvalidInputError(f"dimensions must be at most {MOST_DIMENSIONS:,}, got {dimensions:,}")
    return dimensions * (dimensions + 2)
