from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from vecveil.attacks.checkpoint import BEST, LAST, Checkpoint, TrainingState, fill_module, named_tensors
from vecveil.core.errors import ArtifactError

STATE = TrainingState(step=7, best=0.5, best_step=4, waited=3, seconds=1.5)


class Tied(torch.nn.Module):
    """Two layers with one weight, as language models tie their first and last, and a buffer."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.first = torch.nn.Linear(4, 4)
        self.last = torch.nn.Linear(4, 4, bias=False)
        self.first.weight = torch.nn.Parameter(torch.randn(4, 4, generator=generator))
        self.first.bias = torch.nn.Parameter(torch.randn(4, generator=generator))
        self.last.weight = self.first.weight
        self.register_buffer("scale", torch.randn(4, generator=generator))

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        scaled: torch.Tensor = self.last(self.first(vectors)) * self.scale
        return scaled


def optimizer_of(module: torch.nn.Module) -> torch.optim.Optimizer:
    return torch.optim.Adam(module.parameters(), lr=0.1)


def stepped(seed: int, steps: int) -> tuple[Tied, torch.optim.Optimizer]:
    module = Tied(seed)
    optimizer = optimizer_of(module)
    for _ in range(steps):
        step(module, optimizer)
    return module, optimizer


def step(module: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    torch.autograd.backward(module(torch.ones(2, 4)).square().sum())
    optimizer.step()


def same(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    mine, yours = one.state_dict(), other.state_dict()
    return mine.keys() == yours.keys() and all(torch.equal(mine[name], yours[name]) for name in mine)


@pytest.fixture
def kept(tmp_path: Path) -> Checkpoint:
    return Checkpoint(folder=tmp_path / "kept", key="a training")


def test_where_nothing_was_kept_a_training_starts_at_the_start(kept: Checkpoint) -> None:
    module, optimizer = stepped(0, 0)
    assert kept.load(module, optimizer) == TrainingState()
    assert same(module, Tied(0))
    assert not kept.folder.exists()


def test_everything_comes_back(kept: Checkpoint) -> None:
    module, optimizer = stepped(0, 3)
    kept.save(module, optimizer, STATE)
    other, its_optimizer = stepped(1, 0)
    assert kept.load(other, its_optimizer) == STATE
    assert same(module, other)


def test_the_optimizers_memory_comes_back(kept: Checkpoint) -> None:
    """Adam's next step depends on the steps before: without its moments it would go elsewhere."""
    module, optimizer = stepped(0, 3)
    kept.save(module, optimizer, STATE)
    other, its_optimizer = stepped(1, 0)
    kept.load(other, its_optimizer)
    forgetful = Tied(2)
    fill_module(forgetful, named_tensors(module))
    step(module, optimizer)
    step(other, its_optimizer)
    step(forgetful, optimizer_of(forgetful))
    assert same(module, other)
    assert not same(module, forgetful)


def test_tied_weights_are_kept_once_and_stay_tied(kept: Checkpoint) -> None:
    module, _ = stepped(0, 1)
    assert set(named_tensors(module)) == {"first.weight", "first.bias", "scale"}
    kept.save_best(module, STATE)
    other = Tied(1)
    kept.load_best(other)
    assert same(module, other)
    assert other.last.weight is other.first.weight


def test_the_best_is_kept_beside_the_last(kept: Checkpoint) -> None:
    module, optimizer = stepped(0, 1)
    best = Tied(9)
    fill_module(best, named_tensors(module))
    kept.save_best(module, STATE)
    step(module, optimizer)
    kept.save(module, optimizer, STATE)
    other = Tied(1)
    assert kept.load_best(other) == STATE
    assert same(best, other)
    kept.load(other, optimizer_of(other))
    assert same(module, other)


def test_only_the_owner_may_read(kept: Checkpoint) -> None:
    module, optimizer = stepped(0, 1)
    kept.save(module, optimizer, STATE)
    kept.save_best(module, STATE)
    assert stat.S_IMODE(kept.folder.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in kept.folder.iterdir()} == {
        LAST: 0o600,
        BEST: 0o600,
    }


def test_a_checkpoint_of_another_training_is_refused(kept: Checkpoint) -> None:
    module, optimizer = stepped(0, 1)
    kept.save(module, optimizer, STATE)
    kept.save_best(module, STATE)
    other = Checkpoint(folder=kept.folder, key="another training")
    with pytest.raises(ArtifactError, match=r"last\.safetensors belongs to another training; delete it, or choose"):
        other.load(module, optimizer)
    with pytest.raises(ArtifactError, match=r"best\.safetensors belongs to another training"):
        other.load_best(module)


def test_a_file_without_a_key_is_refused(kept: Checkpoint) -> None:
    kept.folder.mkdir()
    save_file(named_tensors(Tied(0)), kept.folder / BEST, metadata={"state": "{}"})
    with pytest.raises(ArtifactError, match="belongs to another training"):
        kept.load_best(Tied(0))


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xff" * 64])
def test_a_broken_file_is_named(kept: Checkpoint, content: bytes) -> None:
    kept.folder.mkdir()
    (kept.folder / LAST).write_bytes(content)
    with pytest.raises(ArtifactError, match=r"last\.safetensors can't be read as a checkpoint: .*; delete it to start"):
        kept.load(*stepped(0, 0))


@pytest.mark.parametrize("metadata", [None, {"state": "[1, 2]"}, {"state": '{"steps": 3}'}, {"state": "{"}])
def test_a_file_with_another_state_is_named(kept: Checkpoint, metadata: dict[str, str] | None) -> None:
    kept.folder.mkdir()
    save_file(named_tensors(Tied(0)), kept.folder / LAST, metadata=metadata)
    with pytest.raises(ArtifactError, match=r"last\.safetensors can't be read as a checkpoint"):
        kept.load(*stepped(0, 0))


def test_a_missing_best_is_named(kept: Checkpoint) -> None:
    with pytest.raises(ArtifactError, match=r"best\.safetensors can't be read as a checkpoint"):
        kept.load_best(Tied(0))


def test_other_tensors_and_other_shapes_are_refused_by_name() -> None:
    tensors: dict[str, Any] = {name: value.detach() for name, value in named_tensors(Tied(0)).items()}
    with pytest.raises(ArtifactError, match="holds other tensors than the model, first 'scale'"):
        fill_module(Tied(1), {name: value for name, value in tensors.items() if name != "scale"})
    with pytest.raises(ArtifactError, match=r"tensors of other shapes: size mismatch for scale: .*\[3\].*\[4\]"):
        fill_module(Tied(1), {**tensors, "scale": torch.ones(3)})


def test_a_write_that_fails_leaves_what_was_there(kept: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    module, optimizer = stepped(0, 1)
    kept.save(module, optimizer, STATE)
    before = (kept.folder / LAST).read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("safetensors.torch.save_file", full)
    with pytest.raises(ArtifactError, match="no space left"):
        kept.save(module, optimizer, STATE)
    assert (kept.folder / LAST).read_bytes() == before
