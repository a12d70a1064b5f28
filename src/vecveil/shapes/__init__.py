"""Shapes: where the noise goes, and the learners that find it out."""

from vecveil.shapes.attacker import Attacker, DifferentiableAttack
from vecveil.shapes.corpus import LabelledCorpus, WordedVectors
from vecveil.shapes.learner import AdversarialLearner, CorpusLearner, FittedShape, ShapeLearner
from vecveil.shapes.pairs import ContrastPairs
from vecveil.shapes.registry import SHAPE_LEARNERS, build_learner
from vecveil.shapes.shape import NoiseShape

__all__ = [
    "SHAPE_LEARNERS",
    "AdversarialLearner",
    "Attacker",
    "ContrastPairs",
    "CorpusLearner",
    "DifferentiableAttack",
    "FittedShape",
    "LabelledCorpus",
    "NoiseShape",
    "ShapeLearner",
    "WordedVectors",
    "build_learner",
]
