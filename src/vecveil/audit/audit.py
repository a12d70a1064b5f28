"""An audit: every probe, task and attack against every defense."""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from vecveil.accounting import BudgetReadings, MeasuredGuess
from vecveil.attacks import ATTACKS, Attack, build_attack
from vecveil.attacks.generation.generative import GenerativeAttack
from vecveil.attacks.generation.prior import MANIFEST, load_prior
from vecveil.audit.attack_runner import (
    FILL_IN_THE_BLANK,
    AttackCell,
    AttackRunner,
    BlankCell,
    PlannedAttack,
    probe_row,
)
from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.defenses import Defense, Rewritten, Undefended, Veiled, make_veil, uniform_shape
from vecveil.audit.embedding import DefendedEncoder, MemoizedConcept, MemoizedEmbedder
from vecveil.audit.experiment import Cell, Experiment, to_json
from vecveil.audit.noise_search import LEAST_NOISE, find_noise
from vecveil.audit.plan import ATTACKS as DEFAULT_ATTACKS
from vecveil.audit.plan import PROBES, SPARSE, AuditPlan
from vecveil.audit.result import EQUAL_SEARCH, AuditResult
from vecveil.audit.rows import BlankRow, Example, Exposure, ProbeRow, RerankingRow, Setting, SheetRow, TaskRow
from vecveil.audit.tasks import build_task
from vecveil.audit.utility import Utility
from vecveil.audit.verdict import reach_verdicts
from vecveil.concepts import Concept, Passage
from vecveil.concepts.passage import passages as as_passages
from vecveil.concepts.rewriting import build_rewriter
from vecveil.core.blas import single_threaded_blas
from vecveil.core.digests import file_digest, json_digest
from vecveil.core.errors import InvalidInputError, VecveilWarning, needs_extra
from vecveil.core.progress import Progress, silent
from vecveil.core.specs import parse_spec
from vecveil.embedders import Embedder, resolve_embedder
from vecveil.embedders.registry import embeds_any_text
from vecveil.mechanisms import MECHANISMS, Mechanism
from vecveil.shapes import ContrastPairs, build_learner
from vecveil.utility import UtilityTask
from vecveil.veil import Veil
from vecveil.veil.blanks import Blank, choose_blanks
from vecveil.veil.budget import Budget
from vecveil.veil.provenance import installed_versions
from vecveil.veil.words import collect_candidates

RESULTS, EXAMPLES = "results.json", "examples.json"

EXPOSURES = "exposure.json"

WORST = 10
"""Records that results name as the most exposed ones."""

NEW_TEXTS = ("known-item", "queries")
"""Tasks that embed texts which are not in the corpus."""

DRAWS = 3
"""Draws of noise in which the search is compared, to find how much plain noise keeps as much of it."""

