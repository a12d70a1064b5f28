"""Learning of a veil at the operating point of a target."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from vecveil.audit.audit import prepare_audit
from vecveil.audit.corpus import FEWEST_TEXTS
from vecveil.audit.embedding import MemoizedConcept, MemoizedEmbedder
from vecveil.audit.experiment import Experiment
from vecveil.audit.frontier.contender import Contender
from vecveil.audit.frontier.results import Choice
from vecveil.audit.frontier.workbench import BLANKS, CANDIDATES, GUIDES, SEARCH, Workbench
from vecveil.audit.noise_search import LEAST_NOISE
from vecveil.audit.plan import KEEP_UTILITY, AuditPlan
from vecveil.audit.result import AuditResult
from vecveil.audit.utility import Measure
from vecveil.concepts import Concept, ContrastSet, Passage, contrast_set
from vecveil.concepts.passage import passages as as_passages
from vecveil.core.arrays import spread_rows
from vecveil.core.blas import single_threaded_blas
from vecveil.core.checks import at_least, fraction
from vecveil.core.errors import InvalidInputError, VecveilWarning
from vecveil.core.percent import percent
from vecveil.core.progress import Progress, silent
from vecveil.embedders import EmbedderLike, resolve_embedder
from vecveil.shapes import DEFAULT_SHAPE
from vecveil.substitutions import DEFAULT_SUBSTITUTION, Substitution, build_substitution
from vecveil.substitutions.plain import Keep
from vecveil.substitutions.randomize import Randomize
from vecveil.veil import Veil
from vecveil.veil import learn as learn_veil
from vecveil.veil.budget import Budget
from vecveil.veil.learn import require_learner
from vecveil.veil.sheet import GUESS_FACTS
from vecveil.veil.words import fit_substitution

LEVELS = (0.99, 0.97, 0.95, 0.9, 0.85, 0.8, 0.7, 0.5)
"""Levels of utility that are tried, from the highest on, where a most of leakage or guessing must be met."""

MOST_TEXTS = 5000
"""Texts on which an operating point is measured; more would hardly move it."""

PLAIN_NOISE = 0.3
"""Noise ratio where there are too few texts to measure one."""

MEASURED = 20_000
"""Added to the seed for the split in which the chosen point is measured: it was chosen in another."""

RECIPES: Mapping[str, Mapping[str, Any]] = {
    "sparse": {"shape": "hard-concrete", "preset": "paper", "substitution": "keep"},
    "sparse-wb": {"shape": "integrated-gradients", "preset": "paper", "substitution": "keep"},
}
"""The paper's methods to the letter: their shape, and words that stay where they are."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a veil should come to.

    Attributes:
        keep_utility: The least share of the undefended utility; where None, as much as the others leave.
        max_leakage: The most of a text's private words that the strongest quick attack may read; None for any.
        max_guess: How often someone may be right at most who has the text but for one private value; None for any.
        candidates: Candidates that the owner reranks, so that utility is what is kept after that; 0 for none.
        tasks: Specs of the tasks that utility is measured by; none to search for texts by their own words.
    """

    keep_utility: float | None = KEEP_UTILITY
    max_leakage: float | None = None
    max_guess: float | None = None
    candidates: int = 0
    tasks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.keep_utility is None and not self.is_limited:
            raise InvalidInputError("name a target: keep_utility, max_leakage or max_guess, got none")
        for name in ("keep_utility", "max_leakage", "max_guess"):
            if getattr(self, name) is not None:
                fraction(getattr(self, name), name)
        at_least(self.candidates, 0, "candidates")

    @property
    def is_limited(self) -> bool:
        """Whether leakage or guessing may not exceed a most."""
        return self.max_leakage is not None or self.max_guess is not None

    @property
    def levels(self) -> tuple[float, ...]:
        """Levels of utility to try, the highest first; none below the least that must be kept."""
        least = () if self.keep_utility is None else (self.keep_utility,)
        if not self.is_limited:
            return least
        return (*(level for level in LEVELS if level > (self.keep_utility or 0.0)), *least)


def learn(
    concept: Concept,
    texts: Iterable[str | Passage],
    *,
    embedder: EmbedderLike = "minilm",
    shape: str = DEFAULT_SHAPE,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    substitution: str | Substitution | None = None,
    epsilon: float | None = None,
    noise_ratio: float | None = None,
    paper_epsilon: float | None = None,
    keep_utility: float | None = None,
    max_leakage: float | None = None,
    max_guess: float | None = None,
    candidates: int = 0,
    tasks: Sequence[str] = (),
    queries: str | Path | None = None,
    cache: str | Path | None = None,
    seed: int = 0,
    progress: Progress = silent,
    **choices: Any,
) -> Veil:
    """Learn a veil: what becomes of private words, which directions are not released, how much noise the rest gets.

    Directions and noise are those that leave the least to quick attackers at the utility that is to be kept, unless a
    budget is named. What that comes to stands in `veil.provenance.measured`.

    Example:
        >>> from vecveil.concepts import load_concept
        >>> from vecveil.samples import clinical_sentences, concept_path
        >>> texts = [sentence.text for sentence in clinical_sentences(240)]
        >>> veil = learn(load_concept(concept_path()), texts, shape="uniform", noise_ratio=0.5)
        >>> veil.protect(texts[:2]).shape
        (2, 384)

    Args:
        concept: What is private.
        texts: Texts with and without it.
        embedder: A name or an object; see `resolve_embedder`.
        shape: Name of the shape learner; where it leaves directions out, their number is found.
        preset: Named settings of the shape learner, such as "paper"; or "sparse" and "sparse-wb", the paper's methods
            to the letter, which keep no budget unless one is named.
        settings: Single settings of the shape learner.
        substitution: What becomes of private words before the model reads them: removed where None, or kept where the
            concept is everywhere, as `anything` is.
        epsilon: Literal budget, in place of a target.
        noise_ratio: The same as a noise ratio.
        paper_epsilon: The same on the axis of the paper's tables.
        keep_utility: The least share of the undefended search; 0.95 where neither a budget nor a target is named.
        max_leakage: The most of a text's private words that the strongest quick attack may read.
        max_guess: How often someone may be right at most who has the text but for one private value.
        candidates: Candidates that the owner will rerank: search is measured after that.
        tasks: Specs of the tasks that search is measured by.
        queries: File of the owner's own queries, to measure the search by.
        cache: Folder to keep clean embeddings in; as sensitive as the texts.
        seed: Of splits, shapes and attackers; noise is never seeded by it.
        progress: Told how far the work is.
        **choices: What else `vecveil.veil.learn` takes: mechanism, contrast, ledger, public, keep_concept and others.
    """
    recipe = RECIPES.get(preset or "", {})
    usual = "keep" if isinstance(concept, Concept) and concept.everywhere else DEFAULT_SUBSTITUTION
    replaced = recipe.get("substitution", usual if substitution is None else substitution)
    given: dict[str, Any] = {
        "shape": recipe.get("shape", shape),
        "preset": recipe.get("preset", preset),
        "settings": dict(settings or {}),
        "substitution": build_substitution(replaced) if isinstance(replaced, str) else replaced,
        "seed": seed,
        "progress": progress,
        **choices,
    }
    require_learner(
        given["shape"],
        preset=given["preset"],
        settings=given["settings"],
        mechanism=given.get("mechanism", "mahalanobis"),
        seed=seed,
    )
    budgets: dict[str, Any] = {"epsilon": epsilon, "noise_ratio": noise_ratio, "paper_epsilon": paper_epsilon}
    asked = {"keep_utility": keep_utility, "max_leakage": max_leakage, "max_guess": max_guess}
    named, targeted = Budget.from_settings(budgets) is not None, any(value is not None for value in asked.values())
    if named and targeted:
        raise InvalidInputError("a target finds the budget: name a target or a budget, got both")
    if named or (recipe and not targeted):
        return learn_veil(concept, texts, embedder=embedder, cache=cache, **given, **budgets)
    measured = (f"queries:{queries}", *tasks) if queries is not None else tuple(tasks)
    target = Target(**(asked if targeted else {}), candidates=candidates, tasks=measured)
    kept = None if cache is None else Path(cache)
    with single_threaded_blas():
        return _learn_to_target(
            concept, as_passages(texts), target, given, embedder=embedder, cache=kept, insist=targeted
        )


def _learn_to_target(
    concept: Concept,
    corpus: Sequence[Passage],
    target: Target,
    given: dict[str, Any],
    *,
    embedder: EmbedderLike,
    cache: Path | None,
    insist: bool,
) -> Veil:
    """Return the veil that a target asks for, with its budget in it and what it was measured to come to.

    Where `insist` is false, and no veil comes to the target, it is lowered.
    """
    progress, seed = given["progress"], given["seed"]
    searched = MemoizedConcept(concept)
    embed = MemoizedEmbedder(resolve_embedder(embedder, cache=cache), progress)
    known = {name: given[name] for name in ("drop_empty", "allow_everywhere") if name in given}
    # What `learn` refuses in the end should not come to light after the measuring.
    found = contrast_set(searched, corpus, kind=given.get("contrast", "removal"), seed=seed, progress=progress, **known)
    given["substitution"] = _limit_guess(given["substitution"], target, searched, corpus, found)

    def finish(noise: float | None, measured: str) -> Veil:
        veil = learn_veil(searched, corpus, embedder=embed, noise_ratio=noise, **given)
        named = embedder if isinstance(embedder, str) else None
        return replace(
            veil,
            concept=None if veil.concept is None else concept,
            provenance=replace(veil.provenance, embedder=named, measured=measured),
        )

    def fall_back(reason: str) -> Veil:
        veil = finish(PLAIN_NOISE, "")
        message = f"{reason}: the noise ratio is {PLAIN_NOISE}, and nobody has measured what that comes to"
        warnings.warn(message, VecveilWarning, stacklevel=5)
        return veil

    sample = _choose_sample(corpus, found)
    if sum(bool(found.spans[row]) for row in sample) < FEWEST_TEXTS:
        return fall_back(
            f"{len(found)} texts with the concept are too few to measure an operating point, which takes {FEWEST_TEXTS}"
        )
    bench = _make_bench(searched, [corpus[row] for row in sample], target, embed, progress)
    if target == Target() and not bench.utility.is_measurable:
        return fall_back("no text is found by its own words, so that there is no search to measure")
    contender = Contender(
        given["shape"] + (f":{given['preset']}" if given["preset"] else ""),
        tuple(given["settings"].items()),
        given["substitution"],
    )
    if not insist:
        target = _lower(target, bench, contender, seed)
    choice = _choose(bench, contender, target, seed=seed, progress=progress)
    if choice.directions is not None:
        given["settings"] = {**given["settings"], "directions": choice.directions}
    veil = finish(choice.noise_ratio, "")
    result = _measure(veil, searched, bench, target, seed)
    _warn_of_guesses(result, target)
    measured = " ".join(filter(None, (result.sentence, result.reranking_sentence, _describe_lowering(target, insist))))
    facts = dict(veil.provenance.facts)
    if result.best_guess is not None:
        facts |= zip(GUESS_FACTS, map(float, (*astuple(result.best_guess), veil.epsilon or 0.0)), strict=True)
    return replace(veil, provenance=replace(veil.provenance, measured=measured, facts=facts))


def _choose_sample(corpus: Sequence[Passage], found: ContrastSet) -> list[int]:
    """Return rows to measure on: all, or as many with the concept as without it, taken evenly."""
    if len(corpus) <= MOST_TEXTS:
        return list(range(len(corpus)))
    private = [row for row, spans in enumerate(found.spans) if spans]
    others = [row for row, spans in enumerate(found.spans) if not spans]
    half = max(MOST_TEXTS // 2, MOST_TEXTS - len(others))
    kept = [private[number] for number in spread_rows(len(private), half)]
    return sorted(kept + [others[number] for number in spread_rows(len(others), MOST_TEXTS - len(kept))])


def _make_bench(
    concept: MemoizedConcept, corpus: Sequence[Passage], target: Target, embed: MemoizedEmbedder, progress: Progress
) -> Workbench:
    tasks = target.tasks
    if target.candidates:
        tasks = tuple(f"{spec},rerank={target.candidates}" for spec in tasks or (SEARCH,))
    measure: Measure = "reranked" if target.candidates else "search" if target.tasks else "unnamed"
    return Workbench.from_texts(
        concept, corpus, embedder=embed, tasks=tasks, measure=measure, copies=1, progress=progress
    )


def _choose(bench: Workbench, contender: Contender, target: Target, *, seed: int, progress: Progress) -> Choice:
    """Return the directions and the noise that meet the target at the highest level of utility that does."""
    nearest = ""
    for level in target.levels:
        choice = bench.choose(contender, level, seed=seed, progress=progress)
        if choice.noise_ratio is None:
            kept = bench.utility.share_kept(bench.redacted, np.random.default_rng(seed))
            nearest = f"no veil keeps {percent(level)} of {bench.utility.label}; redaction alone keeps {percent(kept)}"
            continue
        problem = _exceed(bench, contender, choice, target, seed + MEASURED)
        if problem is None:
            return choice
        nearest = problem
    raise InvalidInputError(f"{nearest}; ask for less, have candidates reranked (--candidates), or try another shape")


def _lower(target: Target, bench: Workbench, contender: Contender, seed: int) -> Target:
    """Return the target, or a share of what the weakest veil keeps where that is less than it asks for."""
    _, weakest = next(bench.members(contender, seed))
    most = bench.utility.share_kept(bench.at_noise(weakest, LEAST_NOISE), np.random.default_rng(seed))
    if most > KEEP_UTILITY:
        return target
    warnings.warn(
        f"no veil keeps {percent(KEEP_UTILITY)} of {bench.utility.label}, and hardly any noise {percent(most)}: "
        f"{percent(KEEP_UTILITY * most)} is kept in its place; name what you want with keep_utility (--keep-utility)",
        VecveilWarning,
        stacklevel=5,
    )
    return replace(target, keep_utility=KEEP_UTILITY * most)


def _describe_lowering(target: Target, insist: bool) -> str:
    """Return that less is kept than is usual, which nobody asked for; nothing where it is not so."""
    if insist or target.keep_utility == KEEP_UTILITY:
        return ""
    return (
        f"No veil keeps {percent(KEEP_UTILITY)} of what search was measured by: this one was learned to keep "
        f"{percent(target.keep_utility or 0.0)}."
    )


def _exceed(bench: Workbench, contender: Contender, choice: Choice, target: Target, seed: int) -> str | None:
    """Return in words which most is exceeded; None where none is."""
    if not target.is_limited:
        return None
    veil = bench.learn(contender, choice.directions, seed)
    defense = bench.at_noise(veil, choice.noise_ratio or 0.0)
    if target.max_leakage is not None:
        read = max(bench.attack(guide, defense, seed).r_precision.value for guide in GUIDES)
        if read > target.max_leakage:
            return (
                f"at {percent(choice.level)} of the utility {percent(read, 1)} of the words are read, above "
                f"{percent(target.max_leakage, 1)}"
            )
    # Where words are replaced, the law of that bounds a guess (`_limit_guess`), and noise can't make it better.
    if target.max_guess is not None and isinstance(contender.substitution, Keep):
        row = bench.fill_blanks(defense, seed).row
        if row is not None and row.right.value > target.max_guess:
            return (
                f"at {percent(choice.level)} of the utility {percent(row.right.value, 1)} of the blanks are filled in, "
                f"above {percent(target.max_guess, 1)}"
            )
    return None


def _limit_guess(
    substitution: Substitution, target: Target, concept: Concept, corpus: Sequence[Passage], found: ContrastSet
) -> Substitution:
    """Return randomized response with no more epsilon than lets a guess be right as often as it may."""
    if target.max_guess is None or not isinstance(substitution, Randomize):
        return substitution
    fitted: Any = fit_substitution(substitution, concept, corpus, found.spans)
    fewest = min(map(len, fitted.candidates.values()))
    odds = target.max_guess * (fewest - 1) / (1 - target.max_guess)
    if odds <= 1:
        raise InvalidInputError(
            f"among {fewest} candidates a guess is right in {percent(1 / fewest, 1)} of cases: max_guess must be "
            f"above that, got {target.max_guess}"
        )
    return replace(substitution, epsilon=min(substitution.epsilon, math.log(odds)))


def _measure(veil: Veil, concept: Concept, bench: Workbench, target: Target, seed: int) -> AuditResult:
    """Return a quick audit of the finished veil, in a split in which nothing was chosen."""
    law = veil.substitution
    # A guess among fewer values than those that the law hides a word among is right more often than the law says.
    candidates = max(map(len, law.candidates.values())) if isinstance(law, Randomize) else CANDIDATES
    plan = AuditPlan(
        budgets=(Budget(value=veil.epsilon or 0.0, scale="literal"),),
        attacks=GUIDES,
        tasks=bench.specs,
        defenses=("veil",),
        seeds=(seed + MEASURED,),
        copies=1,
        blanks=BLANKS,
        candidates=candidates,
        examples=0,
        keep_utility=None if target.candidates else target.keep_utility or KEEP_UTILITY,
    )
    with TemporaryDirectory(prefix="vecveil-learn-") as folder, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the vectors come from a file", category=VecveilWarning)
        prepared = prepare_audit(plan, veil, concept, bench.corpus.passages, embedder=bench.embed)
        return prepared.run(Experiment(Path(folder) / "audit"))[0]


def _warn_of_guesses(result: AuditResult, target: Target) -> None:
    """Warn where blanks are filled in more often than they may be, in the split in which nothing was chosen."""
    rows = [row for row in result.blanks if row.setting.own and target.max_guess is not None]
    for row in rows:
        if row.right.low > (target.max_guess or 1.0):
            warnings.warn(
                f"{percent(row.right.value)} of {row.texts} blanks were filled in ({percent(row.right.low)} to "
                f"{percent(row.right.high)}), above max_guess {percent(target.max_guess or 1.0)}; ask for less",
                VecveilWarning,
                stacklevel=6,
            )
