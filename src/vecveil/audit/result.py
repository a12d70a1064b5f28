"""The result of an audit, at a glance and in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any, TypeVar

import numpy as np

from vecveil.accounting import MeasuredGuess
from vecveil.audit.plan import SPARSE
from vecveil.audit.rows import (
    PARTS,
    AttackRow,
    BlankRow,
    Estimate,
    Exposure,
    Outcome,
    ProbeRow,
    RerankingRow,
    Setting,
    SheetRow,
    TaskRow,
    Verdict,
)
from vecveil.core.errors import MissingExtraError
from vecveil.core.percent import percent

T = TypeVar("T")

HEADINGS = ("defense", "search", "overlap", "unnamed", "reranked", "words", "blank", "presence")

UNNAMED, RERANKED = "_unnamed", "_rerank"
"""Endings of scores: of searches that don't name the concept, and after reranking."""

OVERLAP = "overlap@10"
"""Score of searches that nobody has judged."""

EQUAL_SEARCH = "equal search"
"""Ends the budget of plain noise that keeps as much search as the veil."""

MEANINGS: Mapping[str, str] = {
    "search": "share of the search that is kept",
    "overlap": "of the ten texts that a query found before, the share that it still finds",
    "unnamed": "the same of searches that don't name the concept",
    "reranked": "the same after the owner has reranked what the store returned",
    "words": "private words that the strongest attack reads",
    "blank": "guesses that are right, of one private value by someone who has the rest",
    "presence": "AUC of the best probe for the concept, 0.5 is blind",
}
"""What stands under each of `HEADINGS`, in few words."""

NAMES: Mapping[str, str] = {
    "none": "none",
    "remove": "redaction",
    "laplace": "LapMech",
    "purkayastha": "PurMech",
    SPARSE: "SPARSE",
    "veil": "veil",
}
"""What people call defenses, in every table, plot and sentence."""