FEWEST_WORDS = 2
"""Sensitive words that the texts must hold for an attack to read back which of them it was."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """An audit, ready to run.

    Attributes:
        plan: What is run.
        veil: What is audited.
        corpus: The owner's texts.
        embed: The veil's embedder.
        concept: What is private.
        attacks: The plan's attacks, by spec.
        tasks: The plan's tasks, by spec.
        baselines: The plan's text-level baselines, by name.
        judge: The embedder that compares reconstructions with texts; None for none.
    """

    plan: AuditPlan
    veil: Veil
    corpus: AuditCorpus
    embed: MemoizedEmbedder
    concept: MemoizedConcept
    attacks: Mapping[str, PlannedAttack]
    tasks: Mapping[str, UtilityTask]
    baselines: Mapping[str, Rewritten]
    judge: MemoizedEmbedder | None = None

    def run(self, experiment: Experiment, *, progress: Progress = silent) -> tuple[AuditResult, tuple[Example, ...]]:
        """Compute what is missing in a folder, write the results there and return them with the example texts."""
        identity = self.identity()
        with experiment.open(identity), single_threaded_blas():
            plain = self._plain_noise()
            compared = progress(plain, label="setting the noise of what it is compared with", total=len(plain))
            noise = {one: experiment.run(self._equal_noise(*one)) for one in compared}
            defenses = self.defenses(noise)
            cells = list(self.cells(defenses, progress))
            found = [experiment.run(cell) for cell in progress(cells, label="auditing", total=len(cells))]
            attacked = [one for one in found if isinstance(one, AttackCell)]
            filled = [one for one in found if isinstance(one, BlankCell)]
            reranking = next((one for one in found if isinstance(one, RerankingRow)), None)
            attacks = tuple(cell.row for cell in attacked)
            probes = tuple(one for one in found if isinstance(one, ProbeRow))
            blanks = tuple(cell.row for cell in filled if cell.row is not None)
            exposed = [*(cell.exposures for cell in attacked), *(cell.exposures for cell in filled)]
            exposures = sort_exposures(one for found in exposed for one in found)
            result = AuditResult(
                plan=to_json(self.plan.settings()),
                plan_digest=json_digest(identity),
                veil=to_json(_facts(self.veil)),
                corpus=self.corpus.facts(),
                versions=installed_versions(),
                attacks=attacks,
                probes=probes,
                blanks=blanks,
                tasks=tuple(one for one in found if isinstance(one, TaskRow)),
                best_guess=average_guess([row for row in blanks if row.setting.own]),
                reranking=reranking,
                sheets=self._sheets(defenses),
                verdicts=reach_verdicts(attacks, probes, blanks, tolerance=self.plan.tolerance),
                exposures=tuple(one for one in exposures if not one.grouped)[:WORST],
                finished=datetime.now(UTC).isoformat(timespec="seconds"),
            )
            examples = self._examples(attacked)
            # The texts apart from the results, which may be shown.
            experiment.write(EXAMPLES, examples)
            experiment.write(EXPOSURES, exposures)
            experiment.write(RESULTS, result)
        return result, examples

    def defenses(self, noise: Mapping[tuple[str, Budget], float] | None = None) -> tuple[tuple[Setting, Defense], ...]:
        """Return no defense first, then rewritten texts, plain noise and the veil at each budget; for every seed.

        Args:
            noise: Noise ratios of plain noise, by mechanism and budget of the veil, where it has another than the veil.
        """
        found: list[tuple[Setting, Defense]] = []
        for seed in self.plan.seeds:
            found.append((_plain_setting("none", seed), Undefended()))
            found += [(_plain_setting(name, seed), baseline) for name, baseline in self.baselines.items()]
            for name, budget in product(self.plan.defenses, self.plan.budgets):
                equal = (noise or {}).get((name, budget))
                asked = budget if equal is None else Budget(value=equal, scale="noise-ratio")
                defense = self._at_budget(name, asked)
                setting = noise_setting(name, asked, defense, self.corpus.pairs, seed)
                if equal is not None:
                    several = f"{budget.asked}, " if len(self.plan.budgets) > 1 else ""
                    setting = replace(setting, asked=several + EQUAL_SEARCH)
                own = name == "veil" and budget == self.plan.budgets[0]
                found.append((replace(setting, own=own), defense))
        return tuple(found)

    def _at_budget(self, name: str, budget: Budget) -> Veiled:
        veil = self._veils[name]
        return Veiled(
            veil=veil,
            epsilon=veil.epsilon_at(budget),
            grid=self.plan.grid,
            keyed=self.plan.keyed,
            embed=self.embed,
            concept=self.concept,
            groups=dict(zip(self.corpus.texts, self.corpus.groups, strict=False)),
        )

    def _plain_noise(self) -> list[tuple[str, Budget]]:
        """Return the plain noise whose strength is still to be found, with the budget of the veil beside it."""
        if not self.plan.equal_search or "veil" not in self.plan.defenses:
            return []
        return [one for one in product(self.plan.defenses, self.plan.budgets) if one[0] != "veil"]

    def _equal_noise(self, name: str, budget: Budget) -> Cell[float]:
        """Return the cell that finds how much plain noise keeps as much of the first task as the veil does."""

        def find(rng: np.random.Generator, folder: Path) -> float:
            del folder
            seed, task = int(rng.integers(2**32)), _without_reranking(next(iter(self.tasks.values())))

            def score(defense: Defense) -> float:
                found = []
                for draw in np.random.default_rng(seed).spawn(DRAWS):
                    known = self.corpus.passage_of
                    scores = task.score(DefendedEncoder(embed=self.embed, defense=defense, rng=draw, known=known))
                    found.append(scores.scores[scores.main])
                return float(np.mean(found))

            wanted = score(self._at_budget("veil", budget))
            found = find_noise(
                lambda ratio: score(self._at_budget(name, Budget(value=ratio, scale="noise-ratio"))), wanted
            )
            return LEAST_NOISE if found is None else found

        key = {"kind": "noise", "name": f"{name} with as much search as the veil", "budget": budget.asked}
        return Cell(key=key, kind=float, compute=find)

    @cached_property
    def runner(self) -> AttackRunner:
        """Runs the attacks."""
        return AttackRunner(
            corpus=self.corpus,
            embed=self.embed,
            judge=self.judge,
            copies=self.plan.copies,
            examples=self.plan.examples,
        )

    def cells(
        self, defenses: Sequence[tuple[Setting, Defense]] | None = None, progress: Progress = silent
    ) -> Iterator[Cell[Any]]:
        """Yield the cells, those of no defense first: an attack that fails there need not be waited for."""
        for setting, defense in self.defenses() if defenses is None else defenses:
            for probe in PROBES:
                yield _cell(ProbeRow, probe, setting, self._probe(probe, setting, defense))
            for spec, task in self.tasks.items():
                yield _cell(TaskRow, spec, setting, self._task(task, setting, defense))
            if setting.own and setting.seed == self.plan.seeds[0] and self._reranked and self.plan.keep_utility:
                yield _cell(RerankingRow, "reranking", setting, self._rerank(setting, defense, self.plan.keep_utility))
            if self.plan.blanks:
                yield _cell(BlankCell, FILL_IN_THE_BLANK, setting, self._fill(setting, defense))
            for spec in self.attacks:
                yield _cell(AttackCell, spec, setting, self._attack(spec, setting, defense, progress))
                if self.corpus.groups:
                    attack = self._attack(spec, setting, defense, progress, grouped=True)
                    yield _cell(AttackCell, f"{spec}, whole groups", setting, attack)

    def identity(self) -> dict[str, Any]:
        """Return what makes two audits the same: nothing that was computed for one may end up in another."""
        return {
            "veil": self.veil.digest(),
            "texts": self.corpus.digest(),
            **self.plan.settings(),
            "tasks": {spec: task_digest(task) for spec, task in self.tasks.items()},
            "priors": {
                spec: file_digest(Path(planned.attack.prior).expanduser() / MANIFEST)
                for spec, planned in self.attacks.items()
                if isinstance(planned.attack, GenerativeAttack) and planned.attack.prior
            },
        }

    @cached_property
    def _veils(self) -> dict[str, Veil]:
        corpus = self.corpus
        veils = {name: veil_named(name, self.veil, corpus.pairs) for name in self.plan.defenses if name != SPARSE}
        if SPARSE in self.plan.defenses:
            learner, rng = build_learner("hard-concrete", preset="paper"), np.random.default_rng(self.plan.seeds[0])
            with warnings.catch_warnings():
                # It is the paper's mask as it comes out.
                warnings.filterwarnings("ignore", message="no gate of the mask can close", category=VecveilWarning)
                fitted = learner.fit(corpus.evidence(range(len(corpus))), rng)
            model = self.veil.fingerprint
            veils[SPARSE] = make_veil(fitted.shape, corpus.pairs, model, learner="hard-concrete", facts=fitted.facts)
        return veils

    def _probe(self, kind: Any, setting: Setting, defense: Defense) -> Any:
        return lambda rng, _: probe_row(kind, self.corpus, setting, defense, rng)

    def _fill(self, setting: Setting, defense: Defense) -> Any:
        return lambda rng, _: self.runner.fill_blanks(self._blanks(setting.seed), setting, defense, rng)

    def _blanks(self, seed: int) -> list[Blank]:
        """Return the texts that are asked about: the same behind every defense."""
        corpus = self.corpus
        return choose_blanks(
            corpus.passages,
            corpus.spans,
            collect_candidates(self.concept, corpus.passages, corpus.spans),
            np.random.default_rng(seed),
            rows=corpus.split(seed)[2].tolist(),
            most=self.plan.blanks,
            most_candidates=self.plan.candidates,
        )

    def _attack(
        self, spec: str, setting: Setting, defense: Defense, progress: Progress, *, grouped: bool = False
    ) -> Any:
        name = self.plan.attack_labels[spec] + (", whole groups" if grouped else "")
        return lambda rng, folder: self.runner.attack(
            name, self.attacks[spec], setting, defense, rng, grouped=grouped, folder=folder, progress=progress
        )

    def _task(self, task: UtilityTask, setting: Setting, defense: Defense) -> Any:
        def measure(rng: np.random.Generator, folder: Path) -> TaskRow:
            del folder
            started = time.monotonic()
            known = self.corpus.passage_of
            scores = task.score(DefendedEncoder(embed=self.embed, defense=defense, rng=rng, known=known))
            return TaskRow(
                setting=setting,
                task=task.label,
                main=scores.main,
                scores=dict(scores.scores),
                protected=scores.protected,
                cases=scores.cases,
                error=scores.error,
                seconds=time.monotonic() - started,
            )

        return measure

    @property
    def _reranked(self) -> list[UtilityTask]:
        """The tasks that can rerank."""
        return [task for task in self.tasks.values() if hasattr(task, "rerank")]

    def _rerank(self, setting: Setting, defense: Defense, level: float) -> Any:
        find = Utility(tasks=self._reranked, embed=self.embed, known=self.corpus.passage_of).find_candidates
        return lambda rng, _: RerankingRow(
            setting=setting, level=level, candidates=find(defense, level, int(rng.integers(2**32)))
        )

    def _sheets(self, defenses: Sequence[tuple[Setting, Defense]]) -> tuple[SheetRow, ...]:
        found = []
        for setting, _ in defenses:
            if setting.defense == "veil" and setting.readings is not None and setting.seed == self.plan.seeds[0]:
                sheet = self.veil.guarantee(epsilon=setting.readings.epsilon, grid=self.plan.grid)
                found.append(SheetRow(setting=setting, text=sheet.body, warnings=sheet.warnings))
        return tuple(found)

    def _examples(self, cells: Sequence[AttackCell]) -> tuple[Example, ...]:
        seed, corpus = self.plan.seeds[0], self.corpus
        kept = [cell for cell in cells if cell.row.setting.seed == seed and cell.readings]
        return tuple(
            Example(
                text=corpus.passages[row].text,
                spans=tuple((span.start, span.end, span.label) for span in corpus.spans[row]),
                tokens=tuple(token.word for token in corpus.tokens[row]),
                readings=tuple(cell.readings[number] for cell in kept),
            )
            for number, row in enumerate(self.runner.example_rows(seed))
        )


def prepare_audit(
    plan: AuditPlan,
    veil: Veil,
    concept: Concept,
    texts: Iterable[str | Passage],
    *,
    ids: Sequence[object] | None = None,
    groups: Sequence[object] | None = None,
    embedder: str | Embedder | None = None,
    cache: Path | None = None,
    progress: Progress = silent,
) -> Audit:
    """Return the audit that `plan` asks for. What is wrong with the plan is said before anything is embedded.

    Args:
        plan: Attacks, tasks, budgets and seeds.
        veil: What is audited.
        concept: What is private.
        texts: The owner's texts.
        ids: What each record is called in results; the numbers of rows where None.
        groups: What each text belongs to, such as a document or a person; attackers then read whole groups too.
        embedder: The embedder, where it isn't to be found under the name that the veil was learned with.
        cache: Folder to keep clean embeddings in; as sensitive as the texts.
        progress: Told how far the work is.
    """
    with needs_extra("scikit-learn", "audit"):
        # Said first, as this extra brings all that an audit needs.
        import sklearn  # noqa: F401
    passages = as_passages(texts)
    for name, given in (("ids", ids), ("groups", groups)):
        if given is not None and len(given) != len(passages):
            raise InvalidInputError(f"{name} must be one for each text, got {len(given)} for {len(passages)} texts")
    attacks = {spec: attack_from_spec(spec) for spec in plan.attacks}
    for planned in attacks.values():
        _check_prior(planned.attack, veil)
    for name, budget in product(plan.defenses, plan.budgets):
        _check_budget(name, budget, veil)
    distinct = list(dict.fromkeys(one.text for one in passages))
    # A misspelled task should not come to light after the texts were searched and embedded.
    _check_labels([build_task(spec, texts=distinct).label for spec in plan.tasks])
    rewriters = {name: build_rewriter(name) for name in plan.baselines}
    judge = _judge(plan.judge, veil, cache, progress)
    embed = MemoizedEmbedder(veil.embedder(embedder, cache=cache), progress)
    if not embeds_any_text(embed.embedder):
        plan = _without_model(plan)
    searched = MemoizedConcept(concept)
    corpus = AuditCorpus.from_texts(
        searched, passages, embed, near_copies=plan.near_copies, ids=ids, groups=groups, progress=progress
    )
    tasks = {spec: build_task(spec, texts=corpus.texts, private=corpus.spans, concept=searched) for spec in plan.tasks}
    if len(corpus.vocabulary) < FEWEST_WORDS:
        attacks = _without_attacks(attacks, len(corpus.vocabulary))
    return Audit(
        plan=plan,
        veil=veil,
        corpus=corpus,
        embed=embed,
        concept=searched,
        attacks=attacks,
        tasks=tasks,
        baselines={
            name: Rewritten.over_corpus(corpus.passages, rewriter, searched, embed, seed=plan.seeds[0])
            for name, rewriter in rewriters.items()
        },
        judge=judge,
    )


def attack_from_spec(spec: str) -> PlannedAttack:
    """Return the attack that `spec` names: `NAME[:PRIOR][,setting=value…]`.

    Settings are those of the attack, and what it is given: `denoiser` (wiener, mlp or none) and `copies` of texts.
    """
    parsed = parse_spec(spec, ATTACKS.kind)
    settings: dict[str, Any] = dict(parsed.settings)
    given = {name: settings.pop(name) for name in ("denoiser", "copies") if name in settings}
    if parsed.target is not None:
        kind: Any = ATTACKS.load(parsed.name)
        if "prior" not in {field.name for field in fields(kind)}:
            raise InvalidInputError(f"the attack {parsed.name!r} takes no prior, got {parsed.target!r}")
        settings["prior"] = parsed.target
    return PlannedAttack(attack=build_attack(parsed.name, settings), **given)


def veil_named(name: str, veil: Veil, pairs: ContrastPairs) -> Veil:
    """Return the veil (`name` is "veil"), or one of plain noise by the mechanism of that name."""
    if name == "veil":
        return veil
    return make_veil(uniform_shape(veil.shape.dimensions), pairs, veil.fingerprint, mechanism=name)


def noise_setting(name: str, budget: Budget, defense: Veiled, pairs: ContrastPairs, seed: int) -> Setting:
    """Return how results name noise at one budget; the third reading is about the median of `pairs`."""
    mechanism, veil = defense.veil.mechanism_at(defense.epsilon), defense.veil
    # A median is the exact value of one record, and results may be shown to others: three digits serve as well.
    typical_pair = float(f"{np.median(mechanism.distance(pairs.with_concept, pairs.without_concept)):.3g}")
    readings = BudgetReadings(
        epsilon=mechanism.epsilon,
        distance=mechanism.guarantee().metric,
        noise_ratio=mechanism.noise_ratio(veil.typical.signal),
        pair_loss=mechanism.epsilon * typical_pair,
    )
    label = f"veil, {veil.provenance.learner['name']}" if name == "veil" else name
    return Setting(defense=name, label=label, asked=budget.asked, readings=readings, seed=seed)


def task_digest(task: Any) -> str:
    """Return the SHA-256 of a task's texts and settings, which stands in the plan in their place."""
    values = {field.name: getattr(task, field.name) for field in fields(task)}
    plain = {name: value for name, value in values.items() if isinstance(value, str | int | float | tuple | Mapping)}
    return hashlib.sha256(repr(plain).encode("utf-8", "surrogatepass")).hexdigest()


