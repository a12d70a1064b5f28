"""A prior: a generative attack that learned one embedder's vectors from public sentences, kept as a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecveil.attacks.generation.tokeniser import Tokeniser, load_tokeniser
from vecveil.attacks.training.checkpoint import BEST, fill, tensors_of
from vecveil.core.digests import json_digest
from vecveil.core.errors import ArtifactError, EmbedderMismatchError, InvalidInputError
from vecveil.embedders import Fingerprint

if TYPE_CHECKING:
    import torch

KIND, FORMAT = "prior", 3
MANIFEST, TOKENISER = "manifest.json", "tokenizer.json"
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
        end: The tokeniser's end token.
        padding: The tokeniser's padding token.
        plan: What it is trained on and how; going on with another plan is refused.
        training: What came of it so far, for each network.
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
        """What the checkpoints of its training are known by."""
        return json_digest({"attack": self.attack, "embedder": self.embedder.settings(), "plan": dict(self.plan)})

    def tokeniser(self) -> Tokeniser:
        """Return the tokeniser that its networks were trained with."""
        return load_tokeniser(self.folder / TOKENISER, end=self.end, padding=self.padding)

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

    def holds(self, network: str) -> bool:
        """Return whether that network is there, finished or in training."""
        return any(path.exists() for path in self._places(network))

    def fill(self, module: torch.nn.Module, network: str) -> None:
        """Copy the weights of that network into `module`."""
        path = next((path for path in self._places(network) if path.exists()), None)
        if path is None:
            raise ArtifactError(f"the prior {self.folder} holds no {network} yet; train it for longer")
        fill(module, _read_tensors(path))

    def training_folder(self, network: str) -> Path:
        """Return where the checkpoints of a network in training are."""
        return self.folder / f"training-{network}"

    def finish(self, module: torch.nn.Module, network: str) -> None:
        """Write a trained network whole."""
        from safetensors.torch import save_file

        draft = self.folder / f".{network}.draft"
        save_file({name: tensor.detach().contiguous() for name, tensor in tensors_of(module).items()}, draft)
        draft.replace(self.folder / f"{network}.safetensors")

    def write(self, tokeniser: Tokeniser | None = None) -> None:
        """Write the manifest, and the tokeniser where one is given."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if tokeniser is not None:
            tokeniser.save(self.folder / TOKENISER)
        document = {
            "kind": KIND,
            "format": FORMAT,
            "attack": self.attack,
            "embedder": self.embedder.settings(),
            "settings": dict(self.settings),
            "end": self.end,
            "padding": self.padding,
            "plan": dict(self.plan),
            "training": dict(self.training),
            "finished": self.finished,
            "versions": {name: _version(name) for name in _LIBRARIES},
        }
        draft = self.folder / f".{MANIFEST}.draft"
        draft.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        draft.replace(self.folder / MANIFEST)

    def _places(self, network: str) -> tuple[Path, Path]:
        return self.folder / f"{network}.safetensors", self.training_folder(network) / BEST


def load_prior(folder: Path) -> Prior:
    """Return the prior that lies in `folder`."""
    path = folder / MANIFEST
    if not path.is_file():
        raise ArtifactError(f"there is no prior {folder}: it has no {MANIFEST}")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["kind"] != KIND or document["format"] != FORMAT:
            raise ArtifactError(f"{path} is a {document['kind']} of format {document['format']}, not a {KIND} {FORMAT}")
        return Prior(
            folder=folder,
            attack=document["attack"],
            embedder=Fingerprint(**document["embedder"]),
            settings=document["settings"],
            end=document["end"],
            padding=document["padding"],
            plan=document["plan"],
            training=document["training"],
            finished=document["finished"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ArtifactError(f"{path} can't be read as the manifest of a prior: {error}") from None


def _read_tensors(path: Path) -> dict[str, torch.Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise ArtifactError(f"{path} can't be read as weights: {error}") from None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
