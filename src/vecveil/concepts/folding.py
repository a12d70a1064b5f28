"""Texts folded for comparison, with offsets into the original."""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import regex

_APOSTROPHES = "’‘ʼʹ′＇`´"
_HYPHENS = "‐‑‒–—―−﹣－⁃˗֊᠆⸺⸻﹘"
# Invisible characters that stand inside a word without ending it: soft hyphen, joiners, marks of direction, variants of
# emoji, byte order mark.
_INVISIBLE = "\u00ad\u034f\u180e\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff" + "".join(
    map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xFE00, 0xFE10)))
)
_PLAIN = str.maketrans(dict.fromkeys(_APOSTROPHES, "'") | dict.fromkeys(_HYPHENS, "-") | dict.fromkeys(_INVISIBLE, ""))
# White space, plain characters (many at a time, for speed), or any other character with its accents or, in Korean,
# the vowel and final consonant of its syllable.
_CLUSTER = regex.compile(r"(\s+)|[!-_a-~]+(?!\p{M})|\S[\p{M}\u1160-\u11ff]*")
_UNEVEN_BLANKS = regex.compile(r"\s{2,}|[^\S ]")
# Accents are spelling in these scripts; in others, such as those of India, marks are vowels.
_ACCENTS = regex.compile(r"(?<=[\p{Latin}\p{Greek}\p{Cyrillic}\p{Hebrew}\p{Arabic}])\p{Mn}+")
# Cyrillic and Greek letters that look like Latin ones, and Latin ones that Unicode doesn't take apart.
_LOOKALIKES = dict(zip("авекмнорстухіјѕһԁԛԝαβεικνορτυχϲϳıøłđħ", "abekmhopctyxijshdqwabeikvoptuxcjioldh", strict=True))
_LATIN = str.maketrans(
    _LOOKALIKES
    | {letter.upper(): latin.upper() for letter, latin in _LOOKALIKES.items() if letter != "ı"}
    | {"æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "Æ": "AE", "Œ": "OE", "Þ": "TH", "Ð": "D"}
)
_LONE_SURROGATE = regex.compile("[\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True)
class Folded:
    """A folded text; character i of it stands for characters `starts[i]` to `ends[i]` of the original."""

    text: str
    starts: tuple[int, ...] | range
    ends: tuple[int, ...] | range


def fold(text: str, *, case_sensitive: bool, letters: bool = False) -> Folded:
    """Return `text` with its variants of writing made equal.

    A run of white space becomes one blank, typographic apostrophes and hyphens become plain ones, a letter and its
    accent become one character where Unicode has one, characters that cannot be seen inside a word vanish, and
    case goes unless `case_sensitive`. Letters may become longer ('ß' is 'ss'), so the offsets go along.

    Args:
        text: The text.
        case_sensitive: Whether capitals stay.
        letters: Whether accents go, wide and styled letters become plain, and letters of other scripts become the Latin
            ones that they look like.
    """
    if text.isascii() and not _UNEVEN_BLANKS.search(text):
        plain = text.translate(_PLAIN) if "`" in text else text
        return Folded(
            text=plain if case_sensitive else plain.lower(), starts=range(len(text)), ends=range(1, len(text) + 1)
        )
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _CLUSTER.finditer(text):
        first, last = match.span()
        piece = " " if match[1] else _fold_cluster(match[0], case_sensitive, letters)
        pieces.append(piece)
        even = match[0].isascii() and len(piece) == last - first
        starts += range(first, last) if even else [first] * len(piece)
        ends += range(first + 1, last + 1) if even else [last] * len(piece)
    return Folded(text="".join(pieces), starts=tuple(starts), ends=tuple(ends))


def without_lone_surrogates(text: str) -> str:
    """Return `text` with each half of a character, which no UTF-8 library takes, replaced by U+FFFD."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


@lru_cache(4096)
def _fold_cluster(cluster: str, case_sensitive: bool, letters: bool) -> str:
    if cluster.isascii() and cluster != "`":
        return cluster if case_sensitive else cluster.lower()
    plain = unicodedata.normalize("NFC", without_lone_surrogates(cluster)).translate(_PLAIN)
    if not case_sensitive:
        # The Turkish capital 'İ' folds to an 'i' with a dot above; the dot is dropped so that it meets a plain 'i'.
        plain = unicodedata.normalize("NFC", plain.casefold()).replace("i\u0307", "i")
    if not letters:
        return plain
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", plain))
    latin = unicodedata.normalize("NFC", bare if case_sensitive else bare.casefold()).translate(_LATIN)
    # What is taken apart can bring a blank or a typographic sign to light.
    return " ".join(latin.translate(_PLAIN).split()) or plain
