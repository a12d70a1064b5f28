"""A sentence-transformers model small enough to be made on the spot."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def write_tiny_model(folder: Path, *, normalize: bool = True, seed: int = 0) -> Path:
    """Write an untrained model of 16 dimensions that reads characters, and return its folder.

    Args:
        folder: Where to write it.
        normalize: Whether its vectors have length one.
        seed: Two seeds give two different models.
    """
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizer

    architecture: Any = BertModel  # Its constructor has no types.
    letters = [chr(code) for code in range(33, 127)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=128,
    )
    with TemporaryDirectory() as backbone:
        # The caller's own random numbers go on as if nothing had been drawn.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            architecture(config).save_pretrained(backbone)
        words = {word: number for number, word in enumerate(vocabulary)}
        BertTokenizer(vocab=words, model_max_length=128).save_pretrained(backbone)
        modules = [Transformer(backbone), Pooling(16, pooling_mode="mean"), *([Normalize()] if normalize else [])]
        SentenceTransformer(modules=modules, device="cpu").save(str(folder), create_model_card=False)
    return folder
