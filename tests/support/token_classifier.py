"""A token classifier that needs no hub: a tiny BERT whose label for a token is looked up."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import BertConfig, BertForTokenClassification


def write_token_classifier(folder: Path, *, labels: Mapping[str, str], positions: int = 16) -> None:
    """Write a tiny BERT whose label for a token is looked up, for tests without a hub.

    Args:
        folder: Where to write it.
        labels: Lower-case token, or `##` and the end of a word, to label such as B-AGE; others get O.
        positions: Number of tokens that the model takes at once.
    """
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *labels]
    names = ["O", *sorted(set(labels.values()))]
    config = BertConfig(
        vocab_size=len(tokens),
        hidden_size=len(names),
        num_hidden_layers=0,
        num_attention_heads=1,
        intermediate_size=1,
        max_position_embeddings=positions,
        id2label=dict(enumerate(names)),
        label2id={name: number for number, name in enumerate(names)},
    )
    build: Any = BertForTokenClassification  # The library gives no types for what its constructor takes.
    network = build(config)
    embeddings = network.bert.embeddings
    one_hot = torch.eye(len(names))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        embeddings.LayerNorm.weight.fill_(1.0)
        network.classifier.weight.copy_(one_hot)
        for number, token in enumerate(tokens):
            embeddings.word_embeddings.weight[number] = one_hot[names.index(labels.get(token, "O"))]
    network.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
