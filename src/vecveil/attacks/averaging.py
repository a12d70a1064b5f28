"""Averaging: an attack on the mean of several releases of each record."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from vecveil.attacks.attack import Attack, Embed, TrainedAttack, TrainingRun, build_attack
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError
from vecveil.embedders import Fingerprint


@dataclass(frozen=True, kw_only=True)
class Averaging:
    """Another attack on the mean of k fresh releases of each record, which has 1/√k of the noise of one.

    Attributes:
        releases: k. It is trained on means of as many releases, and reads such means.
        base: The attack that reads the means.
        settings: Settings of that attack.
        embed: Access to the model, passed in by the audit, for a base that can use it.
        embedder: The model that made the vectors, passed in likewise.
    """

    releases: int = 8
    base: str = "mlc"
    settings: Mapping[str, Any] = field(default_factory=dict)
    embed: Embed | None = field(default=None, repr=False)
    embedder: Fingerprint | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        at_least(self.releases, 2, "releases")
        if self.base == "averaging":
            raise InvalidInputError("averaging can't be its own base; name another attack")
        # A command line may pass anything.
        settings: object = self.settings
        if not isinstance(settings, Mapping):
            raise InvalidInputError(f"settings of the base must be names and values, got {settings!r}")
        self._build_base()

    def train(self, run: TrainingRun) -> TrainedAttack:
        """Return the base attack, trained on means."""
        return self._build_base().train(run)

    def _build_base(self) -> Attack:
        attack: Any = build_attack(self.base, self.settings)
        known = {entry.name for entry in fields(attack)}
        access = {"embed": self.embed, "embedder": self.embedder}
        built: Attack = replace(
            attack, **{key: value for key, value in access.items() if value is not None and key in known}
        )
        return built
