"""Results of an audit as rows for JSON, without a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from vecveil.accounting import BudgetReadings

Outcome = Literal["pass", "fail", "inconclusive"]


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
    """

    defense: str
    label: str
    asked: str
    readings: BudgetReadings | None
    seed: int


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
class TaskRow:
    """One utility task on one defense.

    Attributes:
        setting: The defense.
        task: How tables name the task.
        main: Name of the score that stands for it.
        scores: Every score by name, larger is better.
        protected: Which side had been protected.
        cases: Number of queries, pairs or records behind the scores.
        seconds: Time it took.
    """

    setting: Setting
    task: str
    main: str
    scores: Mapping[str, float]
    protected: str
    cases: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Judgment:
    """What one attack says about the veil at one budget.

    Attributes:
        attack: Name of the attack or probe.
        outcome: Whether it was held off.
        retained: Share of what it reads out of unprotected vectors, above chance, that it still reads; None where it
            reads nothing out of unprotected vectors.
        reason: In words.
    """

    attack: str
    outcome: Outcome
    retained: Estimate | None
    reason: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The veil at one budget, against everything that was tried."""

    setting: Setting
    outcome: Outcome
    reasons: tuple[str, ...]
    judgments: tuple[Judgment, ...]


@dataclass(frozen=True, kw_only=True)
class SheetRow:
    """The guarantee sheet of the veil at one budget: as text, and its warnings apart."""

    setting: Setting
    text: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """Everything that an audit found.

    Attributes:
        plan: Attacks, tasks, budgets and seeds with all their settings, as they were asked for.
        plan_digest: SHA-256 of the plan and of the texts: what was computed for another one is never mixed in.
        veil: Facts of the veil: digest, shape learner, mechanism, embedder's fingerprint, contrast, versions. Not its
            concept, which may hold terms.
        corpus: Number of texts, of texts with the concept, of tokens, of the parts of the split; digest of the texts.
        versions: Of vecveil, Python and the libraries that numbers depend on.
        attacks: Rows of attacks.
        probes: Rows of concept probes.
        tasks: Rows of utility tasks.
        sheets: What is promised, per budget.
        verdicts: What to think of it, per budget.
        finished: When the results were written, in ISO 8601 and UTC.
    """

    plan: Mapping[str, Any]
    plan_digest: str
    veil: Mapping[str, Any]
    corpus: Mapping[str, Any]
    versions: Mapping[str, str]
    attacks: tuple[AttackRow, ...]
    probes: tuple[ProbeRow, ...]
    tasks: tuple[TaskRow, ...]
    sheets: tuple[SheetRow, ...]
    verdicts: tuple[Verdict, ...]
    finished: str


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
