"""From what a user asks for to a bench, with everything checked before anything long begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.defences import Rewritten
from vecveil.audit.encoding import Memory
from vecveil.audit.folder import AuditFolder
from vecveil.audit.frontier.bench import Bench
from vecveil.audit.frontier.plan import FrontierPlan
from vecveil.audit.frontier.run import Frontier
from vecveil.audit.frontier.yardstick import SearchYardstick, TaskYardstick, Utility, Yardstick
from vecveil.audit.tasks import build_task
from vecveil.concepts import Concept, Passage
from vecveil.concepts.rewriting import build_rewriter
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder, resolve_embedder


def prepare_frontier(
    plan: FrontierPlan,
    concept: Concept,
    texts: Iterable[Passage],
    folder: AuditFolder,
    *,
    embedder: str | Embedder = "minilm",
    cache: Path | None = None,
    progress: Progress = silent,
) -> Frontier:
    """Return the comparison that `plan` asks for.

    Args:
        plan: Contenders, attacks, levels and seeds.
        concept: What is private.
        texts: The owner's texts.
        folder: Where what was computed is kept.
        embedder: A name or an object.
        cache: Folder to keep clean embeddings in; as sensitive as the texts.
        progress: Told how far the work is.
    """
    bench = make_bench(
        concept,
        list(texts),
        tasks=plan.tasks,
        embedder=embedder,
        copies=plan.copies,
        near_copies=plan.near_copies,
        cache=cache,
        progress=progress,
    )
    return Frontier(plan=plan, bench=bench, folder=folder, progress=progress)


def make_bench(
    concept: Concept,
    texts: Sequence[Passage],
    *,
    tasks: Sequence[str],
    embedder: str | Embedder,
    copies: int,
    near_copies: float | None,
    cache: Path | None,
    progress: Progress,
) -> Bench:
    """Return the bench for a corpus: tasks are read first, since a misspelt one should not cost an embedding."""
    own = list(dict.fromkeys(passage.text for passage in texts))
    built = [build_task(spec, texts=own) for spec in tasks]
    embed = Memory(resolve_embedder(embedder, cache=cache), progress)
    corpus = AuditCorpus.of(concept, texts, embed, near_copies=near_copies, progress=progress)
    yardsticks: list[Yardstick] = [TaskYardstick(task=task, embed=embed) for task in built]
    return Bench(
        corpus=corpus,
        utility=Utility(yardsticks or [SearchYardstick.on(corpus)]),
        embed=embed,
        redacted=Rewritten.over(corpus.passages, build_rewriter("remove"), concept, embed, seed=0),
        copies=copies,
    )
