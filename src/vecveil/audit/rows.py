"""Rows of an audit's results for JSON, without a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from vecveil.accounting import BudgetReadings

NORMAL_95 = 1.96
"""Standard errors to each side of a 95 % interval."""

Outcome = Literal["pass", "fail", "inconclusive"]

Part = Literal["words", "presence", "blank"]
"""What a verdict is about."""

PARTS: Mapping[Part, str] = {
    "words": "private words read back",
    "presence": "presence of the concept",
    "blank": "fill in the blank",
}
"""What people call each part."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value between the ends of its 95 % bootstrap interval over texts."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What was done to the vectors.

    Attributes:
        defense: "none", "laplace", "purkayastha", "veil", or a text-level baseline such as "remove".
        label: How tables name the defense, such as "veil, hard-concrete".
        asked: The budget as it was asked for, such as "ε = 10 (paper's scale)"; empty where there is none.
        readings: The budget's three readings; None where there is none.
        seed: Of noise, splits and attackers.
        own: Whether it is the veil at the budget that it keeps itself, or else at the first that was asked for.
    """

    defense: str
    label: str
    asked: str
    readings: BudgetReadings | None
    seed: int
    own: bool = False


@dataclass(frozen=True, kw_only=True)
class CategoryLeakage:
    """Leakage of the tokens of one category of the concept."""

    tokens: int
    leakage: Estimate
    confidence: Estimate


@dataclass(frozen=True, kw_only=True)
class AttackRow:
    """One attack on one defense.

    Attributes:
        setting: The defense.
        attack: Name of the attack.
        releases: Fresh releases of each record that the attacker averages where they differ, that is, behind noise.
        texts: Texts with sensitive tokens that it was tested on.
        tokens: Sensitive tokens in them (the paper's T).
        known: Share of those tokens that its training texts held too.
        leakage: The paper's Leakage: share of the sensitive tokens that were read back.
        chance: The same with every vector exchanged for that of another text: what guessing gives.
        confidence: The paper's Confidence: mean probability given to the true tokens.
        precision: Share of the sensitive words it claimed that were there; None where it claimed none.
        r_precision: Of a text's sensitive words, the share among the words that the attack is surest of, as many as
            the text has. Unlike leakage, it does not depend on how sure an attack must be to claim a word.
        r_chance: The same for someone who always names the most frequent words of the training texts.
        top_one: Share of texts whose likeliest sensitive word is really in them.
        auc: Chance that a word that is there scores above one that isn't.
        similarity: Mean cosine between text and reconstruction by an embedder that was not attacked; None for
            attacks that make no sentences.
        categories: By category of the concept.
        seconds: Time the attack took to train and to read.
    """

    setting: Setting
    attack: str
    releases: int
    texts: int
    tokens: int
    known: float
    leakage: Estimate
    chance: float
    confidence: Estimate
    precision: Estimate | None
    r_precision: Estimate
    r_chance: float
    top_one: Estimate
    auc: float
    similarity: Estimate | None
    categories: Mapping[str, CategoryLeakage]
    seconds: float


@dataclass(frozen=True, kw_only=True)
class ProbeRow:
    """One concept probe on one defense: can it tell a text with the concept from the same text without it?"""

    setting: Setting
    probe: str
    auc: Estimate
    accuracy: float
    tested: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class BlankRow:
    """Fill in the blank: someone has the text but for one private value, and a list of what it may be.

    Attributes:
        setting: The defense.
        texts: Texts that were asked about.
        candidates: Values that may stand there, on average.
        right: How often the best guess is right.
        chance: How often a guess without the vector is right.
        bits: How much the vector tells of the value, in bits.
        rank: Median place of the true value among the candidates.
        seconds: Time it took.
    """

    setting: Setting
    texts: int
    candidates: float
    right: Estimate
    chance: float
    bits: Estimate
    rank: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class RerankingRow:
    """How many candidates the owner must rerank behind the veil at its own budget.

    Attributes:
        setting: The defense.
        level: Share of all searches that is to be kept.
        candidates: The fewest that keep it, of those that were tried; None where none does.
    """

    setting: Setting
    level: float
    candidates: int | None


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """How far one record, or one group of records, was read by one attack, behind the veil at its own budget.

    Attributes:
        record: Its id, or the number of its row; of a group, its name.
        attack: Name of the attack.
        words: Private words that it holds.
        read: Share of them that the attack reads.
        confidence: Probability that the attack gives to the word of them that it is surest of.
        grouped: Whether it is a group.
    """

    record: str
    attack: str
    words: int
    read: float
    confidence: float
    grouped: bool = False


@dataclass(frozen=True, kw_only=True)
class TaskRow:
    """One utility task on one defense.

    Attributes:
        setting: The defense.
        task: How tables name the task.
        main: Name of the score that stands for it.
        scores: Every score by name, larger is better.
        protected: Which side had been protected.
        cases: Number of queries, pairs or records behind the scores.
        error: Standard error of the main score over these; None where nobody has worked that out.
        seconds: Time it took.
    """

    setting: Setting
    task: str
    main: str
    scores: Mapping[str, float]
    protected: str
    cases: int
    seconds: float
    error: float | None = None

    @property
    def estimate(self) -> Estimate:
        """The main score between the ends of its 95 % interval over cases."""
        score, reach = self.scores[self.main], NORMAL_95 * (self.error or 0.0)
        return Estimate(value=score, low=score - reach, high=score + reach)


@dataclass(frozen=True, kw_only=True)
class Judgment:
    """What one attack says about the veil at one budget.

    Attributes:
        part: What the attack is after.
        attack: Name of the attack or probe.
        outcome: Whether it was held off.
        before: What it reads out of unprotected vectors, above chance.
        after: What it reads behind the veil, above chance.
        retained: The second as a share of the first; None where the first is too little to be a test.
        reason: In words.
        texts_needed: Test texts that would decide an inconclusive judgment, by the width of its interval; None
            where more texts would not.
    """

    part: Part
    attack: str
    outcome: Outcome
    before: Estimate
    after: Estimate
    retained: Estimate | None
    reason: str
    texts_needed: int | None = None


@dataclass(frozen=True, kw_only=True)
class PartVerdict:
    """One part of a verdict.

    Attributes:
        part: What it is about.
        outcome: A fail where any attack still reads too much; a pass where at least one is known to work on unprotected
            vectors and all such were held off; inconclusive otherwise.
        tolerance: Share of what is read out of unprotected vectors, above chance, that may remain.
        judgments: What each attack says.
    """

    part: Part
    outcome: Outcome
    tolerance: float
    judgments: tuple[Judgment, ...]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The veil at one budget, against everything that was tried: a pass only where every part passes."""

    setting: Setting
    outcome: Outcome
    parts: tuple[PartVerdict, ...]

    @property
    def judgments(self) -> tuple[Judgment, ...]:
        """What each attack says, part by part."""
        return tuple(judgment for part in self.parts for judgment in part.judgments)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is so: what those attacks say that decide the parts that decide it."""
        return tuple(
            judgment.reason
            for part in self.parts
            if part.outcome == self.outcome
            for judgment in part.judgments
            if judgment.outcome == part.outcome
        ) or ("no attack was run",)


@dataclass(frozen=True, kw_only=True)
class SheetRow:
    """The guarantee sheet of the veil at one budget: as text, and its warnings apart."""

    setting: Setting
    text: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Reconstruction:
    """One attack's reading of one text behind one defense; word-level attacks give words alone."""

    setting: Setting
    attack: str
    text: str | None
    leaked: tuple[str, ...]
    similarity: float | None


@dataclass(frozen=True, kw_only=True)
class Example:
    """A text and what was read of it. **Private**: this is the owner's text."""

    text: str
    spans: tuple[tuple[int, int, str], ...]
    tokens: tuple[str, ...]
    readings: tuple[Reconstruction, ...]

    def read_words(self, setting: Setting) -> tuple[str, ...]:
        """Return the private words that any attack read behind one defense."""
        found = {word for reading in self.readings if reading.setting == setting for word in reading.leaked}
        return tuple(word for word in self.tokens if word in found)


def sort_examples(examples: Sequence[Example]) -> list[Example]:
    """Return the examples, those first of which most was read without protection."""

    def read(example: Example) -> int:
        settings = {one.setting for one in example.readings if one.setting.defense == "none"}
        return max((len(example.read_words(setting)) for setting in settings), default=0)

    return sorted(examples, key=read, reverse=True)