def sort_exposures(exposures: Iterable[Exposure]) -> tuple[Exposure, ...]:
    """Return the worst exposure of each record to each attack, those that were read furthest and surest first."""
    ordered = sorted(exposures, key=lambda one: (-one.confidence * one.read, -one.confidence, one.record))
    worst: dict[tuple[str, str], Exposure] = {}
    for one in ordered:
        worst.setdefault((one.record, one.attack), one)
    return tuple(worst.values())


def average_guess(rows: Sequence[BlankRow]) -> MeasuredGuess | None:
    """Return how often the best guess is right, over seeds, with the mean of the intervals over texts; None of none."""
    if not rows:
        return None
    numbers = [(row.right.value, row.right.low, row.right.high, row.chance) for row in rows]
    right, low, high, chance = (float(mean) for mean in np.mean(numbers, axis=0))
    return MeasuredGuess(right=right, low=low, high=high, chance=chance, texts=sum(row.texts for row in rows))


def _without_reranking(task: UtilityTask) -> UtilityTask:
    """Return the task without what takes most of its time and does not move its main score."""
    known: Any = task
    quick: UtilityTask = replace(known, rerank=0) if hasattr(known, "rerank") else task
    return quick


def _cell(kind: Any, name: str, setting: Setting, compute: Any) -> Cell[Any]:
    key = {"kind": kind.__name__, "name": name, "setting": asdict(setting)}
    return Cell(key=key, kind=kind, compute=compute)


