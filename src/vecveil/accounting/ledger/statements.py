"""The statements that every database understands alike.

The table `staged` holds what is about to be released, or asked for. A record pays once for each noise (token) it was
released with, however many runs released it; where those runs disagree about the price, the dearest counts.
"""

from __future__ import annotations

LIMIT = "SELECT value FROM meta WHERE key = 'limit'"

META = "SELECT key, value FROM meta"

SET_LIMIT = """
INSERT INTO meta (key, value) VALUES ('limit', $1) ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""

DROP_LIMIT = "DELETE FROM meta WHERE key = 'limit'"

RUN = """
SELECT number, id, kind, veil, mechanism, epsilon, distance, cost, noise FROM runs WHERE id = $1
"""

BEGIN_RUN = """
INSERT INTO runs (id, kind, veil, mechanism, epsilon, distance, cost, noise, started)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""

RUNS = """
SELECT id, kind, veil, mechanism, epsilon, distance, cost, noise, started,
       COUNT(releases.place), COUNT(DISTINCT releases.record)
FROM runs LEFT JOIN releases ON releases.run = runs.number
GROUP BY runs.number ORDER BY runs.number
"""

OTHERWISE_RECORDED = """
SELECT COUNT(*), MIN(releases.place) FROM staged CROSS JOIN releases
WHERE releases.run = $1 AND releases.place = staged.place
  AND (releases.record <> staged.record OR releases.token <> staged.token)
"""

# SQLite takes "WHERE true" to see that what follows is not the condition of a join.
RECORD = """
INSERT INTO releases (run, place, record, token, at)
SELECT $1, place, record, token, $2 FROM staged WHERE true
ON CONFLICT (run, place) DO NOTHING
"""

# What every record has lost. A view, so that whoever may read the database can ask it too.
BALANCES = """
CREATE VIEW balances AS SELECT record, SUM(cost) AS spent FROM (
  SELECT record, token, MAX(COALESCE(runs.cost, 0.0)) AS cost
  FROM releases JOIN runs ON runs.number = releases.run GROUP BY record, token
) AS noises GROUP BY record
"""

HIGHEST = "SELECT COUNT(*), COALESCE(MAX(spent), 0.0) FROM balances"

OVERDRAWN = "SELECT COUNT(*), MAX(spent) FROM balances WHERE spent > $1"

# The same for a few records. CROSS JOIN keeps SQLite from walking through all releases to find those of the few.
SPENT = """
SELECT record, SUM(cost) FROM (
  SELECT releases.record AS record, MAX(COALESCE(runs.cost, 0.0)) AS cost
  FROM (SELECT record FROM staged GROUP BY record) AS wanted CROSS JOIN releases CROSS JOIN runs
  WHERE releases.record = wanted.record AND runs.number = releases.run
  GROUP BY releases.record, releases.token
) AS noises GROUP BY record
"""

# A release that adds nothing is never refused: it tells no more than what is out already.
OVER = """
SELECT COUNT(*), MAX(spent), MAX(total) FROM (
  SELECT SUM(spent) AS spent, SUM(cost) AS total FROM (
    SELECT record, token, MAX(spent) AS spent, MAX(cost) AS cost FROM (
      SELECT record, token, 0.0 AS spent, $1 AS cost FROM staged
      UNION ALL
      SELECT releases.record, releases.token, COALESCE(runs.cost, 0.0), COALESCE(runs.cost, 0.0)
      FROM (SELECT record FROM staged GROUP BY record) AS wanted CROSS JOIN releases CROSS JOIN runs
      WHERE releases.record = wanted.record AND runs.number = releases.run
    ) AS asked GROUP BY record, token
  ) AS noises GROUP BY record
) AS records WHERE total > $2 AND total > spent
"""

COUNT = "SELECT COUNT(*) FROM releases"

RELEASES = """
SELECT id, kind, veil, mechanism, epsilon, distance, cost, noise, place, record, token, at
FROM releases JOIN runs ON runs.number = releases.run ORDER BY run, place
"""

GAPS = """
SELECT runs.id, COUNT(*), MIN(place), MAX(place)
FROM releases JOIN runs ON runs.number = releases.run
GROUP BY runs.id, runs.number HAVING MIN(place) <> 0 OR MAX(place) <> COUNT(*) - 1 ORDER BY runs.number
"""

ORPHANS = "SELECT COUNT(*) FROM releases WHERE run NOT IN (SELECT number FROM runs)"
