"""Leakage, confidence and utility over epsilon: the paper's main table, and the same on more data sets."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from vecveil.reproduce.defences import TITLES, DefenceName
from vecveil.reproduce.finding import Finding
from vecveil.reproduce.grid import EPSILONS, NOISES, Request, budgets, measured
from vecveil.reproduce.lab import Lab
from vecveil.reproduce.plots import new_figure


def trade_off(lab: Lab, experiment: str, title: str, datasets: tuple[str, ...]) -> Finding:
    """Return the table for some data sets, with a plot of leakage against utility for each of them."""
    requests = []
    for name in datasets:
        requests.append(
            Request(keys=_keys(name, "inf", "none"), dataset=name, defence=DefenceName(name="none"), scale="")
        )
        requests += [
            Request(
                keys=_keys(name, f"{budget.value:g}", defence),
                dataset=name,
                defence=DefenceName(name=defence, budget=budget),
                scale=budget.scale,
            )
            for budget in budgets(lab, EPSILONS)
            for defence in NOISES
        ]
    finding = measured(lab, experiment, title, requests)
    plots = {f"{experiment}-{name}": partial(_plot, finding, name) for name in datasets if _has(finding, name)}
    return replace(finding, plots=plots)


def _keys(name: str, epsilon: str, defence: str) -> dict[str, str]:
    return {"dataset": name, "epsilon": epsilon, "defence": defence}


def _has(finding: Finding, name: str) -> bool:
    return any(row.keys["dataset"] == name and row.ours is not None for row in finding.rows)


def _plot(finding: Finding, name: str) -> Any:
    """Return leakage over utility on the paper's scale, ours as lines and the paper's as crosses."""
    figure, axes = new_figure(1)
    axis = axes[0]
    for number, defence in enumerate(NOISES):
        chosen = [row for row in finding.rows if row.keys["dataset"] == name and row.keys["defence"] == defence]
        points = {
            metric: {row.keys["epsilon"]: row for row in chosen if row.metric == metric and row.scale == "paper"}
            for metric in ("leakage", "utility")
        }
        shared = [one for one in points["leakage"] if one in points["utility"]]
        for part, style in (("ours", "o-"), ("paper", "x:")):
            pairs = [(getattr(points["utility"][one], part), getattr(points["leakage"][one], part)) for one in shared]
            known = [pair for pair in pairs if None not in pair]
            if known:
                label = TITLES[defence] + ("" if part == "ours" else ", the paper's")
                axis.plot(*zip(*known, strict=True), style, color=f"C{number}", label=label)
    axis.set_xlabel("utility, %")
    axis.set_ylabel("leakage, %")
    axis.set_title(name)
    axis.grid(alpha=0.3)
    axis.legend()
    return figure
