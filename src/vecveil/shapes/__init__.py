"""Shapes: where the noise goes, and the learners that find it out."""

from vecveil.shapes.evidence import Attacker, ContrastPairs, DifferentiableAttack, Evidence, LabeledEmbeddings
from vecveil.shapes.learner import (
    DEFAULT_SHAPE,
    SHAPE_LEARNERS,
    AttackLearner,
    FittedShape,
    PrivateLearner,
    ShapeLearner,
    build_learner,
)
from vecveil.shapes.shape import NoiseShape

__all__ = [
    "DEFAULT_SHAPE",
    "SHAPE_LEARNERS",
    "AttackLearner",
    "Attacker",
    "ContrastPairs",
    "DifferentiableAttack",
    "Evidence",
    "FittedShape",
    "LabeledEmbeddings",
    "NoiseShape",
    "PrivateLearner",
    "ShapeLearner",
    "build_learner",
]
