"""The picture of docs/shapes.md: noise as a sphere, as an ellipse, and with a direction left out: noise_picture.py OUT.

Two texts that differ in a private word, and one on another subject; 250 releases of each, seed 0.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

from vecveil.audit.defenses import make_veil
from vecveil.embedders import Fingerprint
from vecveil.shapes import ContrastPairs, NoiseShape

RELEASES = 250
POINTS = {"asthma": (-0.55, -0.5), "diabetes": (0.55, -0.5), "a bill": (0.0, 1.1)}
COLORS = ("#b3442f", "#2f6db3", "#4a7d3a")


def main(out: Path) -> None:
    """Draw the picture."""
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "vecveil"
    from matplotlib import pyplot as plt

    shapes = {
        "LapMech: the same in every direction": NoiseShape(variances=np.ones(2)),
        "SPARSE: more along a private dimension": NoiseShape(variances=np.array([1.8, 0.2])),
        "vecveil: the private direction left out": NoiseShape(
            variances=np.array([np.inf, 1.0]), axes=np.eye(2), center=np.zeros(2)
        ),
    }
    points = np.array([*POINTS.values()])
    model = Fingerprint(model="two dimensions", revision="1", dimensions=2, normalized=False)
    pairs = ContrastPairs(points[:2].astype(np.float32), points[1:].astype(np.float32))
    figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.7), sharex=True, sharey=True)
    for panel, (title, shape) in zip(panels, shapes.items(), strict=True):
        veil, rng = make_veil(shape, pairs, model), np.random.default_rng(0)
        for (name, point), color in zip(POINTS.items(), COLORS, strict=True):
            released = veil.perturb(np.tile(np.array(point), (RELEASES, 1)), noise_ratio=0.45, rng=rng, ledger="none")
            panel.scatter(*released.T, s=5, alpha=0.3, color=color, linewidths=0, rasterized=True)
            panel.annotate(
                name, point, xytext=(0, -30), textcoords="offset points", color=color, weight="bold", ha="center"
            )
        panel.set_title(title, fontsize=11)
        panel.set(xticks=[], yticks=[], xlim=(-2, 2), ylim=(-2, 2.2), aspect="equal")
    figure.supxlabel("the direction in which the private words differ", fontsize=10)
    figure.supylabel("everything else", fontsize=10)
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    figure.savefig(out, dpi=160, metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
