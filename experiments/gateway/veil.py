"""Write a veil for the vectors of the stub: veil.py FOLDER."""

from __future__ import annotations

import sys

import numpy as np

from vecveil.embedders import Fingerprint
from vecveil.shapes import NoiseShape
from vecveil.veil import Veil
from vecveil.veil.budget import TypicalLengths
from vecveil.veil.provenance import Provenance

DIMENSIONS, RELEASED = 384, 320

axes, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((DIMENSIONS, DIMENSIONS)))
variances = np.ones(DIMENSIONS)
variances[RELEASED:] = np.inf
Veil(
    shape=NoiseShape(variances=variances, axes=axes, center=np.zeros(DIMENSIONS)),
    mechanism="mahalanobis",
    fingerprint=Fingerprint(model="stub", revision="1", dimensions=DIMENSIONS, normalized=True),
    typical=TypicalLengths(signal=1.0, pair=0.5, euclidean_pair=0.4, high_pair=0.9),
    provenance=Provenance(
        concept={"kind": "terms", "terms": 1},
        contrast="removal",
        pairs=20,
        embedder=None,
        learner={"name": "made-up"},
        facts={},
        seed=0,
    ),
).save(sys.argv[1], overwrite=True)
