"""Tables of the overview, verdicts, exposed records and the positive control."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vecveil.audit.result import HEADINGS, AuditResult, filled_columns
from vecveil.audit.rows import PARTS, Judgment, Outcome, Verdict
from vecveil.core.percent import percent
from vecveil.reports.budget_table import SETTING_COLUMNS, setting_cells
from vecveil.reports.conditions import Condition
from vecveil.reports.means import find_extremes
from vecveil.reports.summary import Summary
from vecveil.reports.table import Column, Table, TableCell, count, number, share, words

JUDGMENT_COLUMNS = (
    Column(key="seed", title="Seed"),
    Column(key="part", title="Part", words=True),
    Column(key="attack", title="Attack", words=True),
    Column(key="outcome", title="Outcome", words=True),
    Column(key="retained", title="Still read", interval=True),
    Column(key="texts_needed", title="Texts that would tell"),
    Column(key="reason", title="Reason", words=True),
)


@dataclass(frozen=True, kw_only=True)
class PartSummary:
    """One part of the verdict on the veil at its own budget, over all seeds.

    Attributes:
        name: What people call it.
        outcome: A fail where any seed fails, a pass where all pass.
        tolerance: Share of what is read out of unprotected vectors that may remain.
        strongest: The judgment that comes nearest to a fail, or the first where none is a test.
        apart: The least and the most that its attack still reads in any seed; None of one seed.
        reasons: What those attacks say that decide it, with the seed where there are several.
    """

    name: str
    outcome: Outcome
    tolerance: float
    strongest: Judgment
    apart: tuple[float, float] | None
    reasons: tuple[str, ...]

    @property
    def ranges(self) -> str:
        """How far what is still read may lie apart, over texts and over seeds; empty where nothing was read before."""
        kept = self.strongest.retained
        if kept is None:
            return ""
        ends = [(kept.low, kept.high, "texts"), *([] if self.apart is None else [(*self.apart, "seeds")])]
        return ", ".join(f"{percent(max(0.0, low))} to {percent(max(0.0, high))} over {of}" for low, high, of in ends)


def part_summaries(result: AuditResult) -> tuple[PartSummary, ...]:
    """Return the parts of the verdict on the veil at its own budget."""
    own = [verdict for verdict in result.verdicts if verdict.setting.own]
    found = []
    for part, name in PARTS.items():
        seeds = [(verdict, one) for verdict in own for one in verdict.parts if one.part == part]
        if not seeds:
            continue
        outcomes = {one.outcome for _, one in seeds}
        outcome: Outcome = "fail" if "fail" in outcomes else "pass" if outcomes == {"pass"} else "inconclusive"
        judgments = [(verdict, judgment) for verdict, one in seeds for judgment in one.judgments]
        tested = [judgment for _, judgment in judgments if judgment.retained is not None]
        strongest = max(tested, key=_share_retained, default=judgments[0][1])
        found.append(
            PartSummary(
                name=name,
                outcome=outcome,
                tolerance=seeds[0][1].tolerance,
                strongest=strongest,
                apart=find_extremes(_share_retained(one) for one in tested if one.attack == strongest.attack),
                reasons=tuple(
                    judgment.reason if len(own) == 1 else f"seed {verdict.setting.seed}: {judgment.reason}"
                    for verdict, judgment in judgments
                    if judgment.outcome == outcome
                ),
            )
        )
    return tuple(found)


def overview_table(result: AuditResult) -> Table:
    """Return one row for each defense: search, words, fill in the blank, presence."""
    overview = result.overview
    places = filled_columns(overview)
    columns = [Column(key=name, title=name.capitalize(), words=name == "defense") for name in HEADINGS]
    rows = []
    for row in overview:
        values = (getattr(row, name) for name in HEADINGS)
        cells = [TableCell(text=text or "–", value=value) for text, value in zip(row.cells(), values, strict=True)]
        rows.append(tuple(cells[place] for place in places))
    return Table(
        name="overview",
        title="At a glance",
        note=result.note,
        columns=tuple(columns[place] for place in places),
        rows=tuple(rows),
    )


def operating_point(result: AuditResult) -> str:
    """Return what becomes of words, and how much noise there is, where the veil was audited; empty where it was not."""
    own = next((verdict.setting for verdict in result.verdicts if verdict.setting.own), None)
    if own is None or own.readings is None:
        return ""
    becomes = {
        "": "",
        "keep": "Private words stay in the texts. ",
        "remove": "Private words are taken out before the model reads a text. ",
    }
    substitution = (result.veil.get("words") or {}).get("substitution", "")
    words = becomes.get(substitution, f"Private words are replaced ({substitution}) before the model reads a text. ")
    learner = result.veil.get("shape", {}).get("name", "")
    shaped = f", shaped by {learner}" if learner else ""
    return f"{words}Noise is {own.readings.noise_ratio:.2g} times as long as an embedding{shaped}."


def exposures_table(result: AuditResult, texts: Mapping[str, str] | None = None) -> Table:
    """Return the records that were read with most confidence, by their ids; with their texts where these are given."""
    columns = (
        Column(key="record", title="Record", words=True),
        Column(key="attack", title="Attack", words=True),
        Column(key="words", title="Private words"),
        Column(key="read", title="Read"),
        Column(key="confidence", title="Confidence"),
        *([] if texts is None else [Column(key="text", title="Text", words=True)]),
    )
    rows = tuple(
        (
            words(one.record),
            words(one.attack),
            count(one.words),
            share(one.read),
            share(one.confidence),
            *([] if texts is None else [words(texts.get(one.record, ""))]),
        )
        for one in result.exposures
    )
    note = (
        "The most exposed of the records that attacks were tested on, behind the veil at its own budget. exposure.csv "
        "has all of them."
    )
    return Table(name="exposed", title="Most exposed records", note=note, columns=columns, rows=rows)


def verdicts_table(result: AuditResult) -> Table:
    """Return the verdict of every seed at every budget, with the judgment of every attack."""
    rows = tuple(
        (*setting_cells(Condition.from_setting(verdict.setting)), *cells)
        for verdict in result.verdicts
        for cells in (_verdict_cells(verdict), *(_judgment_cells(verdict, one) for one in verdict.judgments))
    )
    note = (
        "Still read is the share of what an attack reads out of unprotected vectors, above chance, that it still reads "
        "behind the veil. An attack that reads nothing out of unprotected vectors is inconclusive, never a pass."
    )
    columns = (*SETTING_COLUMNS, *JUDGMENT_COLUMNS)
    return Table(name="verdicts", title="Verdicts", note=note, columns=columns, rows=rows)


def control_table(result: AuditResult, summary: Summary) -> Table:
    """Return what every attack reads out of unprotected vectors: whether it can read at all."""
    columns = (
        Column(key="attack", title="Attack", words=True),
        Column(key="says", title="Its failure elsewhere", words=True),
        Column(key="r_precision", title="Words read", interval=True),
        Column(key="r_chance", title="By guessing"),
        Column(key="leakage", title="Leakage", interval=True),
        Column(key="chance", title="Chance"),
        Column(key="auc", title="AUC"),
        Column(key="known", title="Known words"),
        Column(key="tokens", title="Tokens"),
    )
    blind = {
        judgment.attack for verdict in result.verdicts for judgment in verdict.judgments if judgment.retained is None
    }
    rows = tuple(
        (
            words(found.name),
            words("proves nothing" if blind & {found.name, found.row.attack} else "means something"),
            share(found.row.r_precision),
            share(found.row.r_chance),
            share(found.row.leakage),
            share(found.row.chance),
            number(found.row.auc),
            share(found.row.known),
            count(found.row.tokens),
        )
        for found in summary.attacks
        if found.condition.unprotected
    )
    return Table(name="control", title="Positive control", note="", columns=columns, rows=rows)


def _share_retained(judgment: Judgment) -> float:
    return -1.0 if judgment.retained is None else judgment.retained.value


def _verdict_cells(verdict: Verdict) -> tuple[TableCell, ...]:
    reasons = words("; ".join(verdict.reasons))
    nothing = share(None)
    return _seed(verdict), words("all"), words("all together"), words(verdict.outcome), nothing, nothing, reasons


def _judgment_cells(verdict: Verdict, one: Judgment) -> tuple[TableCell, ...]:
    needed = share(None) if one.texts_needed is None else count(one.texts_needed)
    return (
        _seed(verdict),
        words(PARTS[one.part]),
        words(one.attack),
        words(one.outcome),
        share(one.retained),
        needed,
        words(one.reason),
    )


def _seed(verdict: Verdict) -> TableCell:
    return TableCell(text=str(verdict.setting.seed), value=verdict.setting.seed)
