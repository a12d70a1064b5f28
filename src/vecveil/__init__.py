"""vecveil: private text embeddings.

Name what is private, learn which directions of an embedding model carry it, and protect vectors with noise of a
stated guarantee. The directions that carry the concept are not released; the others get noise.

    >>> import vecveil as vv
    >>> from vecveil.samples import clinical_sentences, concept_path
    >>> texts = [sentence.text for sentence in clinical_sentences(300)]
    >>> concept = vv.load_concept(concept_path())  # or vv.terms("asthma", "diabetes") | vv.entities("PERSON")
    >>> veil = vv.learn(concept, texts, embedder="minilm", noise_ratio=0.5)
    >>> safe = veil.protect(texts)  # texts in, protected vectors out
    >>> safe.shape
    (300, 384)
    >>> print(veil.guarantee().guarantee.metric)
    Mahalanobis distance

Public names are listed in `__init__.pyi` and loaded when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
del lazy_loader
