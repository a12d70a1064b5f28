"""JSON without some of its fields, made by PostgreSQL. Imports psycopg."""

from __future__ import annotations

import json
from collections.abc import Sequence

from psycopg import sql

from vecveil.migrate.pgvector_database import Statement
from vecveil.migrate.pgvector_name import written_out
from vecveil.migrate.texts import FieldPath

# One path after the other is taken out, in steps and not inside of one another: there may be thousands. In a list, a
# name that is no number is an error, and one that is a number means another thing, so all on the way must be objects.
_STEPS = sql.SQL(
    """(
    WITH RECURSIVE step (v, n) AS (
      SELECT {value}::jsonb, 0
      UNION ALL SELECT CASE WHEN EXISTS (
        SELECT FROM generate_series(1, cardinality(path)) depth
        WHERE jsonb_typeof(v #> path[:depth - 1]) IS DISTINCT FROM 'object'
      ) THEN v ELSE v #- path END, n + 1
      FROM step CROSS JOIN LATERAL (SELECT ARRAY(SELECT jsonb_array_elements_text({paths}::jsonb -> n))) next (path)
      WHERE n < {count}
    ) SELECT v FROM step WHERE n = {count}
    )::{kind}"""
)


def without_fields(value: Statement, paths: Sequence[FieldPath], kind: str) -> Statement:
    """Return JSON without the fields at some paths; what is no object on the way there stays as it is.

    Args:
        value: The JSON.
        paths: Names of fields, each inside of the one before.
        kind: Type of the JSON.
    """
    listed = sql.Literal(json.dumps(paths).replace("%", "%%"))
    return _STEPS.format(value=value, paths=listed, count=sql.Literal(len(paths)), kind=written_out(kind))
