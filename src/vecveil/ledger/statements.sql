-- Statements that SQLite and PostgreSQL understand alike, each under its name.
--
-- The table `staged` holds what is about to be released, or asked for. A record pays once for each noise (token) it was
-- released with, however many runs released it; where those runs have different costs, the highest counts. So does a
-- clean vector, by whichever name it is released.

-- name: create_meta
CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL)

-- name: create_runs
CREATE TABLE runs (
  number {number} PRIMARY KEY, id text NOT NULL UNIQUE, kind text NOT NULL, veil text NOT NULL,
  mechanism text NOT NULL, epsilon double precision, distance text, cost double precision,
  noise text NOT NULL, word_epsilon double precision, started bigint NOT NULL
)

-- name: create_releases
CREATE TABLE releases (
  run integer NOT NULL, place bigint NOT NULL, record {blob} NOT NULL, token {blob} NOT NULL,
  vector {blob} NOT NULL, words bigint NOT NULL, at bigint NOT NULL, PRIMARY KEY (run, place)
) {options}

-- name: create_links
CREATE TABLE links (
  number {number} PRIMARY KEY, run integer NOT NULL, place bigint NOT NULL, rows bigint NOT NULL, setting text,
  head {blob} NOT NULL
)

-- name: create_record_index
CREATE INDEX releases_of_record ON releases (record, token, run)

-- name: create_vector_index
CREATE INDEX releases_of_vector ON releases (vector, token, run, record)

-- name: create_balances
-- The balance of each record, for anyone who may read the database.
CREATE VIEW balances AS SELECT record, SUM(cost) AS spent, SUM(word_cost) AS words_spent FROM (
  SELECT record, token, MAX(COALESCE(runs.cost, 0.0)) AS cost,
         MAX(COALESCE(runs.word_epsilon * releases.words, 0.0)) AS word_cost
  FROM releases JOIN runs ON runs.number = releases.run GROUP BY record, token
) AS noises GROUP BY record

-- name: create_staged
CREATE TEMP TABLE IF NOT EXISTS staged AS SELECT place, record, token, vector, words FROM releases WHERE false

-- name: meta
SELECT key, value FROM meta

-- name: add_meta
INSERT INTO meta (key, value) VALUES ($1, $2)

-- name: drop_meta
DELETE FROM meta WHERE key = $1

-- name: begin_run
INSERT INTO runs (id, kind, veil, mechanism, epsilon, distance, cost, noise, word_epsilon, started)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 WHERE NOT EXISTS (SELECT 1 FROM runs WHERE id = $1)

-- name: run
SELECT number, id, kind, veil, mechanism, epsilon, distance, cost, noise, word_epsilon FROM runs WHERE id = $1

-- name: runs
SELECT started, COUNT(releases.place), COUNT(DISTINCT releases.record),
       id, kind, veil, mechanism, epsilon, distance, cost, noise, word_epsilon
FROM runs LEFT JOIN releases ON releases.run = runs.number
GROUP BY runs.number ORDER BY runs.number

-- name: clashes
SELECT COUNT(*), MIN(releases.place) FROM staged CROSS JOIN releases
WHERE releases.run = $1 AND releases.place = staged.place
  AND (releases.record <> staged.record OR releases.token <> staged.token OR releases.vector <> staged.vector)

-- name: renamed
-- Staged rows whose vector has left, or is about to, as another record.
SELECT COUNT(*), MIN(place) FROM staged WHERE vector IN (
  SELECT vector FROM (
    SELECT vector, record FROM staged
    UNION
    SELECT wanted.vector, releases.record
    FROM (SELECT vector FROM staged GROUP BY vector) AS wanted CROSS JOIN releases CROSS JOIN runs
    WHERE releases.vector = wanted.vector AND runs.number = releases.run AND runs.kind = 'release'
  ) AS known GROUP BY vector HAVING COUNT(*) > 1
) HAVING COUNT(*) > 0

-- name: record
-- SQLite needs "WHERE true" to see that what follows is not the condition of a join.
INSERT INTO releases (run, place, record, token, vector, words, at)
SELECT $1, place, record, token, vector, words, $2 FROM staged WHERE true
ON CONFLICT (run, place) DO NOTHING RETURNING place

-- name: links
-- The chain: each link has the head of all releases and changes of a setting up to it.
SELECT links.number, links.run, place, rows, setting, head, id, kind, veil, mechanism, epsilon, distance, cost, noise, word_epsilon
FROM links LEFT JOIN runs ON runs.number = links.run WHERE links.number > $1 ORDER BY links.number LIMIT $2

-- name: head
SELECT COALESCE((SELECT head FROM links ORDER BY number DESC LIMIT 1), $1)

-- name: find_head
SELECT 1 FROM links WHERE head = $1

-- name: add_link
INSERT INTO links (run, place, rows, setting, head) VALUES ($1, $2, $3, $4, $5)

-- name: linked
SELECT place, record, token, vector, words FROM releases WHERE run = $1 AND place >= $2 AND place < $3 ORDER BY place

-- name: losses
-- What each staged record (or vector) has lost, and would have lost if its staged rows were released at a cost of $1.
-- CROSS JOIN keeps SQLite from reading all releases to find those of a few records.
SELECT {by}, SUM(spent) AS spent, SUM(cost) AS total FROM (
  SELECT {by}, token, MAX(spent) AS spent, MAX(cost) AS cost FROM (
    SELECT {by}, token, 0.0 AS spent, $1 * {times} AS cost FROM staged
    UNION ALL
    SELECT releases.{by}, releases.token, COALESCE({recorded}, 0.0), COALESCE({recorded}, 0.0)
    FROM (SELECT {by} FROM staged GROUP BY {by}) AS wanted CROSS JOIN releases CROSS JOIN runs
    WHERE releases.{by} = wanted.{by} AND runs.number = releases.run
  ) AS asked GROUP BY {by}, token
) AS noises GROUP BY {by}

-- name: totals
SELECT (SELECT COUNT(*) FROM releases) AS releases, COUNT(*) AS records, COALESCE(MAX(spent), 0.0) AS highest,
       COALESCE(MAX(words_spent), 0.0) AS highest_words
FROM balances

-- name: entries
-- Pages of the releases, each after the last row of the one before.
SELECT run, place, record, token, words, at, id, kind, veil, mechanism, epsilon, distance, cost, noise, word_epsilon
FROM releases CROSS JOIN runs
WHERE runs.number = releases.run AND (run, place) > ($1, $2) ORDER BY run, place LIMIT $3

-- name: overdrawn
SELECT COUNT(*), MAX({spent}) FROM balances WHERE {spent} > $1 HAVING COUNT(*) > 0

-- name: over_limit
-- A release that adds nothing is never refused: it tells no more than what is out already.
SELECT COUNT(*), MAX(spent), MAX(total) FROM ({losses}) AS losses WHERE total > $2 AND total > spent
