"""An audit: every probe, task and attack against every defense."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from vecveil.accounting import BudgetReadings
from vecveil.attacks import ATTACKS, Attack, build_attack
from vecveil.attacks.generation.generative import GenerativeAttack
from vecveil.attacks.generation.prior import MANIFEST, load_prior
from vecveil.audit.attack_runner import AttackCell, AttackRunner, probe_row
from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.defenses import Defense, Rewritten, Undefended, Veiled, make_veil, uniform_shape
from vecveil.audit.embedding import DefendedEncoder, MemoizedEmbedder
from vecveil.audit.experiment import Cell, Experiment, to_json
from vecveil.audit.plan import PROBES, AuditPlan
from vecveil.audit.results import AuditResult, Example, ProbeRow, Setting, SheetRow, TaskRow
from vecveil.audit.tasks import build_task
from vecveil.audit.verdict import reach_verdicts
from vecveil.concepts import Concept, Passage
from vecveil.concepts.passage import passages as as_passages
from vecveil.concepts.rewriting import build_rewriter
from vecveil.core.digests import file_digest, json_digest
from vecveil.core.errors import InvalidInputError, VecveilWarning
from vecveil.core.progress import Progress, silent
from vecveil.core.specs import parse_spec
from vecveil.embedders import Embedder, resolve_embedder
from vecveil.mechanisms import MECHANISMS, Mechanism
from vecveil.shapes import ContrastPairs
from vecveil.utility import UtilityTask
from vecveil.veil import Veil
from vecveil.veil.budget import Budget
from vecveil.veil.provenance import installed_versions

RESULTS, EXAMPLES = "results.json", "examples.json"

ALWAYS = ("nearest", "averaging")
"""Cheap attacks that run whether they are asked for or not."""

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
        attacks: The plan's attacks, by spec.
        tasks: The plan's tasks, by spec.
        baselines: The plan's text-level baselines, by name.
        judge: The embedder that compares reconstructions with texts; None for none.
    """

    plan: AuditPlan
    veil: Veil
    corpus: AuditCorpus
    embed: MemoizedEmbedder
    attacks: Mapping[str, Attack]
    tasks: Mapping[str, UtilityTask]
    baselines: Mapping[str, Rewritten]
    judge: MemoizedEmbedder | None = None

    def run(self, experiment: Experiment, *, progress: Progress = silent) -> tuple[AuditResult, tuple[Example, ...]]:
        """Compute what is missing in a folder, write the results there and return them with the example texts."""
        identity = self.identity()
        with experiment.open(identity):
            cells = list(self.cells(progress))
            found = [experiment.run(cell) for cell in progress(cells, label="auditing", total=len(cells))]
            attacked = [one for one in found if isinstance(one, AttackCell)]
            attacks = tuple(cell.row for cell in attacked)
            probes = tuple(one for one in found if isinstance(one, ProbeRow))
            result = AuditResult(
                plan=to_json(self.plan.settings()),
                plan_digest=json_digest(identity),
                veil=to_json(_facts(self.veil)),
                corpus=self.corpus.facts(),
                versions=installed_versions(),
                attacks=attacks,
                probes=probes,
                tasks=tuple(one for one in found if isinstance(one, TaskRow)),
                sheets=self._sheets(),
                verdicts=reach_verdicts(attacks, probes, tolerance=self.plan.tolerance),
                finished=datetime.now(UTC).isoformat(timespec="seconds"),
            )
            examples = self._examples(attacked)
            # The texts apart from the results, which may be shown.
            experiment.write(EXAMPLES, examples)
            experiment.write(RESULTS, result)
        return result, examples

    @cached_property
    def defenses(self) -> tuple[tuple[Setting, Defense], ...]:
        """No defense first, then plain noise and the veil at each budget, then rewritten texts; for every seed."""
        found: list[tuple[Setting, Defense]] = []
        for seed in self.plan.seeds:
            found.append((_plain_setting("none", seed), Undefended()))
            for name, budget in product(self.plan.defenses, self.plan.budgets):
                veil = self._veils[name]
                defense = Veiled(veil=veil, epsilon=veil.epsilon_at(budget), grid=self.plan.grid, keyed=self.plan.keyed)
                found.append((noise_setting(name, budget, defense, self.corpus.pairs, seed), defense))
            found += [(_plain_setting(name, seed), baseline) for name, baseline in self.baselines.items()]
        return tuple(found)

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

    def cells(self, progress: Progress = silent) -> Iterator[Cell[Any]]:
        """Yield the cells, those of no defense first: an attack that fails there need not be waited for."""
        for setting, defense in self.defenses:
            for probe in PROBES:
                yield _cell(ProbeRow, probe, setting, self._probe(probe, setting, defense))
            for spec, task in self.tasks.items():
                yield _cell(TaskRow, spec, setting, self._task(task, setting, defense))
            for spec in self.attacks:
                yield _cell(AttackCell, spec, setting, self._attack(spec, setting, defense, progress))

    def identity(self) -> dict[str, Any]:
        """Return what makes two audits the same: nothing that was computed for one may end up in another."""
        return {
            "veil": self.veil.digest(),
            "texts": self.corpus.digest(),
            **self.plan.settings(),
            "tasks": {spec: task_digest(task) for spec, task in self.tasks.items()},
            "priors": {
                spec: file_digest(Path(attack.prior).expanduser() / MANIFEST)
                for spec, attack in self.attacks.items()
                if isinstance(attack, GenerativeAttack) and attack.prior
            },
        }

    @cached_property
    def _veils(self) -> dict[str, Veil]:
        return {name: veil_named(name, self.veil, self.corpus.pairs) for name in self.plan.defenses}

    def _probe(self, kind: Any, setting: Setting, defense: Defense) -> Any:
        return lambda rng, _: probe_row(kind, self.corpus, setting, defense, rng)

    def _attack(self, spec: str, setting: Setting, defense: Defense, progress: Progress) -> Any:
        return lambda rng, folder: self.runner.attack(
            self.plan.attack_labels[spec], self.attacks[spec], setting, defense, rng, folder=folder, progress=progress
        )

    def _task(self, task: UtilityTask, setting: Setting, defense: Defense) -> Any:
        def measure(rng: np.random.Generator, folder: Path) -> TaskRow:
            del folder
            started = time.monotonic()
            scores = task.score(DefendedEncoder(embed=self.embed, defense=defense, rng=rng))
            return TaskRow(
                setting=setting,
                task=task.label,
                main=scores.main,
                scores=dict(scores.scores),
                protected=scores.protected,
                cases=scores.cases,
                seconds=time.monotonic() - started,
            )

        return measure

    def _sheets(self) -> tuple[SheetRow, ...]:
        found = []
        for setting, _ in self.defenses:
            if setting.defense == "veil" and setting.readings is not None and setting.seed == self.plan.seeds[0]:
                sheet = self.veil.guarantee(epsilon=setting.readings.epsilon, grid=self.plan.grid)
                found.append(SheetRow(setting=setting, text=sheet.body, warnings=sheet.warnings))
        return tuple(found)

    def _examples(self, cells: Sequence[AttackCell]) -> tuple[Example, ...]:
        seed, corpus = self.plan.seeds[0], self.corpus
        kept = [cell for cell in cells if cell.row.setting.seed == seed]
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
        embedder: The embedder, where it isn't to be found under the name that the veil was learned with.
        cache: Folder to keep clean embeddings in; as sensitive as the texts.
        progress: Told how far the work is.
    """
    passages = as_passages(texts)
    attacks = {spec: attack_from_spec(spec) for spec in plan.attacks}
    for attack in attacks.values():
        _check_prior(attack, veil)
    for name, budget in product(plan.defenses, plan.budgets):
        _check_budget(name, budget, veil)
    tasks = {spec: build_task(spec, texts=list(dict.fromkeys(one.text for one in passages))) for spec in plan.tasks}
    _check_labels([task.label for task in tasks.values()])
    rewriters = {name: build_rewriter(name) for name in plan.baselines}
    judge = _judge(plan.judge, veil, cache, progress)
    embed = MemoizedEmbedder(veil.embedder(embedder, cache=cache), progress)
    corpus = AuditCorpus.from_texts(concept, passages, embed, near_copies=plan.near_copies, progress=progress)
    if len(corpus.vocabulary) < FEWEST_WORDS:
        attacks = _without_attacks(attacks, len(corpus.vocabulary))
    return Audit(
        plan=plan,
        veil=veil,
        corpus=corpus,
        embed=embed,
        attacks=attacks,
        tasks=tasks,
        baselines={
            name: Rewritten.over_corpus(corpus.passages, rewriter, concept, embed, seed=plan.seeds[0])
            for name, rewriter in rewriters.items()
        },
        judge=judge,
    )


def attack_from_spec(spec: str) -> Attack:
    """Return the attack that `spec` names: `NAME[:PRIOR][,setting=value…]`."""
    parsed = parse_spec(spec, ATTACKS.kind)
    settings: dict[str, Any] = dict(parsed.settings)
    if parsed.target is not None:
        kind: Any = ATTACKS.load(parsed.name)
        if "prior" not in {field.name for field in fields(kind)}:
            raise InvalidInputError(f"the attack {parsed.name!r} takes no prior, got {parsed.target!r}")
        settings["prior"] = parsed.target
    return build_attack(parsed.name, settings)


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
    }


def _check_budget(name: str, budget: Budget, veil: Veil) -> None:
    """Raise if the veil, or plain noise, can't have a budget."""
    mechanism_at = veil.mechanism_at if name == "veil" else _plain_mechanism(name, veil.shape.dimensions)
    epsilon = budget.literal(mechanism_at, veil.typical.signal)
    if not np.isfinite(mechanism_at(epsilon).noise_ratio(veil.typical.signal)):
        raise InvalidInputError(f"{budget.asked} is too little for {name}: nothing is left of a vector")
    if name == "veil":
        # The veil itself refuses a budget at which some axis would be released in clear, and warns of too much noise.
        veil.release(epsilon=epsilon)


def _plain_mechanism(name: str, dimensions: int) -> Callable[[float], Mechanism]:
    kind = MECHANISMS.load(name)
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


def _judge(spec: str, veil: Veil, cache: Path | None, progress: Progress) -> MemoizedEmbedder | None:
    if not spec:
        return None
    judge = resolve_embedder(spec, cache=cache)
    if judge.fingerprint == veil.fingerprint:
        raise InvalidInputError(f"the judge must be another model than the attacked one, got {spec!r}")
    return MemoizedEmbedder(judge, progress)


def _without_attacks(attacks: Mapping[str, Attack], words: int) -> dict[str, Attack]:
    """Return no attack, or raise where the user asked for one: with a single word there is nothing to read back."""
    asked = [spec for spec in attacks if parse_spec(spec, ATTACKS.kind).name not in ALWAYS]
    problem = f"the concept comes down to {words} sensitive word in these texts: there is no other to tell it from"
    if asked:
        raise InvalidInputError(f"{problem}, so that {asked[0]!r} can't run; leave it out, and the concept probes will")
    warnings.warn(f"{problem}; only the concept probes were run", VecveilWarning, stacklevel=3)
    return {}
