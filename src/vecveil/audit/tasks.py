"""Utility tasks as a user names them: `sts:pairs.parquet,split=test`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, cast

from vecveil.audit.task_files import BeirFolder, PairsFile
from vecveil.concepts import Concept, Passage
from vecveil.concepts.passage import Spans
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.core.registry import build
from vecveil.core.specs import Spec, parse_spec
from vecveil.utility import UTILITY_TASKS, UtilityTask
from vecveil.utility.mteb import load_mteb
from vecveil.veil.passages import read_passages


class Data(Protocol):
    """Where the data of a task are. A dataclass: its fields are what users may set, but for `target`.

    Attributes:
        what: What the target is: FILE, FOLDER or NAME.
    """

    what: ClassVar[str]

    def __init__(self, *, target: str, **settings: Any) -> None: ...

    def read(self) -> Mapping[str, Any]:
        """Return data of the task, by the names of its fields."""
        ...


@dataclass(frozen=True, kw_only=True)
class TextsFile:
    """A file of texts, in the column `text_column`."""

    what: ClassVar[str] = "FILE"

    target: str
    text_column: str = "text"

    def read(self) -> Mapping[str, Any]:
        """Return the data of a `Neighbors` or a `KnownItem`, by the names of its fields."""
        passages = read_passages(self.target, text_column=self.text_column, skip_empty=True)
        return {"texts": tuple(passage.text for passage in passages), "source": Path(self.target).name}


@dataclass(frozen=True, kw_only=True)
class MtebName:
    """The name of a task of MTEB, and which split and subset of it."""

    what: ClassVar[str] = "NAME"

    target: str
    split: str | None = None
    subset: str | None = None

    def read(self) -> Mapping[str, Any]:
        """Return the data of an `Mteb`, by the names of its fields."""
        chosen = {"split": self.split, "subset": self.subset}
        parts = {name: str(part) for name, part in chosen.items() if part is not None}
        source = self.target + (f"[{', '.join(parts.values())}]" if parts else "")
        return {"task": load_mteb(self.target, **parts), "source": source}


@dataclass(frozen=True, kw_only=True)
class QueriesFile:
    """A file of queries, in the column `text_column`."""

    what: ClassVar[str] = "FILE"

    target: str
    text_column: str = "text"

    def read(self) -> Mapping[str, Any]:
        """Return the data of a `Queries`, by the names of its fields; the audit has the texts."""
        passages = read_passages(self.target, text_column=self.text_column, skip_empty=True)
        return {"queries": tuple(passage.text for passage in passages), "source": Path(self.target).name}


_DATA: Mapping[str, type[Data]] = {
    "known-item": TextsFile,
    "mteb": MtebName,
    "neighbors": TextsFile,
    "queries": QueriesFile,
    "retrieval": BeirFolder,
    "sts": PairsFile,
}


def build_task(
    spec: str, *, texts: Sequence[str] = (), private: Sequence[Spans] = (), concept: Concept | None = None
) -> UtilityTask:
    """Return the task that `spec` names, with its data read.

    | spec | task |
    | --- | --- |
    | `known-item`, `neighbors` | on `texts` |
    | `known-item:FILE`, `neighbors:FILE` | on the texts of a file |
    | `queries:FILE` | on `texts`, with the queries of a file |
    | `sts:FILE` | on the scored pairs of a file |
    | `retrieval:FOLDER` | on a folder in BEIR form |
    | `mteb:NAME` | a task of MTEB |

    Each may go on with settings: those of the task, such as `,protected=documents`, and those of its data, such as
    `,split=test`. A task of another package gets what follows the colon as `target`, if it has such a field.

    Args:
        spec: `NAME[:TARGET][,setting=value…]`.
        texts: The corpus of the audit.
        private: Where the concept stands in each of its texts, where that is known.
        concept: What is private, to tell queries that name it from others; None where that does not matter.
    """
    parsed = parse_spec(spec, UTILITY_TASKS.kind)
    task: Any = UTILITY_TASKS.load(parsed.name)
    data = _DATA.get(parsed.name)
    if data is None:
        return build(UTILITY_TASKS, parsed.name, _with_target(parsed, task))
    # Fields without a default are data; the others are settings.
    known = {one.name for one in fields(task) if one.default is not MISSING} - {"private", "named"}
    own = {"texts": tuple(texts), "private": tuple(tuple((span.start, span.end) for span in one) for one in private)}
    own = {one.name: own[one.name] for one in fields(task) if one.name in own}
    if parsed.target is None and data is TextsFile:
        _check_names(parsed, known)
        return build(UTILITY_TASKS, parsed.name, {**own, **parsed.settings})
    if parsed.target is None:
        raise InvalidInputError(
            f"the utility task {parsed.name!r} needs a {data.what}: write {parsed.name}:{data.what}"
        )
    reading = {one.name for one in fields(cast(Any, data))} - {"target"}
    _check_names(parsed, known | reading)
    read = data(target=parsed.target, **{key: value for key, value in parsed.settings.items() if key in reading}).read()
    rest = {key: value for key, value in parsed.settings.items() if key not in reading}
    own = {} if "texts" in read else own
    return build(UTILITY_TASKS, parsed.name, {**own, **read, **rest, **_find_named(read.get("queries"), concept)})


def _find_named(queries: Any, concept: Concept | None) -> dict[str, Any]:
    """Return which queries name the concept: those with these ids, or a flag for each."""
    if concept is None or not queries:
        return {}
    asked = list(queries.values()) if isinstance(queries, Mapping) else list(queries)
    flags = [bool(spans) for spans in concept.find_all([Passage(text) for text in asked])]
    if not isinstance(queries, Mapping):
        return {"named": tuple(flags)}
    return {"named": frozenset(query for query, flag in zip(queries, flags, strict=True) if flag)}


def _with_target(parsed: Spec, task: Any) -> Mapping[str, Any]:
    if parsed.target is None:
        return parsed.settings
    if "target" not in {one.name for one in fields(task)}:
        raise InvalidInputError(f"the utility task {parsed.name!r} takes nothing after a colon, got {parsed.target!r}")
    return {"target": parsed.target, **parsed.settings}


def _check_names(parsed: Spec, known: Collection[str]) -> None:
    for key in parsed.settings:
        one_of(key, known, f"setting of the utility task {parsed.name!r}")
