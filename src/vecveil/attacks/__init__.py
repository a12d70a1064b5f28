"""Attacks: what someone who got the vectors can read from them. They see protected vectors only."""

from vecveil.attacks.attack import Attack, Recovery, Sample, TrainedAttack
from vecveil.attacks.denoiser import WienerFilter
from vecveil.attacks.probe import ConceptProbe, ProbeScore
from vecveil.attacks.registry import ATTACKS, build_attack

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
