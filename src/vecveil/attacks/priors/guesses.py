"""An inverter's guesses at public sentences, for the corrector of a prior to learn from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from vecveil.attacks.generation.conditions import noisy
from vecveil.attacks.generation.guesses import Guesses, embedded_guesses
from vecveil.attacks.generation.reading import Reader
from vecveil.attacks.priors.lesson import PublicLesson

if TYPE_CHECKING:
    import torch

    from vecveil.attacks.generation.inverter import Inverter

FILE = "guesses.json"


def public_guesses(lesson: PublicLesson, inverter: Inverter, folder_name: str, *, most: int) -> tuple[Guesses, Guesses]:
    """Return the guesses at the first `most` sentences of a lesson, and at its held-out ones.

    Making them takes minutes, so they are kept beside the checkpoints until the prior is finished.
    """
    held = len(lesson.held_texts)
    path = lesson.prior.training_folder(folder_name) / FILE
    if path.exists():
        texts = json.loads(path.read_text(encoding="utf-8"))
    else:
        reader = Reader(tokeniser=lesson.tokeniser, vocabulary=(), max_tokens=lesson.max_tokens, beams=1)
        texts = [
            text
            for vectors in (lesson.held_vectors, lesson.vectors[:most])
            for text in reader.texts(inverter, noisy(vectors, 0.0), len(vectors), progress=lesson.progress)
        ]
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{FILE}.draft")
        draft.write_text(json.dumps(texts), encoding="utf-8")
        draft.replace(path)
    return _embedded(lesson, texts[held:], lesson.vectors[:most]), _embedded(lesson, texts[:held], lesson.held_vectors)


def _embedded(lesson: PublicLesson, texts: list[str], vectors: torch.Tensor) -> Guesses:
    return embedded_guesses(texts, vectors.numpy(), lesson.embed, lesson.tokeniser, longest=lesson.max_tokens)
