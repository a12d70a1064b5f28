"""Attacks: what someone who got the vectors can read from them. They see protected vectors only."""

from vecveil.attacks.probe import ConceptProbe, ProbeScore

__all__ = ["ConceptProbe", "ProbeScore"]
