"""The mechanisms by name."""

from __future__ import annotations

from vecveil.core.registry import Registry
from vecveil.mechanisms.mechanism import Mechanism

MECHANISMS: Registry[type[Mechanism]] = Registry(
    kind="mechanism",
    builtin={
        "laplace": "vecveil.mechanisms.laplace:LaplaceMechanism",
        "mahalanobis": "vecveil.mechanisms.mahalanobis:MahalanobisMechanism",
        "purkayastha": "vecveil.mechanisms.purkayastha:PurkayasthaMechanism",
    },
    group="vecveil.mechanisms",
)
