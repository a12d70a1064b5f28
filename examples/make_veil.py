"""Make what the other examples use: patients.veil, learned on made-up notes, and patients.key."""

from pathlib import Path

import vecveil as vv
from vecveil import samples
from vecveil.core.key import Key
from vecveil.files.key_file import write_key

texts = [sentence.text for sentence in samples.clinical_sentences(600)]
veil = vv.learn(vv.load_concept(samples.concept_path()), texts, embedder="minilm")
veil.save("patients.veil", overwrite=True)
if not Path("patients.key").exists():
    write_key(Key.new(), Path("patients.key"))
