"""Checkpoints of a training: tensors and JSON on disk, no code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from safetensors import SafetensorError, safe_open

from vecveil.core.atomic import atomic_file, create_folder
from vecveil.core.errors import ArtifactError

if TYPE_CHECKING:
    import torch

LAST, BEST = "last.safetensors", "best.safetensors"


@dataclass(frozen=True, kw_only=True)
class TrainingState:
    """How far a training is.

    Attributes:
        step: Batches seen.
        best: The best score on held-out data so far.
        best_step: The step at which it was reached.
        waited: Rounds since then.
        seconds: Time spent in training.
    """

    step: int = 0
    best: float = float("-inf")
    best_step: int = 0
    waited: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """The folder of one training.

    Attributes:
        folder: Where its files are; created at the first save, readable by its owner only.
        key: A digest of the training's settings and data; files of another key are refused.
    """

    folder: Path
    key: str

    def save(self, module: torch.nn.Module, optimizer: torch.optim.Optimizer, state: TrainingState) -> None:
        """Write everything that a resumed training needs."""
        tensors = {f"module/{name}": tensor for name, tensor in named_tensors(module).items()}
        for number, moments in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer/{number}/{name}": value for name, value in moments.items()}
        self._write(LAST, tensors, state)

    def save_best(self, module: torch.nn.Module, state: TrainingState) -> None:
        """Write the module as the best so far."""
        self._write(BEST, named_tensors(module), state)

    def load(self, module: torch.nn.Module, optimizer: torch.optim.Optimizer) -> TrainingState:
        """Fill both from the last save and return its state; where there is none, return a fresh state."""
        if not (self.folder / LAST).exists():
            return TrainingState()
        tensors, state = self._read(LAST)
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for name in [name for name in tensors if name.startswith("optimizer/")]:
            _, number, key = name.split("/")
            moments.setdefault(int(number), {})[key] = tensors.pop(name)
        fill_module(module, {name.removeprefix("module/"): value for name, value in tensors.items()})
        optimizer.load_state_dict({**optimizer.state_dict(), "state": moments})
        return state

    def load_best(self, module: torch.nn.Module) -> TrainingState:
        """Fill the module from the best save."""
        tensors, state = self._read(BEST)
        fill_module(module, tensors)
        return state

    def _write(self, name: str, tensors: Mapping[str, torch.Tensor], state: TrainingState) -> None:
        for folder in (self.folder.parent, self.folder):
            create_folder(folder)
        metadata = {"key": self.key, "state": json.dumps(asdict(state))}
        write_tensors(self.folder / name, tensors, metadata=metadata)

    def _read(self, name: str) -> tuple[dict[str, torch.Tensor], TrainingState]:
        path = self.folder / name
        try:
            tensors, metadata = read_tensors(path)
            state = TrainingState(**json.loads(metadata["state"]))
        except (ArtifactError, KeyError, TypeError, ValueError) as error:
            raise ArtifactError(f"{path} can't be read as a checkpoint: {error}; delete it to start anew") from None
        if metadata.get("key") != self.key:
            raise ArtifactError(f"{path} belongs to another training; delete it, or choose another folder")
        return tensors, state


def named_tensors(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return the parameters and buffers of `module` by name, tied ones once, where a state dict names them twice."""
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def fill_module(module: torch.nn.Module, tensors: Mapping[str, torch.Tensor]) -> None:
    """Copy `tensors` into the parameters and buffers of the same names; names and shapes must agree."""
    different = sorted(named_tensors(module).keys() ^ tensors.keys())
    if different:
        raise ArtifactError(f"the checkpoint holds other tensors than the model, first {different[0]!r}")
    try:
        # Not strict, since a state dict has two names for tied tensors.
        module.load_state_dict(tensors, strict=False)
    except RuntimeError as error:
        raise ArtifactError(
            f"the checkpoint holds tensors of other shapes: {str(error).splitlines()[-1].strip()}"
        ) from None


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor], *, metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file, whole or not at all, for its owner alone to read."""
    from safetensors.torch import save_file

    with atomic_file(path) as draft:
        save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, draft, metadata=metadata)


def read_tensors(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """Return the tensors and the metadata of a safetensors file."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in list(file.keys())}, file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise ArtifactError(f"{path} can't be read as weights: {error}") from None
