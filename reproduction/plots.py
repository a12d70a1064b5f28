"""Figures by matplotlib, without a window."""

from __future__ import annotations

from typing import Any

from vecveil.core.errors import MissingExtraError


def new_figure(panels: int, *, size: tuple[float, float] = (7.0, 4.5)) -> tuple[Any, list[Any]]:
    """Return a figure and its panels, from left to right."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "research") from None
    figure = Figure(figsize=(size[0] * panels, size[1]), layout="constrained")
    axes: Any = figure.subplots(1, panels, squeeze=False)
    return figure, list(axes[0])
