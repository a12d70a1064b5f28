"""Results of an audit that nobody ran, near what a real one finds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from support.audit_verdicts import verdict_of
from support.veils import made_veil
from vecveil.accounting import BudgetReadings
from vecveil.audit.result import AuditResult
from vecveil.audit.rows import (
    AttackRow,
    BlankRow,
    CategoryLeakage,
    Estimate,
    Exposure,
    ProbeRow,
    Setting,
    SheetRow,
    TaskRow,
)

RATIOS = (0.3, 0.5, 0.7, 1.0, 1.5)
VEIL = "veil, hard-concrete"
UNDEFENDED = Setting(defense="none", label="none", asked="", readings=None, seed=0)

# For each defense: its kind, epsilon at noise ratio 1, its distance, and how fast attackers go blind.
DEFENSES = {
    VEIL: ("veil", 384.0, "Mahalanobis distance", 1.5),
    "laplace": ("laplace", 384.0, "Euclidean distance", 1.0),
    "purkayastha": ("purkayastha", 380.0, "angular distance", 0.96),
}
# For each attack: undefended leakage, chance, releases that it averages, how well it stands noise, and whether it
# writes sentences.
ATTACKS = {
    "mlc": (0.53, 0.04, 1, 0.95, False),
    "geia": (0.26, 0.05, 1, 1.3, True),
    "vec2text": (0.61, 0.05, 1, 1.2, True),
    "nearest": (0.31, 0.06, 1, 1.05, True),
    "averaging": (0.55, 0.04, 4, 1.0, False),
}
CATEGORIES = {"PERSON": (312, 1.1), "GPE": (268, 1.25), "DATE": (174, 0.6), "ORG": (149, 0.85)}
# For each task: name of its score, undefended score, noise ratio at which half of it is gone, number of cases.
TASKS = {
    "neighbors": ("kept", 1.0, 1.05, 2400),
    "sts:sts12.parquet": ("pearson", 0.771, 2.1, 3108),
    "retrieval:nfcorpus": ("ndcg@10", 0.316, 1.7, 323),
}


def setting(label: str, ratio: float, *, seed: int = 0) -> Setting:
    """Return the setting of a defense at a noise ratio."""
    kind, price, distance, _ = DEFENSES[label]
    readings = BudgetReadings(
        epsilon=price / ratio, distance=distance, noise_ratio=ratio, pair_loss=0.5 * price / ratio
    )
    own = kind == "veil" and ratio == 1.0
    return Setting(defense=kind, label=label, asked=f"noise {ratio:g}", readings=readings, seed=seed, own=own)


def estimate(value: float, spread: float = 0.02) -> Estimate:
    """Return `value` within an interval that stays between 0 and 1."""
    return Estimate(value=value, low=max(0.0, value - spread), high=min(1.0, value + spread))


def made_audit(*, seeds: Sequence[int] = (0,)) -> AuditResult:
    """Return a whole audit: unprotected vectors, three defenses at five budgets, five attacks, probes and tasks."""
    rng = np.random.default_rng(7)
    settings: list[Setting] = []
    for seed in seeds:
        settings.append(replace(UNDEFENDED, seed=seed))
        settings += [setting(label, ratio, seed=seed) for label in DEFENSES for ratio in RATIOS]
    veils = [one for one in settings if one.defense == "veil"]
    return AuditResult(
        plan={
            "attacks": list(ATTACKS),
            "tasks": list(TASKS),
            "noise_ratios": list(RATIOS),
            "seeds": list(seeds),
            "vec2text": {"steps": 4, "beam": 4, "prior": "minilm-general"},
        },
        plan_digest="5f1d7c0b9a3e4d62a1c8f04b7e9d2c6385aa17f0c4be92d1e6037b58f2a9c410",
        veil={
            "digest": "c0ffee5a9be14d2f87a3c61b04d9e57f22b8a6917c3d40e5f18b6a2d9037ce44",
            "shape": {"learner": "hard-concrete", "closed_gates": 0.41, "floor": 0.1},
            "mechanism": "mahalanobis",
            "embedder": {"model": "all-MiniLM-L6-v2", "dimensions": 384, "normalized": True},
            "concept": {"kind": "entities", "labels": list(CATEGORIES)},
        },
        corpus={"texts": 3108, "with_concept": 1874, "tokens": 903, "training": 1399, "held_out": 155, "tested": 320},
        versions={"vecveil": "0.1.0", "python": "3.11.2", "numpy": "2.3.1", "torch": "2.8.0"},
        attacks=tuple(attack_row(one, name, float(rng.normal(0, 0.01))) for name in ATTACKS for one in settings),
        probes=tuple(probe_row(one, name) for name in ("linear", "mlp") for one in settings),
        blanks=tuple(blank_row(one) for one in settings),
        tasks=tuple(task_row(one, name, float(rng.normal(0, 0.004))) for name in TASKS for one in settings),
        sheets=tuple(sheet_row(one) for one in veils if one.seed == seeds[0]),
        verdicts=tuple(verdict_of(one, {name: left(one, name) for name in ATTACKS}) for one in veils),
        exposures=tuple(
            Exposure(record=f"note {row}", attack="mlc", words=2, read=1 - row / 10, confidence=0.9 - row / 20)
            for row in range(10)
        ),
        finished="2025-06-03T14:22:08Z",
    )


def left(one: Setting, attack: str) -> float:
    """Return the share of what an attack reads out of unprotected vectors that it still reads."""
    if one.readings is None:
        return 1.0
    _, _, releases, weakness, _ = ATTACKS[attack]
    noise = one.readings.noise_ratio / releases**0.1
    return math.exp(-1.05 * DEFENSES[one.label][3] * weakness * noise**1.6)


def attack_row(one: Setting, name: str, jitter: float = 0.0) -> AttackRow:
    """Return what an attack reads behind a setting."""
    undefended, chance, releases, _, sentences = ATTACKS[name]
    kept = left(one, name)
    leakage = max(0.0, chance + (undefended - chance) * kept + jitter)
    return AttackRow(
        setting=one,
        attack=name,
        releases=releases,
        texts=320,
        tokens=903,
        known=0.87,
        leakage=estimate(leakage),
        chance=chance,
        confidence=estimate(0.8 * leakage, 0.015),
        precision=estimate(0.25 + 0.6 * kept),
        r_precision=estimate(min(1.0, 1.1 * leakage)),
        r_chance=chance,
        top_one=estimate(min(1.0, 1.15 * leakage)),
        auc=0.5 + 0.46 * kept,
        similarity=estimate(0.12 + 0.7 * kept) if sentences else None,
        categories={
            category: CategoryLeakage(
                tokens=tokens,
                leakage=estimate(min(1.0, factor * leakage), 0.03),
                confidence=estimate(min(1.0, 0.8 * factor * leakage), 0.025),
            )
            for category, (tokens, factor) in CATEGORIES.items()
        },
        seconds=95.0,
    )


def probe_row(one: Setting, name: str) -> ProbeRow:
    """Return what a probe sees behind a setting."""
    auc = 0.5 + {"linear": 0.43, "mlp": 0.48}[name] * left(one, "mlc") ** 0.5
    return ProbeRow(setting=one, probe=name, auc=estimate(auc, 0.012), accuracy=auc - 0.06, tested=640, seconds=4.0)


def blank_row(one: Setting) -> BlankRow:
    """Return how well blanks are filled in behind a setting."""
    kept = left(one, "mlc")
    return BlankRow(
        setting=one,
        texts=64,
        candidates=25.0,
        right=estimate(0.04 + 0.96 * kept),
        chance=0.04,
        bits=estimate(4.6 * kept),
        rank=1 + 12 * (1 - kept),
        seconds=2.0,
    )


def task_row(one: Setting, name: str, jitter: float = 0.0) -> TaskRow:
    """Return what a task is worth behind a setting."""
    main, undefended, half, cases = TASKS[name]
    ratio = 0.0 if one.readings is None else one.readings.noise_ratio
    score = undefended if ratio == 0 else min(undefended, undefended / (1 + (ratio / half) ** 2.2) + jitter)
    scores = {main: score} if name == "neighbors" else {main: score, f"second {main}": 0.96 * score}
    return TaskRow(setting=one, task=name, main=main, scores=scores, protected="both", cases=cases, seconds=6.0)


def sheet_row(one: Setting) -> SheetRow:
    """Return the guarantee sheet of a veil at a setting's budget."""
    assert one.readings is not None
    sheet = made_veil(dimensions=384).guarantee(epsilon=one.readings.epsilon)
    return SheetRow(setting=one, text=sheet.body, warnings=sheet.warnings)
