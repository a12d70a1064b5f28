"""Published Vec2Text networks, by name on the hub or in a folder."""

import json
from pathlib import Path
from typing import Any

import torch

from vecveil.attacks.checkpoint import read_tensors
from vecveil.attacks.generation.corrector import Corrector
from vecveil.attacks.generation.inverter import Inverter, build_t5
from vecveil.attacks.generation.tokenizer import TextTokenizer, load_pretrained_tokenizer
from vecveil.attacks.standardize import Standardize
from vecveil.core.errors import ArtifactError, EmbedderMismatchError


def load_inverter(name: str, dimensions: int) -> Inverter:
    """Return a published inverter for vectors of that length."""
    tensors, positions = _read_network(name, "embedding_transform", dimensions)
    network = Inverter(Standardize.identity(dimensions), _build_matching_t5(tensors), positions=positions)
    _fill(network, tensors, name)
    return network


def load_corrector(name: str, dimensions: int) -> Corrector:
    """Return a published corrector for vectors of that length."""
    tensors, positions = _read_network(name, "embedding_transform_1", dimensions)
    scale = Standardize.identity(dimensions)
    network = Corrector(scale, scale, _build_matching_t5(tensors), positions=positions)
    _fill(network, tensors, name)
    return network


def load_inverter_tokenizer(name: str) -> TextTokenizer:
    """Return the tokenizer of a published network: the one beside it, or that of the T5 it was made from."""
    folder = _find_folder(name)
    if (folder / "tokenizer.json").is_file():
        return load_pretrained_tokenizer(str(folder))
    return load_pretrained_tokenizer(_read_config(folder).get("model_name_or_path", "t5-base"))


def _read_network(name: str, transform: str, dimensions: int) -> tuple[dict[str, torch.Tensor], int]:
    """Return the tensors of a network for vectors of that length, and the positions that it projects them to."""
    folder = _find_folder(name)
    files = sorted(folder.glob("model*.safetensors"))
    if not files:
        raise ArtifactError(
            f"{name!r} holds no model.safetensors; weights in other formats are not read, so convert them"
        )
    # The embedder's own weights lie in the same file; vectors come from elsewhere here.
    tensors = {
        key: value for file in files for key, value in read_tensors(file)[0].items() if not key.startswith("embedder.")
    }
    first = tensors.get(f"{transform}.0.weight")
    if first is None:
        raise ArtifactError(
            f"{name!r} holds no tensor '{transform}.0.weight', so it is no Vec2Text network of that kind"
        )
    if first.shape[1] != dimensions:
        raise EmbedderMismatchError(f"{name!r} reads vectors of {first.shape[1]} dimensions, not of {dimensions}")
    width = tensors["encoder_decoder.shared.weight"].shape[1]
    positions = _read_config(folder).get("num_repeat_tokens") or tensors[f"{transform}.3.weight"].shape[0] // width
    return tensors, int(positions)


def _find_folder(name: str) -> Path:
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=["*.json", "*.safetensors", "*.model"]))
    except (OSError, ValueError) as error:
        raise ArtifactError(f"{name!r} is no folder, and can't be had from the hub: {type(error).__name__}") from None


def _read_config(folder: Path) -> dict[str, Any]:
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ArtifactError(f"{folder / 'config.json'} can't be read: {error}") from None
    return config


def _build_matching_t5(tensors: dict[str, torch.Tensor]) -> Any:
    """Return a T5 of the sizes that the tensors have: a checkpoint names the T5 it was made from, not its sizes."""
    part = "encoder_decoder."
    vocabulary, width = tensors[f"{part}shared.weight"].shape
    first = f"{part}encoder.block.0.layer"
    heads = tensors[f"{first}.0.SelfAttention.relative_attention_bias.weight"].shape[1]
    return build_t5(
        vocab_size=vocabulary,
        d_model=width,
        d_kv=tensors[f"{first}.0.SelfAttention.q.weight"].shape[0] // heads,
        d_ff=tensors[f"{first}.1.DenseReluDense.wi.weight"].shape[0],
        num_layers=_count_blocks(tensors, f"{part}encoder.block."),
        num_decoder_layers=_count_blocks(tensors, f"{part}decoder.block."),
        num_heads=heads,
        decoder_start_token_id=0,
    )


def _count_blocks(tensors: dict[str, torch.Tensor], prefix: str) -> int:
    return 1 + max(int(name.removeprefix(prefix).split(".")[0]) for name in tensors if name.startswith(prefix))


def _fill(network: torch.nn.Module, tensors: dict[str, torch.Tensor], name: str) -> None:
    missing, _ = network.load_state_dict(tensors, strict=False)
    # Copies of the word embeddings are not always written out, and are one tensor here.
    known = ("standardize", "encoder_decoder.encoder.embed_tokens", "encoder_decoder.decoder.embed_tokens")
    lost = [key for key in missing if not key.startswith((*known, "encoder_decoder.lm_head"))]
    if lost:
        raise ArtifactError(f"{name!r} lacks the tensor {lost[0]!r}")
