"""A training kept on disk, so that one that was stopped goes on where it was: tensors and JSON, nothing that runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from safetensors import SafetensorError

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
        best_step: When it was reached.
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
        folder: Where its files are; made when the first of them is written, readable by its owner only.
        key: What is trained on what, as a digest; files of another key are refused.
    """

    folder: Path
    key: str

    def save(self, module: torch.nn.Module, optimiser: torch.optim.Optimizer, state: TrainingState) -> None:
        """Keep everything that going on needs."""
        tensors = {f"module/{name}": tensor for name, tensor in tensors_of(module).items()}
        for number, moments in optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser/{number}/{name}": value for name, value in moments.items()}
        self._write(LAST, tensors, asdict(state))

    def save_best(self, module: torch.nn.Module, state: TrainingState) -> None:
        """Keep the module as the best so far."""
        self._write(BEST, tensors_of(module), asdict(state))

    def load(self, module: torch.nn.Module, optimiser: torch.optim.Optimizer) -> TrainingState:
        """Fill both with what was kept and return how far it was; the very start where nothing was."""
        if not (self.folder / LAST).exists():
            return TrainingState()
        tensors, state = self._read(LAST)
        fill(module, {name.removeprefix("module/"): value for name, value in tensors.items() if name[0] == "m"})
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith("optimiser/"):
                _, number, key = name.split("/")
                moments.setdefault(int(number), {})[key] = value
        optimiser.load_state_dict({**optimiser.state_dict(), "state": moments})
        return state

    def load_best(self, module: torch.nn.Module) -> TrainingState:
        """Fill the module with the best that was kept."""
        tensors, state = self._read(BEST)
        fill(module, tensors)
        return state

    def _write(self, name: str, tensors: dict[str, torch.Tensor], state: dict[str, float]) -> None:
        from safetensors.torch import save_file

        for folder in (self.folder.parent, self.folder):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = self.folder / f".{name}.draft"
        draft.touch(mode=0o600)
        held = {key: tensor.detach().contiguous() for key, tensor in tensors.items()}
        save_file(held, draft, metadata={"key": self.key, "state": json.dumps(state)})
        draft.replace(self.folder / name)

    def _read(self, name: str) -> tuple[dict[str, torch.Tensor], TrainingState]:
        from safetensors import safe_open

        path = self.folder / name
        try:
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                tensors = {key: file.get_tensor(key) for key in list(file.keys())}
            state = TrainingState(**json.loads(metadata["state"]))
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise ArtifactError(f"{path} can't be read as a checkpoint: {error}; delete it to start anew") from None
        if metadata.get("key") != self.key:
            raise ArtifactError(f"{path} belongs to another training; delete it, or choose another folder")
        return tensors, state


def tensors_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return the parameters and buffers of `module` by name, tied ones once, where a state dict names them twice."""
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def fill(module: torch.nn.Module, tensors: Mapping[str, torch.Tensor]) -> None:
    """Copy `tensors` into the parameters and buffers of those names; they must be the same names and shapes."""
    import torch

    held = tensors_of(module)
    if held.keys() != tensors.keys():
        different = sorted(held.keys() ^ tensors.keys())
        raise ArtifactError(f"the checkpoint holds other tensors than the model, first {different[0]!r}")
    with torch.no_grad():
        for name, tensor in held.items():
            if tensor.shape != tensors[name].shape:
                raise ArtifactError(
                    f"tensor {name!r} of the checkpoint has shape {tuple(tensors[name].shape)}, the model needs "
                    f"{tuple(tensor.shape)}"
                )
            tensor.copy_(tensors[name])
