"""Guards: a veil in use, with budget, key and ledger."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.concepts import Concept, load_concept
from vecveil.core.arrays import Embeddings
from vecveil.core.digests import json_digest
from vecveil.core.errors import EmbedderMismatchError, InvalidInputError, VecveilWarning
from vecveil.core.key import Key
from vecveil.core.progress import Progress, silent
from vecveil.core.texts import to_texts
from vecveil.embedders import Embedder, EmbedderLike
from vecveil.embedders.embedder import PROBE
from vecveil.ledger import Ledger, is_address
from vecveil.veil.embedding import check_texts, embed_texts
from vecveil.veil.ledger_run import DEFAULT_LEDGER, NO_LEDGER, choose_ledger
from vecveil.veil.release import Release, digest_contents
from vecveil.veil.seal import Hit, SealedRelease, Sealer, choose_seal_key, is_sealed, protect_and_seal, rerank
from vecveil.veil.values import ConceptFinder
from vecveil.veil.veil import Veil, without_texts

SAME_MODEL_DISTANCE = 0.05
"""How far apart, over their length, two vectors of one sentence by one model may be: half precision and other
processors make less of a difference, and two models far more."""


@dataclass(frozen=True, eq=False)
class Guard:
    """A veil at one budget, with noise from one source, on record in one ledger.

    What is wrong with veil, budget or key is found when it is made; the model is loaded and the ledger opened when they
    are first needed. A guard that was made from names and paths can be written down (`settings`), and sent to other
    processes and machines; may be shared by threads.

    Example:
        >>> from vecveil.veil.learn import learn
        >>> from vecveil.concepts import load_concept
        >>> from vecveil.samples import clinical_sentences, concept_path
        >>> texts = [sentence.text for sentence in clinical_sentences(240)]
        >>> veil = learn(load_concept(concept_path()), texts, embedder="minilm", shape="uniform", noise_ratio=0.5)
        >>> guard = Guard(veil, key=Key.new(), ledger="none")
        >>> once, again = (guard.protect_texts(texts[:2], ids=["a", "b"]) for _ in range(2))
        >>> bool((once == again).all())
        True

    Attributes:
        veil: The veil, or its folder.
        epsilon: Literal budget; of this and the next two one at most, and the veil's own where none is given.
        noise_ratio: Length of the noise over the length of an embedding.
        paper_epsilon: An epsilon on the axis of the paper's tables.
        key: The key, or its file: the same record gets the same noise again. Fresh noise where None.
        ledger: Where releases are recorded: an open ledger, a path, a PostgreSQL URL, "default" for the one of this
            user, or "none"; where None, $VECVEIL_LEDGER if that is set, else nowhere.
        collection: What ids belong to, where a ledger serves several collections.
        grid: What releases are rounded to: float32, float16 or int8.
        concept: What is private, or its file, where the veil does not keep it.
        embedder: The embedder, where it isn't to be found under the name that the veil was learned with.
        seal_key: The key of seals, or its file; `key` where None. Whoever searches needs it, and no other.
        signed_by: Public key that must have signed the veil's folder, wherever it is read; None to take it from anyone.
    """

    veil: Veil | str | Path
    _: KW_ONLY
    epsilon: float | None = None
    noise_ratio: float | None = None
    paper_epsilon: float | None = None
    key: Key | str | Path | None = None
    ledger: Ledger | str | Path | None = field(default=None, repr=False)
    collection: str = ""
    grid: str = "float32"
    concept: Concept | str | Path | None = None
    embedder: EmbedderLike | None = None
    seal_key: Key | str | Path | None = None
    signed_by: str | None = None

    def __post_init__(self) -> None:
        # Whoever is given a broken veil or an unreadable key should hear of it now, not at the first request.
        self.opened_veil.warn_of_noise(self.release.mechanism.epsilon, stacklevel=4)

    @cached_property
    def opened_veil(self) -> Veil:
        """The veil itself."""
        return self.veil if isinstance(self.veil, Veil) else Veil.load(self.veil, signed_by=self.signed_by)

    @cached_property
    def release(self) -> Release:
        """The one way out: the veil at this budget, with this key, grid and ledger."""
        return self.opened_veil.release(
            epsilon=self.epsilon,
            noise_ratio=self.noise_ratio,
            paper_epsilon=self.paper_epsilon,
            key=self.key,
            grid=self.grid,
            concept=self._opened_concept,
            ledger=self.ledger,
            collection=self.collection,
        )

    @cached_property
    def vector_release(self) -> Release:
        """The same for vectors that come without their texts, and for queries: no words are replaced."""
        return self.release.for_vectors()

    def release_of(self, words: Sequence[int] | None) -> Release:
        """Return what lets out vectors of texts in which so many words were replaced; None where they stayed."""
        return self.vector_release if words is None and self.release.words is not None else self.release

    @cached_property
    def model(self) -> Embedder:
        """The model whose vectors the veil is for."""
        return self.opened_veil.embedder(self.embedder)

    @cached_property
    def finder(self) -> ConceptFinder:
        """Looks for the concept in what would be stored beside protected vectors."""
        return ConceptFinder(self._opened_concept or self.opened_veil.concept)

    @cached_property
    def _opened_concept(self) -> Concept | None:
        return load_concept(self.concept) if isinstance(self.concept, str | Path) else self.concept

    @property
    def id(self) -> str:
        """What tells guards apart by what they release: veil, budget, grid, and the key by its fingerprint."""
        return json_digest(self.release.label())

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self.opened_veil.fingerprint.dimensions

    def protect_texts(
        self,
        texts: Sequence[str],
        *,
        embed: Callable[[list[str]], Any] | None = None,
        ids: Sequence[str | int] | None = None,
        groups: Sequence[str | int] | None = None,
        progress: Progress = silent,
    ) -> NDArray[Any]:
        """Return protected vectors of texts, recorded before they are returned.

        Args:
            texts: What to embed.
            embed: The veil's model, called elsewhere: texts in, one vector for each out. Loaded here where None.
            ids: One per text: what the ledger knows them by; with a key, equal texts of different ids get different
                noise.
            groups: One per text, such as the person it is about: with a key, a private value has one outcome in all
                texts of a group.
            progress: Told after each chunk of texts.
        """
        if embed is None:
            return self.release.protect_texts(texts, self.model, ids=ids, groups=groups, progress=progress)
        rewritten = self.release.rewrite(texts, ids=ids, groups=groups)
        return self.protect_embedded(texts, np.asarray(embed(rewritten.texts)), ids=ids, words=rewritten.words)

    def protect_queries(self, texts: Sequence[str], *, embed: Callable[[list[str]], Any] | None = None) -> NDArray[Any]:
        """Return protected vectors of queries, recorded; their words stay as they are.

        Args:
            texts: What to embed.
            embed: The veil's model, called elsewhere. Loaded here where None.
        """
        plain = check_texts(texts)
        return self.protect_embedded(plain, self._embed(plain, embed))

    def protect_embedded(
        self,
        texts: Sequence[str],
        vectors: Embeddings,
        *,
        ids: Sequence[str | int] | None = None,
        words: Sequence[int] | None = None,
    ) -> NDArray[Any]:
        """Return protected copies of the vectors that the veil's model made of texts elsewhere, recorded.

        Args:
            texts: What they are the vectors of; the ledger knows records without ids by them.
            vectors: Their vectors.
            ids: One per text, as for `protect_texts`.
            words: How many private values were replaced in each text before it was embedded; None where they stayed.
        """
        contents = digest_contents(to_texts(texts))
        return self.release_of(words).protect_vectors(vectors, ids=ids, contents=contents, words=words)

    def protect_vectors(self, vectors: Embeddings, *, ids: Sequence[str | int] | None = None) -> NDArray[Any]:
        """Return protected copies of vectors that the veil's model made, recorded before they are returned.

        Args:
            vectors: One row per record.
            ids: One per vector, as for `protect_texts`.
        """
        if self.release.words is not None:
            warnings.warn(without_texts(self.release.words.substitution.name), VecveilWarning, stacklevel=2)
        return self.vector_release.protect_vectors(vectors, ids=ids)

    @cached_property
    def sealer(self) -> Sealer:
        """Seals clean vectors for their owner, and opens them."""
        return self.opened_veil.sealer(choose_seal_key(self.seal_key, self.key))

    def protect_and_seal(
        self,
        texts: Sequence[str],
        ids: Sequence[str | int],
        *,
        embed: Callable[[list[str]], Any] | None = None,
        groups: Sequence[str | int] | None = None,
    ) -> SealedRelease:
        """Return protected vectors of texts as `protect_texts` does, and a seal for each.

        Args:
            texts: What to embed.
            ids: One per text, as for `protect_texts`; with it alone a seal opens.
            embed: The veil's model, called elsewhere. Loaded here where None.
            groups: One per text, as for `protect_texts`.
        """

        def embed_here(given: list[str]) -> Embeddings:
            return self._embed(given, embed)

        return protect_and_seal(self.release, self.sealer, texts, embed_here, ids=ids, groups=groups)

    def seal_texts(
        self,
        texts: Sequence[str],
        ids: Sequence[str | int],
        *,
        embed: Callable[[list[str]], Any] | None = None,
    ) -> list[bytes]:
        """Return the clean vectors of texts, private words included, encrypted for their owner.

        Args:
            texts: What to embed.
            ids: One per text, with which alone its seal opens.
            embed: The veil's model, called elsewhere. Loaded here where None.
        """
        return self.sealer.seal(self._embed(check_texts(texts), embed), ids)

    def rerank(
        self,
        query: str | Embeddings,
        ids: Sequence[str | int],
        candidates: Sequence[bytes | str],
        *,
        embed: Callable[[list[str]], Any] | None = None,
        top: int | None = None,
    ) -> list[Hit]:
        """Return the candidates of a search in their exact order, as `Veil.rerank` does."""
        sealer = self.sealer if any(map(is_sealed, candidates)) else None
        return rerank(
            query,
            ids,
            candidates,
            dimensions=self.dimensions,
            embed=lambda texts: self._embed(texts, embed),
            sealer=sealer,
            top=top,
        )

    def _embed(self, texts: list[str], embed: Callable[[list[str]], Any] | None) -> Embeddings:
        return embed_texts(self.model, texts) if embed is None else np.asarray(embed(texts))

    def open_ledger(self) -> None:
        """Open the ledger now, for those who would rather hear of a broken one before the first release."""
        if self.release.ledger is not None:
            self.release.ledger.open()

    def require_same_model(self, embed: Callable[[list[str]], Any]) -> None:
        """Raise unless a model that is called elsewhere makes the vectors that the veil is for.

        One public sentence is embedded by both. A veil that was learned from vectors alone names no model, and nothing
        can be compared then.

        Args:
            embed: The other model: texts in, one vector for each out.
        """
        veil = self.opened_veil
        if self.embedder is None and veil.provenance.embedder is None:
            return
        mine = self.model.embed([PROBE])[0]
        theirs = np.asarray(embed([PROBE]), dtype=np.float64).reshape(-1)
        name = veil.fingerprint.model
        if theirs.shape != mine.shape:
            raise EmbedderMismatchError(
                f"the veil is for {name}, with {len(mine)} dimensions; this model has {len(theirs)}"
            )
        distance = float(np.linalg.norm(theirs - mine) / np.linalg.norm(mine))
        if not distance <= SAME_MODEL_DISTANCE:
            raise EmbedderMismatchError(
                f"the veil is for {name}; this model's vector of a public sentence is {distance:.2g} of a length away "
                "from that model's"
            )

    def settings(self, *, without: Collection[str] = ()) -> dict[str, Any]:
        """Return what makes this guard, fit for JSON: names, paths and numbers, and never a key.

        Args:
            without: Settings that are kept elsewhere.

        Raises:
            InvalidInputError: If it was made from objects that have no name.
        """
        found = {}
        for entry in (one for one in fields(self) if one.name not in without):
            value = getattr(self, entry.name)
            if isinstance(value, Path):
                value = str(value)
            if value is not None and not isinstance(value, str | float | int):
                raise InvalidInputError(
                    f"this guard was made from an open {entry.name}, which can't be written down; name its path instead"
                )
            if entry.name == "ledger" and isinstance(value, str) and is_address(value):
                # It may hold a password, in more places than can be looked at.
                raise InvalidInputError(
                    'the address of a ledger is not written down; put it into $VECVEIL_LEDGER, and name "default"'
                )
            found[entry.name] = value
        return found

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Guard:
        """Return the guard that was written down as `settings`."""
        known = {entry.name for entry in fields(cls)}
        unknown = sorted({*settings} - known)
        if unknown or "veil" not in settings:
            raise InvalidInputError(f"a guard has {sorted(known)}, got {sorted(settings)}")
        return cls(**settings)

    def portable_settings(self) -> dict[str, Any]:
        """Return `settings` for another process, in which variables may have other values than here."""
        located = choose_ledger(self.ledger)
        # An address with a password in it is never written down: the other process must have the variable.
        named = DEFAULT_LEDGER if isinstance(located, str) and is_address(located) else str(located or NO_LEDGER)
        return {**self.settings(), "ledger": named}

    def __reduce__(self) -> tuple[Any, ...]:
        # An open ledger and a loaded model stay where they are, and so does a key.
        return Guard.from_settings, (self.portable_settings(),)

    def __deepcopy__(self, memo: dict[int, Any]) -> Guard:
        # Nothing in it changes, so a copy is the thing itself, with its open ledger.
        del memo
        return self