@dataclass(frozen=True, kw_only=True)
class OverviewRow:
    """One defense; numbers are means over seeds, None where something was not measured.

    Attributes:
        defense: How tables name it.
        own: Whether it is the veil at its own budget.
        search: Share of the undefended main score of the first task that is kept.
        overlap: Share of the ten texts that a query finds in unprotected vectors which it still finds.
        unnamed: The same of searches that don't name the concept.
        reranked: The same of all searches, after reranking.
        words: R-precision of the strongest attack: the one that reads most above its own chance.
        attack: Which attack that is.
        chance: What guessing gives where that attack reads.
        blank: How often the best guess of an unknown value is right.
        presence: AUC of the best concept probe.
    """

    defense: str
    own: bool
    search: float | None = None
    overlap: float | None = None
    unnamed: float | None = None
    reranked: float | None = None
    words: float | None = None
    attack: str = ""
    chance: float | None = None
    blank: float | None = None
    presence: float | None = None

    def cells(self) -> tuple[str, ...]:
        """Return what stands under `HEADINGS`."""
        shares = (getattr(self, name) for name in HEADINGS[1:-1])
        presence = "" if self.presence is None else f"{self.presence:.2f}"
        return (self.defense, *("" if one is None else percent(one) for one in shares), presence)


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
        blanks: Rows of fill in the blank.
        tasks: Rows of utility tasks.
        best_guess: How often the best guess of a private value is right behind the veil; None where nobody measured it.
        reranking: How many candidates the owner must rerank; None where no task can rerank.
        sheets: What is promised, per budget.
        verdicts: What to think of it, per budget.
        exposures: The records that were read with most confidence, the worst first.
        finished: When the results were written, in ISO 8601 and UTC.
    """

    plan: Mapping[str, Any]
    plan_digest: str
    veil: Mapping[str, Any]
    corpus: Mapping[str, Any]
    versions: Mapping[str, str]
    attacks: tuple[AttackRow, ...]
    probes: tuple[ProbeRow, ...]
    blanks: tuple[BlankRow, ...]
    tasks: tuple[TaskRow, ...]
    sheets: tuple[SheetRow, ...]
    verdicts: tuple[Verdict, ...]
    exposures: tuple[Exposure, ...]
    finished: str
    best_guess: MeasuredGuess | None = None
    reranking: RerankingRow | None = None

    @property
    def overview(self) -> tuple[OverviewRow, ...]:
        """One row for each defense, and what guessing gives at the end."""
        settings = _settings(self)
        control = [setting for setting in settings if setting.defense == "none"]
        budgets = {setting.asked for setting in settings if setting.defense == "veil"}
        name = partial(_label, budgets=len(budgets))
        rows = [_row(self, label, group, control) for label, group in _group(settings, name).items()]
        chance = next((row.chance for row in rows if row.own), None)
        return (*rows, _guessing(self, chance))

    @property
    def outcome(self) -> Outcome:
        """The verdict on the veil at its own budget: a fail where any seed fails, a pass where all pass."""
        found = {verdict.outcome for verdict in self.verdicts if verdict.setting.own}
        return "fail" if "fail" in found else "pass" if found == {"pass"} else "inconclusive"

    @property
    def passed(self) -> bool:
        """Whether the veil at its own budget holds off everything that was tried."""
        return self.outcome == "pass"

    @property
    def sentence(self) -> str:
        """What was found, in one sentence that can be said to anyone."""
        return _sentence(self.overview, self.veil.get("words"))

    @property
    def reranking_sentence(self) -> str:
        """How many candidates the owner must rerank, in a sentence; empty where it was not measured."""
        if self.reranking is None:
            return ""
        candidates, level = self.reranking.candidates, percent(self.reranking.level)
        if candidates is None:
            return f"No number of reranked candidates that was tried keeps {level} of all searches."
        return f"With {candidates} candidates reranked, {level} of all searches are kept."

    @property
    def note(self) -> str:
        """What the columns of the overview mean."""
        rows = self.overview
        parts = [f"{HEADINGS[place]}: {MEANINGS[HEADINGS[place]]}" for place in filled_columns(rows) if place]
        equal = [setting for setting in _settings(self) if setting.asked.endswith(EQUAL_SEARCH)]
        if equal:
            names = " and ".join(dict.fromkeys(map(defense_name, equal)))
            parts.append(f"{names}: with as much noise as keeps the search of the veil")
        return "; ".join(parts) + "."

    def frame(self) -> Any:
        """Return every measurement as a pandas DataFrame, one row for each number."""
        import pyarrow as pa

        try:
            return pa.Table.from_pylist(_measurements(self)).to_pandas()
        except ImportError:
            raise MissingExtraError("pandas", "audit") from None

    def __str__(self) -> str:
        own = [verdict for verdict in self.verdicts if verdict.setting.own]
        parts = [f"  {PARTS[part.part]}: {part.outcome}" for verdict in own for part in verdict.parts]
        said = filter(None, (self.sentence, self.reranking_sentence, f"verdict: {self.outcome}"))
        return "\n".join((plain_table(self.overview), "", *said, *parts))

    def _repr_html_(self) -> str:
        heads, *rows = [[escape(cell) for cell in line] for line in _lines(self.overview)]
        lines = ["".join(f'<th scope="col">{cell}</th>' for cell in heads)]
        lines += [f'<th scope="row">{row[0]}</th>' + "".join(f"<td>{cell}</td>" for cell in row[1:]) for row in rows]
        table = "".join(f"<tr>{line}</tr>" for line in lines)
        said = f"{escape(self.sentence)} {self.reranking_sentence} Verdict: <b>{self.outcome}</b>."
        return f"<table>{table}</table><p>{said}</p>"


def _sentence(rows: Sequence[OverviewRow], words: Mapping[str, Any] | None) -> str:
    veil = next((row for row in rows if row.own), None)
    if veil is None:
        return "no veil was audited"
    before = rows[0]
    parts = []
    if veil.words is not None and before.words is not None and veil.chance is not None:
        parts.append(
            f"the strongest attack reads {percent(before.words)} of the private words without the veil and "
            f"{percent(veil.words)} behind it, where guessing gives {percent(veil.chance)}"
        )
    if veil.search is not None:
        unnamed = "" if veil.unnamed is None else f", {percent(veil.unnamed)} where it does not name the concept"
        parts.append(f"{percent(veil.search)} of the search is kept{unnamed}")
    if words is not None:
        parts.append(f"promised: {_promise(words['epsilon'])}")
    redacted = next((row for row in rows if row.defense == NAMES["remove"]), None)
    if redacted is not None and redacted.words is not None:
        parts.append(f"redaction alone leaves {percent(redacted.words)}")
    said = "; ".join(parts)
    return f"{said[:1].upper()}{said[1:]}."


def _promise(epsilon: float | None) -> str:
    """Return what is promised of words that the concept finds, as it can be said; None where they stay."""
    if epsilon is None:
        return "nothing for a single word"
    if epsilon == 0:
        return "no vector depends on a word that the concept finds"
    return f"odds between two private words change by at most e^{epsilon:g}"


def filled_columns(rows: Sequence[OverviewRow]) -> tuple[int, ...]:
    """Return the places of `HEADINGS` under which anything stands."""
    cells = [row.cells() for row in rows]
    return tuple(place for place in range(len(HEADINGS)) if any(line[place] for line in cells))


def _lines(rows: Sequence[OverviewRow]) -> list[tuple[str, ...]]:
    """Return headings and cells, without columns in which nothing stands."""
    places = filled_columns(rows)
    return [tuple(line[place] for place in places) for line in (HEADINGS, *(row.cells() for row in rows))]


def plain_table(rows: Sequence[OverviewRow]) -> str:
    """Return rows as text in columns."""
    lines = _lines(rows)
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _settings(result: AuditResult) -> list[Setting]:
    rows: tuple[TaskRow | ProbeRow | BlankRow | AttackRow, ...] = (
        *result.tasks,
        *result.probes,
        *result.blanks,
        *result.attacks,
    )
    return list(dict.fromkeys(row.setting for row in rows))


def _label(setting: Setting, *, budgets: int) -> str:
    """Return what people call a defense; its budget is named where there are several."""
    name = defense_name(setting)
    return ", ".join(part for part in (name, setting.asked) if part) if budgets != 1 else name


def defense_name(setting: Setting) -> str:
    """Return what people call a defense, whatever its budget."""
    return NAMES.get(setting.defense, setting.label)


def _row(result: AuditResult, name: str, group: Sequence[Setting], control: Sequence[Setting]) -> OverviewRow:
    attacks = _group([row for row in result.attacks if row.setting in group], lambda row: row.attack)
    words = {attack: float(np.mean([row.r_precision.value for row in rows])) for attack, rows in attacks.items()}
    chances = {attack: float(np.mean([row.r_chance for row in rows])) for attack, rows in attacks.items()}
    strongest = max(words, key=lambda attack: words[attack] - chances[attack], default="")
    probes = _group([row for row in result.probes if row.setting in group], lambda row: row.probe)
    return OverviewRow(
        defense=name,
        own=any(setting.own for setting in group),
        search=_share_kept(result, group, control, ""),
        overlap=_share_kept(result, group, control, OVERLAP),
        unnamed=_share_kept(result, group, control, UNNAMED),
        reranked=_share_kept(result, group, control, RERANKED),
        words=words.get(strongest),
        attack=strongest,
        chance=chances.get(strongest),
        blank=_mean(row.right.value for row in result.blanks if row.setting in group),
        presence=max((float(np.mean([row.auc.value for row in rows])) for rows in probes.values()), default=None),
    )


def _guessing(result: AuditResult, chance: float | None) -> OverviewRow:
    if chance is None:
        chance = _mean(row.r_chance for row in result.attacks if row.setting.defense == "none")
    return OverviewRow(
        defense="guessing",
        own=False,
        words=chance,
        chance=chance,
        blank=_mean(row.chance for row in result.blanks),
        presence=0.5 if result.probes else None,
    )


def _share_kept(result: AuditResult, group: Sequence[Setting], control: Sequence[Setting], ending: str) -> float | None:
    """Return a score of the first task over the same of unprotected vectors; None where there is no such score.

    The score is the main one, one that ends in another way, or another one by its name.
    """
    first = next((row.task for row in result.tasks), None)
    rows = [row for row in result.tasks if row.task == first]
    after, before = (
        _mean(score for row in rows if row.setting in settings for score in _scores(row, ending))
        for settings in (group, control)
    )
    return after / before if after is not None and before else None


def _scores(row: TaskRow, ending: str) -> list[float]:
    if not ending:
        return [row.scores[row.main]]
    if ending in row.scores:
        return [row.scores[ending]]
    return [value for name, value in row.scores.items() if name.startswith(row.main + ending)]


def _group(items: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return float(np.mean(known)) if known else None


def _measurements(result: AuditResult) -> list[dict[str, Any]]:
    """Return one record for each number that was measured."""
    found: list[dict[str, Any]] = []

    def add(kind: str, name: str, setting: Setting, measures: Mapping[str, Estimate | float | None]) -> None:
        for measure, value in measures.items():
            estimate = value if isinstance(value, Estimate) else None
            number = value.value if isinstance(value, Estimate) else value
            record = {"kind": kind, "name": name, "defense": setting.label, "budget": setting.asked}
            interval = {"low": estimate and estimate.low, "high": estimate and estimate.high}
            found.append({**record, "seed": setting.seed, "measure": measure, "value": number, **interval})

    for row in result.attacks:
        measures = {name: getattr(row, name) for name in ("r_precision", "r_chance", "leakage", "chance", "top_one")}
        add("attack", row.attack, row.setting, measures)
    for probe in result.probes:
        add("probe", probe.probe, probe.setting, {"auc": probe.auc})
    for blank in result.blanks:
        measures = {"right": blank.right, "chance": blank.chance, "bits": blank.bits, "rank": blank.rank}
        add("blank", "fill in the blank", blank.setting, measures)
    for task in result.tasks:
        own = {} if task.error is None else {task.main: task.estimate}
        add("task", task.task, task.setting, {**task.scores, **own})
    return found
