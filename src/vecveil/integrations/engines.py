"""Protection of tables in many parts, on Ray or Spark."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vecveil.core.atomic import atomic_folder
from vecveil.core.errors import InvalidInputError
from vecveil.files.output import FOLDER_LABEL
from vecveil.ledger import POSTGRES
from vecveil.veil import Guard
from vecveil.veil.batches import BatchProtection
from vecveil.veil.columns import ColumnPlan, find_private_columns
from vecveil.veil.ledger_run import choose_ledger


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns are what, as for `vecveil protect`.

    Attributes:
        text_column: Column of texts.
        vector_column: Column of vectors that the veil's model made.
        id_column: Column that says which record a row is.
        group_column: Column that says which texts belong together, such as those of one person.
        annotations_column: Column of annotations, for concepts that read them; "entities" where None.
        keep: Columns to carry through that would be left out for safety.
        skip_empty: Leave rows without a text out.
        seal: Write a column of seals beside the protected vectors.
    """

    text_column: str | None = None
    vector_column: str | None = None
    id_column: str | None = None
    group_column: str | None = None
    annotations_column: str | None = None
    keep: tuple[str, ...] = ()
    skip_empty: bool = False
    seal: bool = False

    def make_protection(self, guard: Guard, schema: Any, sample: Any) -> BatchProtection:
        """Return what protects batches of a table with that Arrow schema, of which `sample` is a part."""
        plan = ColumnPlan.for_schema(
            schema,
            text=self.text_column,
            vectors=self.vector_column,
            ids=self.id_column,
            groups=self.group_column,
            keep=self.keep,
            seals=self.seal,
            sample=sample,
        )
        plan = plan.read_annotations(guard.release.words, schema, self.annotations_column)
        plan = plan.leave_out(find_private_columns(sample, plan.searched, guard.finder), guard.finder)
        output = plan.output_schema(schema, guard.dimensions, guard.grid)
        return BatchProtection(guard=guard, plan=plan, schema=output, skip_empty=self.skip_empty)


def require_shared_ledger(guard: Guard) -> None:
    """Raise where the workers of several machines would each write a ledger of their own."""
    ledger = choose_ledger(guard.ledger)
    if ledger is not None and not str(ledger).startswith(POSTGRES):
        raise InvalidInputError(
            "the workers are on several machines, and a ledger in a file is one machine's: "
            "name one in PostgreSQL (postgresql://…), or --no-ledger"
        )


def write_parts(output: Path, write: Callable[[Path], None], protection: BatchProtection, *, overwrite: bool) -> int:
    """Let an engine write Parquet files to a folder, which appears when it is whole, and return its rows.

    One that is replaced stays until then.

    Args:
        output: The folder.
        write: Has the engine write to a folder.
        protection: What the parts are protected with.
        overwrite: Whether a folder that is there may be replaced.
    """
    import pyarrow.dataset as ds

    with atomic_folder(output.resolve(), overwrite=overwrite) as draft:
        # Engines make the folder themselves, and let others read it, who can't enter the draft around it.
        parts = draft / "parts"
        write(parts)
        rows = int(ds.dataset(parts, format="parquet").count_rows())
        for path in parts.iterdir():
            path.rename(draft / path.name)
        parts.rmdir()
        release = protection.release
        label = {**release.label(), **({} if release.ledger is None else release.ledger.notes())}
        if protection.plan.seals:
            label["seals"] = protection.guard.sealer.label()
        (draft / FOLDER_LABEL).write_text(json.dumps(label, indent=2), encoding="utf-8")
    return rows