def _plain_setting(name: str, seed: int) -> Setting:
    return Setting(defense=name, label=name, asked="", readings=None, seed=seed)


def _facts(veil: Veil) -> dict[str, Any]:
    """Return what results tell of the veil."""
    provenance = veil.provenance
    return {
        "digest": veil.digest(),
        "shape": dict(provenance.learner),
        "mechanism": veil.mechanism,
        "embedder": veil.fingerprint.settings(),
        "pairs": provenance.pairs,
        "contrast": provenance.contrast,
        "versions": dict(provenance.versions),
        # JSON has no infinite numbers: words that stay have no epsilon.
        "words": {
            "substitution": veil.substitution.name,
            "epsilon": None if math.isinf(veil.substitution.word_epsilon) else veil.substitution.word_epsilon,
        },
    }


def _check_budget(name: str, budget: Budget, veil: Veil) -> None:
    """Raise if the veil, or plain noise, can't have a budget."""
    mechanism_at = veil.mechanism_at if name == "veil" else _plain_mechanism(name, veil.shape.dimensions)
    epsilon = budget.literal(mechanism_at, veil.typical.signal)
    if not np.isfinite(mechanism_at(epsilon).noise_ratio(veil.typical.signal)):
        raise InvalidInputError(f"{budget.asked} is too little for {name}: nothing is left of a vector")
    if name == "veil":
        # The veil itself refuses a budget at which some axis would be released in clear.
        veil.release(epsilon=epsilon, ledger="none")
        veil.warn_of_noise(epsilon, stacklevel=4)


