"""Attacks that recover private words from protected vectors."""

from vecveil.attacks.attack import ATTACKS, Attack, Recovery, Sample, TrainedAttack, TrainingRun, build_attack
from vecveil.attacks.denoiser import WienerFilter
from vecveil.attacks.probe import ConceptProbe, ProbeScore

__all__ = [
    "ATTACKS",
    "Attack",
    "ConceptProbe",
    "ProbeScore",
    "Recovery",
    "Sample",
    "TrainedAttack",
    "TrainingRun",
    "WienerFilter",
    "build_attack",
]
