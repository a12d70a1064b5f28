"""`vecveil learn`: from a concept and texts to a veil."""

from pathlib import Path
from typing import Any

import click

from vecveil.audit import learn as learn_veil
from vecveil.cli import options
from vecveil.cli.console import progress_bar, say
from vecveil.cli.options import AT_LEAST_ZERO, FILE, flag, list_names, option
from vecveil.cli.show import show_veil
from vecveil.concepts import load_concept
from vecveil.concepts.terms import read_terms
from vecveil.core.errors import InvalidInputError
from vecveil.core.specs import parse_spec
from vecveil.files.folder import require_free
from vecveil.ledger import open_ledger
from vecveil.mechanisms import MECHANISMS
from vecveil.shapes import DEFAULT_SHAPE, SHAPE_LEARNERS
from vecveil.substitutions import SUBSTITUTIONS, Substitution, build_substitution
from vecveil.veil import read_passages
from vecveil.veil.ledger_run import choose_ledger
from vecveil.veil.veil import KIND

PAPER_EPSILON = 10
"""What the next command is shown with where the veil keeps no budget."""


@click.command(short_help="Learn a veil for a concept.")
@click.argument("concept_file", metavar="CONCEPT", type=FILE)
@click.argument("texts_file", metavar="[TEXTS]", type=FILE, required=False)
@option(
    "--public TEXTS",
    "Learn on these texts, which are public or made up, in place of private ones: the veil then tells nothing of "
    "your texts.",
    into="public_file",
)
@option("--out VEIL", "Folder to write the veil to.", required=True)
@options.text_options
@option(
    "--embedder",
    "minilm, mpnet, a sentence-transformers name or folder (openvino: before it is quicker), openai:MODEL[@URL], "
    "precomputed:FILE@MODEL.",
    default="minilm",
)
@option("--shape", list_names("Shape learner", SHAPE_LEARNERS), default=DEFAULT_SHAPE)
@option(
    "--preset",
    "sparse or sparse-wb, the paper's methods to the letter, which keep no budget unless one is named; or "
    "settings of the shape learner: paper (as printed) or working.",
)
@option("--set NAME=VALUE", "One setting of the shape learner, such as penalty=0.3.", into="settings", multiple=True)
@option(
    "--substitution NAME[,SETTING=VALUE]",
    list_names("What becomes of private words before the model reads them", SUBSTITUTIONS)
    + " randomize,epsilon=4 states its promise for each value.  [default: remove; keep for anything]",
)
@option(
    "--values LABEL=FILE",
    "Words that randomize may put in the place of one of that category, one a line: public ones tell nothing of "
    "your texts.  [default: the concept's terms, or the values of TEXTS]",
    into="value_files",
    multiple=True,
)
@option("--mechanism", list_names("Mechanism", MECHANISMS), default="mahalanobis")
@options.contrast_option
@option(
    "--keep-utility SHARE",
    "Find the directions and the noise that keep this share of the search and leak least.  [default: 0.95, unless "
    "a budget or another target is named]",
    type=float,
)
@option(
    "--max-leakage SHARE",
    "Find those with the most search at which quick attacks read no more of the private words than this.",
    type=float,
)
@option(
    "--max-guess SHARE",
    "Find those at which someone who has the text but for one private value is right no more often than this.",
    type=float,
)
@option(
    "--candidates",
    "Candidates that you will rerank on your side: search is measured after that, which leaves room for more "
    "protection.",
    type=AT_LEAST_ZERO,
    default=0,
)
@option(
    "--task NAME[:FILE][,SETTING=VALUE]",
    "What search is measured by, such as retrieval:DIR with judged queries.  [default: finding texts by their own "
    "words, where these don't name the concept]",
    into="tasks",
    multiple=True,
)
@option("--queries FILE", "Your own queries, without judgments, to measure the search by.")
@options.budget_options
@option("--seed", "Seed of the learner. Noise is never seeded by it.", default=0)
@options.cache_option
@flag("--drop-empty", "Leave out texts in which nothing but the concept stands.")
@flag("--allow-everywhere", "Accept a concept that every text holds.")
@option(
    "--keep-concept/--no-keep-concept",
    "Keep the concept, with its private terms, in the veil. Otherwise name it with --concept at every use.",
    default=True,
)
@flag("--overwrite", "Replace a veil of that name.")
@options.ledger_options
def learn(
    *,
    concept_file: Path,
    texts_file: Path | None,
    public_file: Path | None,
    out: Path,
    text_column: str,
    annotations_column: str | None,
    skip_empty: bool,
    settings: tuple[str, ...],
    substitution: str | None,
    value_files: tuple[str, ...],
    overwrite: bool,
    ledger: str | None,
    no_ledger: bool,
    **choices: Any,
) -> None:
    """Learn which directions of an embedding model carry CONCEPT, a TOML file, from TEXTS.

    TEXTS is Parquet, Arrow, JSONL, CSV, TSV or plain lines, and must hold texts with the concept and texts without.
    What is learned on private texts is a release of its own, and is recorded in the ledger; with --public it is none.
    """
    require_free(out, KIND, overwrite=overwrite)
    if (texts_file is None) == (public_file is None):
        raise InvalidInputError(
            "name the texts to learn on, either private ones (TEXTS) or public ones (--public TEXTS), "
            f"got {'neither' if texts_file is None else 'both'}"
        )
    where = "none" if public_file is not None else options.choose_ledger(ledger, no_ledger=no_ledger)
    parsed = dict(options.parse_setting(setting) for setting in settings)
    choices["substitution"] = _build_substitution(substitution, value_files)
    concept = load_concept(concept_file)
    passages = read_passages(
        texts_file or public_file or "",
        text_column=text_column,
        annotations_column=annotations_column,
        skip_empty=skip_empty,
    )
    if isinstance(located := choose_ledger(where), str | Path):
        # Opened before the work: hours of learning must not end in a ledger that can't be written.
        open_ledger(located).close()
    choices |= {"public": public_file is not None, "ledger": where, "progress": progress_bar}
    veil = learn_veil(concept, passages, settings=parsed, **choices)
    veil.save(out, overwrite=overwrite)
    show_veil(veil)
    budget = f" --paper-epsilon {PAPER_EPSILON}" if veil.epsilon is None else ""
    say(f"veil written to {out}; next:  vecveil protect {out} TEXTS OUTPUT.parquet{budget}")


def _build_substitution(spec: str | None, value_files: tuple[str, ...]) -> Substitution | None:
    if spec is None:
        if value_files:
            raise InvalidInputError("--values goes with --substitution randomize, got no substitution")
        return None
    parsed = parse_spec(spec, SUBSTITUTIONS.kind)
    settings = dict(parsed.settings)
    for given in value_files:
        label, sign, path = given.partition("=")
        if not sign:
            raise InvalidInputError(f"--values takes LABEL=FILE, got {given!r}")
        settings.setdefault("candidates", {})[label] = read_terms(Path(path))
    return build_substitution(parsed.name, settings)
