"""Published Vec2Text checkpoints, by name on the hub or in a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecveil.attacks.generation.corrector import Corrector
from vecveil.attacks.generation.decoders import wrapped
from vecveil.attacks.generation.encoder_decoders import encoder_decoder
from vecveil.attacks.generation.inverter import Inverter
from vecveil.attacks.generation.tokeniser import Tokeniser
from vecveil.attacks.standardise import Standardise
from vecveil.core.errors import ArtifactError, EmbedderMismatchError

if TYPE_CHECKING:
    import torch

_WEIGHTS = "model.safetensors"


def published_inverter(name: str, dimensions: int) -> Inverter:
    """Return a published inverter for vectors of that length."""
    config, tensors = _read(name, "embedding_transform.0.weight")
    network = Inverter(
        _unchanged(name, tensors["embedding_transform.0.weight"], dimensions),
        _encoder_decoder(tensors),
        positions=_positions(config, tensors, "embedding_transform"),
    )
    _fill(network, tensors, name)
    return network


def published_corrector(name: str, dimensions: int) -> Corrector:
    """Return a published corrector for vectors of that length."""
    config, tensors = _read(name, "embedding_transform_1.0.weight")
    scale = _unchanged(name, tensors["embedding_transform_1.0.weight"], dimensions)
    network = Corrector(
        scale,
        scale,
        _encoder_decoder(tensors),
        positions=_positions(config, tensors, "embedding_transform_1"),
    )
    _fill(network, tensors, name)
    return network


def published_tokeniser(name: str) -> Tokeniser:
    """Return the tokeniser of a published network: the one beside it, or that of the T5 it was made from."""
    from transformers import AutoTokenizer

    folder = _folder(name)
    beside = (folder / "tokenizer.json").is_file()
    source = str(folder) if beside else _config(folder).get("model_name_or_path", "t5-base")
    try:
        return wrapped(AutoTokenizer.from_pretrained(source), source)
    except (OSError, ValueError) as error:
        raise ArtifactError(
            f"the tokeniser {source!r} of {name!r} can't be loaded: {str(error).splitlines()[0]}"
        ) from None


def _read(name: str, needed: str) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    folder = _folder(name)
    files = sorted(folder.glob("model*.safetensors"))
    if not files:
        raise ArtifactError(f"{name!r} holds no {_WEIGHTS}; weights in other formats are not read, so convert them")
    try:
        tensors = {key: value for file in files for key, value in load_file(file).items()}
    except (OSError, SafetensorError) as error:
        raise ArtifactError(f"the weights of {name!r} can't be read: {error}") from None
    if needed not in tensors:
        raise ArtifactError(f"{name!r} holds no tensor {needed!r}, so it is no Vec2Text network of that kind")
    # The embedder's own weights lie in the same file; vectors come from elsewhere here.
    return _config(folder), {key: value for key, value in tensors.items() if not key.startswith("embedder.")}


def _folder(name: str) -> Path:
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=["*.json", "*.safetensors", "*.model"]))
    except (OSError, ValueError) as error:
        raise ArtifactError(f"{name!r} is no folder, and can't be had from the hub: {type(error).__name__}") from None


def _config(folder: Path) -> dict[str, Any]:
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ArtifactError(f"{folder / 'config.json'} can't be read: {error}") from None
    return config


def _positions(config: dict[str, Any], tensors: dict[str, torch.Tensor], transform: str) -> int:
    width = tensors["encoder_decoder.shared.weight"].shape[1]
    return int(config.get("num_repeat_tokens") or tensors[f"{transform}.3.weight"].shape[0] // width)


def _unchanged(name: str, first: torch.Tensor, dimensions: int) -> Standardise:
    import torch

    if first.shape[1] != dimensions:
        raise EmbedderMismatchError(f"{name!r} reads vectors of {first.shape[1]} dimensions, not of {dimensions}")
    return Standardise(torch.zeros(dimensions), torch.ones(dimensions))


def _encoder_decoder(tensors: dict[str, torch.Tensor]) -> Any:
    """Return a T5 of the sizes that the tensors have: a checkpoint names the T5 it was made from, not its sizes."""
    part = "encoder_decoder."
    vocabulary, width = tensors[f"{part}shared.weight"].shape
    first = f"{part}encoder.block.0.layer"
    heads = tensors[f"{first}.0.SelfAttention.relative_attention_bias.weight"].shape[1]
    return encoder_decoder(
        vocab_size=vocabulary,
        d_model=width,
        d_kv=tensors[f"{first}.0.SelfAttention.q.weight"].shape[0] // heads,
        d_ff=tensors[f"{first}.1.DenseReluDense.wi.weight"].shape[0],
        num_layers=_blocks(tensors, f"{part}encoder.block."),
        num_decoder_layers=_blocks(tensors, f"{part}decoder.block."),
        num_heads=heads,
        decoder_start_token_id=0,
    )


def _blocks(tensors: dict[str, torch.Tensor], start: str) -> int:
    return 1 + max(int(name.removeprefix(start).split(".")[0]) for name in tensors if name.startswith(start))


def _fill(network: torch.nn.Module, tensors: dict[str, torch.Tensor], name: str) -> None:
    missing, _ = network.load_state_dict(tensors, strict=False)
    # Copies of the word embeddings are not always written out, and are one tensor here.
    known = ("standardise", "encoder_decoder.encoder.embed_tokens", "encoder_decoder.decoder.embed_tokens")
    lost = [key for key in missing if not key.startswith((*known, "encoder_decoder.lm_head"))]
    if lost:
        raise ArtifactError(f"{name!r} lacks the tensor {lost[0]!r}")
