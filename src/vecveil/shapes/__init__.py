"""Shapes: where the noise goes, and the learners that find it out."""

from vecveil.shapes.evidence import Attacker, ContrastPairs, DifferentiableAttack, Evidence, LabeledEmbeddings
from vecveil.shapes.learner import AttackLearner, FittedShape, PrivateLearner, ShapeLearner
from vecveil.shapes.registry import SHAPE_LEARNERS, build_learner
from vecveil.shapes.shape import NoiseShape

__all__ = [
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
