"""Fine-tuning of a generative attack on protected vectors."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vecveil.attacks.attack import Embed, TrainedAttack, TrainingRun
from vecveil.attacks.checkpoint import Checkpoint
from vecveil.attacks.generation.generative import PRIOR_RATE, SCRATCH_RATE, GenerativeAttack, NetworkTraining
from vecveil.attacks.generation.prior import Prior, load_prior
from vecveil.attacks.training import Schedule, seed_torch
from vecveil.core.digests import array_digest, json_digest, text_digest
from vecveil.core.errors import InvalidInputError

FEWEST_TEXTS = 20
"""Texts below which there is too little to learn a language from."""

WARMUP = 50


def fine_tune(attack: GenerativeAttack, run: TrainingRun, *, embed: Embed | None = None) -> TrainedAttack:
    """Return `attack`, trained on protected vectors from its prior, from pretrained weights or from scratch."""
    for part, kind, fewest in ((run.sample, "training", FEWEST_TEXTS), (run.held_out, "held-out", 1)):
        if len(part) < fewest:
            raise InvalidInputError(f"{attack.name} needs at least {fewest} {kind} texts, got {len(part)}")
    prior = None
    if attack.prior:
        prior = load_prior(Path(attack.prior).expanduser())
        prior.require(attack.name, attack.embedder, run.sample.vectors.shape[1])
        attack = replace(attack, **prior.settings)
    with seed_torch(run.rng, library="transformers"):
        training = FineTuning(
            attack=attack,
            run=run,
            tokenizer=attack.build_tokenizer(run.sample.texts) if prior is None else prior.load_tokenizer(),
            embed=embed,
            prior=prior,
        )
        return attack.train_networks(training)


@dataclass(frozen=True, kw_only=True, eq=False)
class FineTuning(NetworkTraining):
    """A training on protected vectors, from a prior where there is one, with checkpoints where there is a folder."""

    prior: Prior | None

    def initialize(self, network: Any, name: str, *, derived: bool) -> None:
        """Load the prior's weights."""
        # A prior may hold no corrector yet; the inverter's weights are a start too.
        if self.prior is not None and (self.prior.has_network(name) or not derived):
            self.prior.load_network(network, name)
            network.standardize.widen(self.vectors)

    def options(self, name: str, *, share: float, derived: bool) -> dict[str, Any]:
        """Return the attack's own options; time is not limited."""
        attack, scratch = self.attack, self.prior is None and self.attack.is_small(name)
        suited = SCRATCH_RATE if scratch else attack.paper_rate if self.prior is None else PRIOR_RATE
        return {
            "schedule": Schedule(
                epochs=attack.epochs,
                learning_rate=suited if attack.learning_rate is None else attack.learning_rate,
                patience=attack.patience,
                warmup=WARMUP,
                decay=True,
            ),
            "checkpoint": self._checkpoint(name),
            "pretrained": derived or not scratch,
            "label": f"training the {name} of {attack.name}",
        }

    def _checkpoint(self, name: str) -> Checkpoint | None:
        if self.run.folder is None:
            return None
        known = {
            "settings": self.attack.settings(),
            "vectors": array_digest(self.run.sample.vectors),
            "texts": [text_digest(text).hex() for text in self.run.sample.texts],
            "start": {} if self.prior is None else dict(self.prior.training),
        }
        return Checkpoint(folder=self.run.folder / name, key=json_digest(known))
