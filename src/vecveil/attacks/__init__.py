"""Attacks that recover private words from protected vectors."""

from vecveil.attacks.attack import ATTACKS, Attack, Recovery, Sample, TrainedAttack, build_attack
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
    "WienerFilter",
    "build_attack",
]