def _plain_mechanism(name: str, dimensions: int) -> Callable[[float], Mechanism]:
    kind = MECHANISMS.load("mahalanobis" if name == SPARSE else name)
    return lambda epsilon: kind.for_shape(epsilon=epsilon, variances=np.ones(dimensions), axes=None, center=None)


def _check_prior(attack: Attack, veil: Veil) -> None:
    """Raise unless the prior that the attack names is there, and reads vectors like those of the veil."""
    if isinstance(attack, GenerativeAttack) and attack.prior:
        prior = load_prior(Path(attack.prior).expanduser())
        prior.require(attack.name, veil.fingerprint, veil.fingerprint.dimensions)


def _check_labels(labels: list[str]) -> None:
    twice = next((label for number, label in enumerate(labels) if label in labels[:number]), None)
    if twice is not None:
        raise InvalidInputError(f"two tasks would both be called {twice!r} in results; leave one out, or rename a file")


def _without_model(plan: AuditPlan) -> AuditPlan:
    """Return the plan without what a file of vectors can't serve: texts that are not in it."""
    tasks = tuple(spec for spec in plan.tasks if parse_spec(spec, "task").name not in NEW_TEXTS)
    if not plan.blanks and tasks == plan.tasks:
        return plan
    warnings.warn(
        f"the vectors come from a file, and no model is at hand: fill in the blank, {' and '.join(NEW_TEXTS)} are left "
        "out, because they embed texts of their own",
        VecveilWarning,
        stacklevel=3,
    )
    return replace(plan, blanks=0, tasks=tasks or ("neighbors",))


def _judge(spec: str, veil: Veil, cache: Path | None, progress: Progress) -> MemoizedEmbedder | None:
    if not spec:
        return None
    judge = resolve_embedder(spec, cache=cache)
    if judge.fingerprint == veil.fingerprint:
        raise InvalidInputError(f"the judge must be another model than the attacked one, got {spec!r}")
    return MemoizedEmbedder(judge, progress)


def _without_attacks(attacks: Mapping[str, PlannedAttack], words: int) -> dict[str, PlannedAttack]:
    """Return no attack, or raise where the user asked for one: with a single word there is nothing to read back."""
    asked = [spec for spec in attacks if spec not in DEFAULT_ATTACKS]
    problem = f"the concept comes down to {words} sensitive word in these texts: there is no other to tell it from"
    if asked:
        raise InvalidInputError(f"{problem}, so that {asked[0]!r} can't run; leave it out, and the concept probes will")
    warnings.warn(f"{problem}; only the concept probes were run", VecveilWarning, stacklevel=3)
    return {}
