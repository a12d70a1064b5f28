"""Priors: generative attacks trained on public sentences, kept as folders."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecveil.attacks.checkpoint import BEST, fill_module, named_tensors, read_tensors, write_tensors
from vecveil.attacks.generation.tokenizer import TextTokenizer, load_tokenizer
from vecveil.core.atomic import atomic_file, create_folder
from vecveil.core.digests import json_digest
from vecveil.core.errors import ArtifactError, EmbedderMismatchError, InvalidInputError
from vecveil.embedders import Fingerprint

if TYPE_CHECKING:
    import torch

KIND, FORMAT = "prior", 3
MANIFEST, TOKENIZER = "manifest.json", "tokenizer.json"
_FIELDS = ("attack", "settings", "end", "padding", "plan", "training", "finished")
_LIBRARIES = ("vecveil", "torch", "transformers", "tokenizers")


@dataclass(frozen=True, kw_only=True)
class Prior:
    """The folder of a prior: `manifest.json`, `tokenizer.json` and one safetensors file for each network.

    A prior that is still in training can be used too: its networks are then the best so far.

    Attributes:
        folder: Where it is.
        attack: Name of the attack.
        embedder: The embedder whose vectors it reads.
        settings: Sizes of its networks, by name.
        end: The tokenizer's end token.
        padding: The tokenizer's padding token.
        plan: The sentences and settings of its training; going on with another plan is refused.
        training: Steps, time and loss of each network so far.
        finished: Whether all of its networks are trained.
    """

    folder: Path
    attack: str
    embedder: Fingerprint
    settings: Mapping[str, Any]
    end: int
    padding: int
    plan: Mapping[str, Any]
    training: Mapping[str, Any]
    finished: bool = False

    @property
    def key(self) -> str:
        """The key of the checkpoints of its training."""
        return json_digest({"attack": self.attack, "embedder": self.embedder.settings(), "plan": dict(self.plan)})

    def require(self, attack: str, embedder: Fingerprint | None, dimensions: int) -> None:
        """Raise unless this is a prior of that attack for vectors of that embedder."""
        if attack != self.attack:
            raise InvalidInputError(f"{self.folder} is a prior of the attack {self.attack!r}, not of {attack!r}")
        different = embedder is not None and embedder != self.embedder
        if different or dimensions != self.embedder.dimensions:
            theirs = f"vectors of {dimensions} dimensions" if embedder is None else f"{embedder.model!r}"
            raise EmbedderMismatchError(
                f"the prior {self.folder} reads vectors of {self.embedder.model!r} ({self.embedder.dimensions} "
                f"dimensions, revision {self.embedder.revision}), not {theirs}; train one for this embedder"
            )

    def load_tokenizer(self) -> TextTokenizer:
        """Return the tokenizer that its networks were trained with."""
        return load_tokenizer(self.folder / TOKENIZER, end=self.end, padding=self.padding)

    def training_folder(self, network: str) -> Path:
        """Return where the checkpoints of a network in training are."""
        return self.folder / f"training-{network}"

    def has_network(self, network: str) -> bool:
        """Return whether that network is there, finished or in training."""
        return self._find_weights(network) is not None

    def load_network(self, module: torch.nn.Module, network: str) -> None:
        """Copy the weights of that network into `module`."""
        path = self._find_weights(network)
        if path is None:
            raise ArtifactError(f"the prior {self.folder} holds no {network} yet; train it for longer")
        fill_module(module, read_tensors(path)[0])

    def save_network(self, module: torch.nn.Module, network: str) -> None:
        """Write a network whose training is over."""
        write_tensors(self.folder / f"{network}.safetensors", named_tensors(module))

    def save(self, tokenizer: TextTokenizer | None = None) -> None:
        """Write the manifest, and the tokenizer where one is given."""
        create_folder(self.folder.resolve())
        if tokenizer is not None:
            with atomic_file(self.folder / TOKENIZER) as draft:
                tokenizer.save(draft)
        document = {
            "kind": KIND,
            "format": FORMAT,
            "embedder": self.embedder.settings(),
            **{name: getattr(self, name) for name in _FIELDS},
            "versions": {name: _find_version(name) for name in _LIBRARIES},
        }
        with atomic_file(self.folder / MANIFEST) as draft:
            draft.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def _find_weights(self, network: str) -> Path | None:
        places = self.folder / f"{network}.safetensors", self.training_folder(network) / BEST
        return next((path for path in places if path.exists()), None)


def load_prior(folder: Path) -> Prior:
    """Return the prior in `folder`."""
    path = folder / MANIFEST
    if not path.is_file():
        raise ArtifactError(f"there is no prior {folder}: it has no {MANIFEST}")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["kind"] != KIND or document["format"] != FORMAT:
            raise ArtifactError(f"{path} is a {document['kind']} of format {document['format']}, not a {KIND} {FORMAT}")
        embedder = Fingerprint(**document["embedder"])
        return Prior(folder=folder, embedder=embedder, **{name: document[name] for name in _FIELDS})
    except (ValueError, KeyError, TypeError) as error:
        raise ArtifactError(f"{path} can't be read as the manifest of a prior: {error}") from None


def _find_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
