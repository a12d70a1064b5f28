"""redact, then embed, then protect: Presidio takes names out of the text, the veil hides what context tells."""

import vecveil as vv

guard = vv.Guard("patients.veil", noise_ratio=0.5, key="patients.key", ledger="default")
people = vv.presidio("PERSON", "EMAIL_ADDRESS")
notes = [
    "Mary Miller was seen on the ward, write to mary.miller@example.org.",
    "The lift on the third floor is out of order.",
]
redacted = [people.remove(note) for note in notes]
print(redacted[0])
print(guard.protect_texts(redacted).shape)
