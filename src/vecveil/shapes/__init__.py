"""Shapes: where the noise goes, and the learners that find it out."""

from vecveil.shapes.attacker import Attacker, DifferentiableAttack
from vecveil.shapes.learner import AdversarialLearner, FittedShape, ShapeLearner
from vecveil.shapes.pairs import ContrastPairs
from vecveil.shapes.registry import SHAPE_LEARNERS, build_learner
from vecveil.shapes.shape import NoiseShape

__all__ = [
    "SHAPE_LEARNERS",
    "AdversarialLearner",
    "Attacker",
    "ContrastPairs",
    "DifferentiableAttack",
    "FittedShape",
    "NoiseShape",
    "ShapeLearner",
    "build_learner",
]
