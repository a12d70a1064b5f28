"""Leakage, confidence and utility over epsilon: the paper's main table."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from reproduction.defenses import TITLES, DefenseName
from reproduction.grid import EPSILONS, NOISES, Request, budgets, measure
from reproduction.lab import Lab
from reproduction.plots import new_figure
from reproduction.result import PaperResult


def trade_off(lab: Lab, experiment: str, title: str, datasets: tuple[str, ...]) -> PaperResult:
    """Return the table for some data sets, with a plot of leakage against utility for each of them."""
    requests = []
    for name in datasets:
        requests.append(
            Request(keys=_keys(name, "inf", "none"), dataset=name, defense=DefenseName(name="none"), scale="")
        )
        requests += [
            Request(
                keys=_keys(name, f"{budget.value:g}", defense),
                dataset=name,
                defense=DefenseName(name=defense, budget=budget),
                scale=budget.scale,
            )
            for budget in budgets(lab, EPSILONS)
            for defense in NOISES
        ]
    result = measure(lab, experiment, title, requests)
    plots = {f"{experiment}-{name}": partial(_plot, result, name) for name in datasets if _has(result, name)}
    return replace(result, plots=plots)


def _keys(name: str, epsilon: str, defense: str) -> dict[str, str]:
    return {"dataset": name, "epsilon": epsilon, "defense": defense}


def _has(result: PaperResult, name: str) -> bool:
    return any(row.keys["dataset"] == name and row.ours is not None for row in result.rows)


def _plot(result: PaperResult, name: str) -> Any:
    """Return leakage over utility on the paper's scale, ours as lines and the paper's as crosses."""
    figure, axes = new_figure(1)
    axis = axes[0]
    for number, defense in enumerate(NOISES):
        chosen = [row for row in result.rows if row.keys["dataset"] == name and row.keys["defense"] == defense]
        points = {
            metric: {row.keys["epsilon"]: row for row in chosen if row.metric == metric and row.scale == "paper"}
            for metric in ("leakage", "utility")
        }
        shared = [one for one in points["leakage"] if one in points["utility"]]
        for part, style in (("ours", "o-"), ("paper", "x:")):
            pairs = [(getattr(points["utility"][one], part), getattr(points["leakage"][one], part)) for one in shared]
            known = [pair for pair in pairs if None not in pair]
            if known:
                label = TITLES[defense] + ("" if part == "ours" else ", the paper's")
                axis.plot(*zip(*known, strict=True), style, color=f"C{number}", label=label)
    axis.set_xlabel("utility, %")
    axis.set_ylabel("leakage, %")
    axis.set_title(name)
    axis.grid(alpha=0.3)
    axis.legend()
    return figure
