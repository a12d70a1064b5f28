"""What a reader must know beside the figures."""

from __future__ import annotations

from collections.abc import Mapping

TITLES: Mapping[str, str] = {
    "start": "Beginning",
    "noise": "Noise in batches",
    "single": "One vector at a time",
    "files": "Parquet files",
    "memory": "Memory",
    "learning": "Shapes in closed form",
    "training": "The paper's mask",
    "embedding": "Embedding",
}

REMARKS: Mapping[str, tuple[str, ...]] = {
    "start": (
        "Names of the package are loaded when they are first used; with the first of them come NumPy and most of "
        "the rest. The loops that make noise are loaded with the first noise of a process. They have been compiled "
        "before; the first time on a machine takes some seconds more.",
    ),
    "noise": (
        "768 dimensions, cryptographic randomness, every core, through `veil.perturb`: vectors are checked, "
        "protected and rounded to the grid. Drawing the normals is what our noise is made of, by the same cipher "
        "and on the same cores, and without all the rest.",
        "The paper prints Algorithm 1 with a product by a matrix Σ^½; with its diagonal alone, one vector at a "
        "time is several times as fast, and both are here.",
        "Noise that differs along all axes of a rotated shape is a product with a matrix for each vector, which is "
        "timed alone too: it takes several times as long as diagonal noise does in all. It is done in double "
        "precision, as half of a product, since the matrix is a triangle; why not in single precision is told in "
        "[decision 15](decisions/0015-noise-from-numbered-blocks.md). A shape of n axes is made of n(n + 1)/2 numbers, "
        "and each vector meets all of them: no root of Σ that we know takes less work.",
        "What the default's shape leaves out of a vector is found and taken away by two products, in double precision. "
        "Those of NumPy's library are timed alone too; ours are loops over four vectors and four axes at a time, which "
        "stay near meanwhile ([decision 16](decisions/0016-compiled-loops.md)).",
        "Of drawing, a third goes into the cipher and most of the rest into logarithms and angles. Normals that are "
        "drawn alone are double numbers, twice as many bytes as a release, and so may take longer than one.",
        "Keyed noise depends on the content of a vector. What it costs more is mostly the digest of that, which is "
        "timed alone too.",
        "ironcore-alloy encrypts: it hides vectors from whoever has no key, and protects nothing from whoever has "
        "one. The two go together ([recipes](how-to/recipes.md)).",
    ),
    "single": (
        "With fresh randomness: each call has a key of its own from the operating system. Most of the time goes into "
        "Python and into making a cipher, not into numbers.",
    ),
    "files": (
        "In and out are Parquet with 768 numbers a vector; the copy is made by pyarrow with its defaults. Without "
        "a ledger the file is read once; with one it is read three times, so that nothing is spent on a run that "
        "can't be finished, and parts are kept for a run that is stopped.",
    ),
    "training": (
        "The plain loop is automatic differentiation, a data loader and Adam. Ours has its gradients written out, in "
        "memory that is used again, and Adam in one piece, and leaves out a product that nothing needs "
        "([decision 17](decisions/0017-the-mask-is-learned-without-torch.md)). The matrix products that it can't do "
        "without are the same as in the plain loop, in single precision: a loop of them alone is as many times as "
        "fast as the plain one as is said above, by NumPy's products or by PyTorch's, whichever are faster.",
    ),
    "embedding": (
        "ONNX Runtime was tried by hand and is not in this run: in single precision it was slower than OpenVINO in "
        "bfloat16, and with whole numbers of 8 bits its vectors were too far off.",
    ),
    "growth": (
        "A straight line has the power in the last column as its slope, taken from the larger half of the sizes. Noise "
        "grows with the length of vectors and with their number, rotated noise with the square of the length where all "
        "axes differ. What bends the lines: small batches pay for calls and threads, whatever their size. Ten million "
        "vectors at once are 2.6 GB in and as much out, and new memory from the system is dear; a file, which is "
        "protected in parts, doesn't pay that. Learning `canonical` spends its time on searches among a fixed number "
        "of texts until there are tens of thousands of pairs.",
    ),
}
