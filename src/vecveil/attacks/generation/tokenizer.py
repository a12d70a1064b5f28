"""Tokenizers of the generative attacks: texts to pieces and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecveil.concepts import words
from vecveil.concepts.folding import fold, without_lone_surrogates
from vecveil.core.checks import at_least
from vecveil.core.errors import ArtifactError, InvalidInputError, needs_extra

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PADDING, END = "<pad>", "</s>"


@dataclass(frozen=True, kw_only=True, eq=False)
class TextTokenizer:
    """A tokenizer and the two tokens that every text model needs.

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
        encodings = self.backend.encode_batch(
            [without_lone_surrogates(text) for text in texts], add_special_tokens=False
        )
        return [[*encoding.ids, self.end][:longest] for encoding in encodings]

    def decode(self, rows: Iterable[Sequence[int]]) -> list[str]:
        """Return the text of each row, up to its first end token."""
        pieces = [[int(piece) for piece in row] for row in rows]
        cut = [row[: row.index(self.end)] if self.end in row else row for row in pieces]
        return [text.strip() for text in self.backend.decode_batch(cut, skip_special_tokens=True)]

    def first_pieces(self, word: str) -> list[int]:
        """Return the pieces that a word inside a text can begin with: one for each way to write its case."""
        variants = [f"a {variant}" for variant in (word, word.capitalize(), word.upper())]
        return sorted(
            {
                next(piece for piece, (_, stop) in zip(encoding.ids, encoding.offsets, strict=True) if stop > len("a "))
                for encoding in self.backend.encode_batch(variants, add_special_tokens=False)
            }
        )

    def find_words(self, text: str, wanted: Sequence[str]) -> list[range]:
        """Return the pieces of the first occurrence of each word in `text`; an empty range for one that isn't there."""
        if not wanted:
            return []
        folded = fold(text, case_sensitive=False)
        places: dict[str, int] = {}
        cursor = 0
        for word in words(text):
            first = folded.text.index(word, cursor)
            cursor = first + len(word)
            places.setdefault(word, first)
        offsets = self._offsets(text)
        found = []
        for word in wanted:
            # A span may cut a word in two, as "68" in "68-year-old".
            first = places.get(word, folded.text.find(word))
            start, stop = (folded.starts[first], folded.ends[first + len(word) - 1]) if first >= 0 else (0, 0)
            touched = [number for number, (begin, end) in enumerate(offsets) if begin < stop and end > start]
            found.append(range(touched[0], touched[-1] + 1) if touched else range(0))
        return found

    def save(self, path: Path) -> None:
        """Write the tokenizer as one JSON file, without `end` and `padding`."""
        self.backend.save(str(path))

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        """Return where each piece stands in `text`, without the blank before a word."""
        plain = without_lone_surrogates(text)
        offsets = self.backend.encode(plain, add_special_tokens=False).offsets
        return [(stop - len(plain[start:stop].lstrip()), stop) for start, stop in offsets]


def train_tokenizer(texts: Iterable[str], *, vocabulary: int) -> TextTokenizer:
    """Return a byte-pair encoding of `texts` with at most `vocabulary` pieces.

    Letters are brought to lower case first. Words are compared without case, so nothing that counts is lost, and the
    softmax, half of a small model's work, has fewer pieces to tell apart.
    """
    library = _import_tokenizers()
    at_least(vocabulary, 300, "vocabulary")
    backend = library.Tokenizer(library.models.BPE())
    backend.normalizer = library.normalizers.Sequence([library.normalizers.NFKC(), library.normalizers.Lowercase()])
    backend.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=True)
    backend.decoder = library.decoders.ByteLevel()
    trainer = library.trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[PADDING, END],
        initial_alphabet=sorted(library.pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    backend.train_from_iterator((without_lone_surrogates(text) for text in texts), trainer)
    return TextTokenizer(backend=backend, end=backend.token_to_id(END), padding=backend.token_to_id(PADDING))


def load_tokenizer(path: Path, *, end: int, padding: int) -> TextTokenizer:
    """Return the tokenizer that was saved as `path`."""
    library = _import_tokenizers()
    try:
        backend = library.Tokenizer.from_file(str(path))
    # The library raises a bare Exception for whatever is wrong with a file.
    except Exception as error:
        raise ArtifactError(f"{path} can't be read as a tokenizer: {error}") from error
    return TextTokenizer(backend=backend, end=end, padding=padding)


def load_pretrained_tokenizer(name: str, **source: Any) -> TextTokenizer:
    """Return a tokenizer of transformers by its name or folder; `source` says where else to load it from."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(**{"pretrained_model_name_or_path": name, **source})
    except (OSError, ValueError) as error:
        raise ArtifactError(f"the tokenizer {name!r} can't be loaded: {str(error).strip().splitlines()[0]}") from None
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None or tokenizer.eos_token_id is None:
        raise InvalidInputError(f"the tokenizer of {name!r} must be a fast one with an end-of-text token")
    end = int(tokenizer.eos_token_id)
    padding = end if tokenizer.pad_token_id is None else int(tokenizer.pad_token_id)
    return TextTokenizer(backend=backend, end=end, padding=padding)


def _import_tokenizers() -> Any:
    with needs_extra("tokenizers", "local"):
        import tokenizers
    return tokenizers
