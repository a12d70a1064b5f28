"""Shapes: where the noise goes, and the learners that find it out."""

from vecveil.shapes.learner import FittedShape, ShapeLearner
from vecveil.shapes.pairs import ContrastPairs
from vecveil.shapes.registry import SHAPE_LEARNERS, build_learner
from vecveil.shapes.shape import NoiseShape

__all__ = ["SHAPE_LEARNERS", "ContrastPairs", "FittedShape", "NoiseShape", "ShapeLearner", "build_learner"]
