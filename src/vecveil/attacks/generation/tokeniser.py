"""Texts to numbers and back: the pieces of words that a generative attack reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecveil.concepts.folding import without_lone_surrogates
from vecveil.core.checks import at_least
from vecveil.core.errors import ArtifactError, MissingExtraError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PADDING, END = "<pad>", "</s>"


@dataclass(frozen=True, kw_only=True, eq=False)
class Tokeniser:
    """A tokeniser and the two tokens that every text model needs.

    Attributes:
        backend: Cuts texts into pieces.
        end: Number of the token that ends a text.
        padding: Number of the token that fills up shorter rows of a batch; it may be that of `end`.
    """

    backend: Tokenizer
    end: int
    padding: int

    @property
    def size(self) -> int:
        """Number of different pieces."""
        return int(self.backend.get_vocab_size())

    def encode(self, texts: Sequence[str], *, longest: int) -> list[list[int]]:
        """Return the pieces of each text, with the end token, cut to `longest`; a text that is cut has no end."""
        found = self.backend.encode_batch([without_lone_surrogates(text) for text in texts], add_special_tokens=False)
        return [[*encoding.ids, self.end][:longest] for encoding in found]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return where each piece of `text` stands in it, a blank before a word left out."""
        plain = without_lone_surrogates(text)
        found = self.backend.encode(plain, add_special_tokens=False).offsets
        return [(last - len(plain[first:last].lstrip()), last) for first, last in found]

    def decode(self, rows: Iterable[Sequence[int]]) -> list[str]:
        """Return the text of each row, up to its first end token."""
        texts = self.backend.decode_batch([self._upto_end(row) for row in rows], skip_special_tokens=True)
        return [text.strip() for text in texts]

    def first_pieces(self, word: str) -> list[int]:
        """Return the pieces that a word inside a text can begin with: one for each way to write its case."""
        written = [f"a {variant}" for variant in (word, word.capitalize(), word.upper())]
        found = self.backend.encode_batch(written, add_special_tokens=False)
        return sorted({_first_behind(encoding.ids, encoding.offsets, len("a ")) for encoding in found})

    def save(self, path: Path) -> None:
        """Write the tokeniser as one JSON file, without `end` and `padding`."""
        self.backend.save(str(path))

    def _upto_end(self, row: Sequence[int]) -> list[int]:
        pieces = [int(piece) for piece in row]
        return pieces[: pieces.index(self.end)] if self.end in pieces else pieces


def train_tokeniser(texts: Iterable[str], *, vocabulary: int) -> Tokeniser:
    """Return a byte-pair encoding of `texts` with at most `vocabulary` pieces.

    Letters are brought to lower case first: words are compared without case, so nothing that counts is lost, and the
    softmax, half of a small model's work, needs to tell fewer pieces apart.
    """
    parts = _library()
    at_least(vocabulary, 300, "vocabulary")
    backend = parts.Tokenizer(parts.models.BPE())
    backend.normalizer = parts.normalizers.Sequence([parts.normalizers.NFKC(), parts.normalizers.Lowercase()])
    backend.pre_tokenizer = parts.pre_tokenizers.ByteLevel(add_prefix_space=True)
    backend.decoder = parts.decoders.ByteLevel()
    trainer = parts.trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[PADDING, END],
        initial_alphabet=sorted(parts.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    backend.train_from_iterator((without_lone_surrogates(text) for text in texts), trainer)
    return Tokeniser(backend=backend, end=backend.token_to_id(END), padding=backend.token_to_id(PADDING))


def load_tokeniser(path: Path, *, end: int, padding: int) -> Tokeniser:
    """Return the tokeniser that was saved as `path`."""
    try:
        # The library raises a bare Exception for whatever is wrong with a file.
        backend = _library().Tokenizer.from_file(str(path))
    except Exception as error:
        raise ArtifactError(f"{path} can't be read as a tokeniser: {error}") from error
    return Tokeniser(backend=backend, end=end, padding=padding)


def _first_behind(pieces: Sequence[int], offsets: Sequence[tuple[int, int]], place: int) -> int:
    return next(piece for piece, (_, last) in zip(pieces, offsets, strict=True) if last > place)


def _library() -> Any:
    try:
        import tokenizers
    except ImportError:
        raise MissingExtraError("tokenizers", "models") from None
    return tokenizers
