-- Queries for tables of pgvector, each below its name. What stands in braces is filled in by `Database.run`.

-- name: tables
SELECT relname FROM pg_class
WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid) AND relnamespace <> 'pg_catalog'::regnamespace

-- name: columns
WITH RECURSIVE own AS (
  SELECT * FROM pg_attribute WHERE attrelid = {table}::regclass AND attnum > 0 AND NOT attisdropped
), inside (root, oid, bare, listed) AS (
  SELECT DISTINCT atttypid, atttypid, true, false FROM own
  UNION
  SELECT i.root, part.oid, i.bare AND part.bare, i.listed OR part.listed
  FROM inside i JOIN pg_type t ON t.oid = i.oid CROSS JOIN LATERAL (
    SELECT t.typbasetype, true, false WHERE t.typbasetype <> 0
    UNION ALL SELECT t.typelem, false, true WHERE t.typelem <> 0 AND t.typcategory = 'A'
    UNION ALL SELECT atttypid, false, false FROM pg_attribute
      WHERE attrelid = t.typrelid AND attnum > 0 AND NOT attisdropped
  ) part (oid, bare, listed)
), kinds AS (
  SELECT root, bool_or(bare AND typname = ANY ({vectors})) AS vector,
    bool_or(typname = ANY ({unprotected}) OR listed AND typname = ANY ({numbers})) AS unprotected
  FROM inside JOIN pg_type USING (oid) GROUP BY root
)
SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attgenerated <> '', k.vector, k.unprotected,
  coalesce(i.at_once AND a.attnotnull, false), coalesce(i.deferred, false), coalesce(i.primary_key, false),
  EXISTS (SELECT FROM pg_index WHERE indrelid = a.attrelid AND indisprimary AND a.attnum = ANY (indkey))
FROM own a JOIN kinds k ON k.root = a.atttypid LEFT JOIN LATERAL (
  SELECT bool_or(indisunique AND indimmediate AND indisvalid AND indpred IS NULL) AS at_once,
    bool_or(indisunique AND NOT indimmediate) AS deferred, bool_or(indisprimary) AS primary_key
  FROM pg_index WHERE indrelid = a.attrelid AND indnkeyatts = 1 AND indkey[0] = a.attnum
) i ON true ORDER BY a.attnum

-- name: operators
SELECT o.opcname FROM pg_index i JOIN pg_opclass o ON o.oid = i.indclass[0]
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
WHERE i.indrelid = {table}::regclass AND a.attname = {column}

-- name: read_rows
SELECT s.{id}::text, s.{vector}::real[] {others} FROM {table} s
WHERE {last}::text IS NULL OR s.{id} > {last}::text::{type} ORDER BY s.{id} LIMIT {rows}

-- name: present_ids
SELECT {id}::text FROM {table} WHERE {id} = ANY ({ids}::text[]::{type}[])

-- name: add_seals
ALTER TABLE {shadow} ADD COLUMN {seal} bytea

-- name: append_rows
INSERT INTO {shadow} ({columns}) OVERRIDING SYSTEM VALUE
SELECT {values} FROM unnest({ids}::text[], {vectors}::text[], {seals}::bytea[]) batch (id, vector, seal)
JOIN {table} s ON s.{id} = batch.id::{type} ORDER BY s.{id} ON CONFLICT ({id}) DO NOTHING

-- name: nearest_rows
SELECT {id}::text FROM {table} ORDER BY {vector} {operator} {row}::real[]::{vector_type} LIMIT {k}

-- name: without_fields
-- One path after the other is taken out, in steps and not inside of one another: there may be thousands. In a list, a
-- name that is no number is an error, and one that is a number means another thing, so all on the way must be objects.
(
  WITH RECURSIVE step (v, n) AS (
    SELECT {value}::jsonb, 0
    UNION ALL SELECT CASE WHEN EXISTS (
      SELECT FROM generate_series(1, cardinality(path)) depth
      WHERE jsonb_typeof(v #> path[:depth - 1]) IS DISTINCT FROM 'object'
    ) THEN v ELSE v #- path END, n + 1
    FROM step CROSS JOIN LATERAL (SELECT ARRAY(SELECT jsonb_array_elements_text({paths}::jsonb -> n))) next (path)
    WHERE n < {count}
  ) SELECT v FROM step WHERE n = {count}
)::{type}

-- name: create_like
SELECT format('CREATE %sTABLE %s (LIKE %s INCLUDING ALL) USING %I%s',
  CASE relpersistence WHEN 'u' THEN 'UNLOGGED ' END, {new}::text, c.oid::regclass, amname,
  ' TABLESPACE ' || quote_ident(spcname))
FROM pg_class c JOIN pg_am a ON a.oid = c.relam LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
WHERE c.oid = {old}::regclass

-- name: copy_settings
-- What LIKE does not take along.
SELECT format('ALTER TABLE %s SET (%s%I = %L)', {new}::regclass, place, option_name, option_value) FROM (
  SELECT '', reloptions FROM pg_class WHERE oid = {old}::regclass
  UNION ALL SELECT 'toast.', t.reloptions FROM pg_class c JOIN pg_class t ON t.oid = c.reltoastrelid
    WHERE c.oid = {old}::regclass
) kept (place, options) CROSS JOIN LATERAL pg_options_to_table(options)
UNION ALL SELECT format('ALTER TABLE %s ALTER %I SET STATISTICS %s', {new}::regclass, attname, attstattarget)
FROM pg_attribute WHERE attrelid = {old}::regclass AND attnum > 0 AND NOT attisdropped AND attstattarget >= 0
UNION ALL
SELECT format('ALTER TABLE %s ALTER %I SET (%I = %L)', {new}::regclass, attname, option_name, option_value)
FROM pg_attribute CROSS JOIN LATERAL pg_options_to_table(attoptions)
WHERE attrelid = {old}::regclass AND attnum > 0 AND NOT attisdropped
UNION ALL SELECT format('ALTER TABLE %s REPLICA IDENTITY %s', {new}::regclass, identity) FROM pg_class
JOIN (VALUES ('f', 'FULL'), ('n', 'NOTHING')) kind (letter, identity) ON letter = relreplident::text
WHERE oid = {old}::regclass

-- name: set_owner
SELECT format('ALTER TABLE %s OWNER TO %I', {new}::regclass, pg_get_userbyid(relowner))
FROM pg_class WHERE oid = {old}::regclass

-- name: close_to_others
SELECT DISTINCT format('REVOKE ALL ON %s FROM %s CASCADE', c.oid::regclass, coalesce(quote_ident(rolname), 'PUBLIC'))
FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) acl LEFT JOIN pg_roles r ON r.oid = acl.grantee
WHERE c.oid = {new}::regclass AND acl.grantee <> c.relowner

-- name: paired_indexes
-- Each index of a table with one of another that is the same, if there is one. A definition begins with the names of the
-- index and of its table; what comes after them is compared.
WITH indexes AS (
  SELECT i.indrelid, c.relname, i.indisreplident, i.indisclustered, definition,
    row_number() OVER (PARTITION BY i.indrelid, definition ORDER BY c.relname) AS place
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
  JOIN pg_namespace n ON n.oid = t.relnamespace
  LEFT JOIN pg_constraint k ON k.conindid = c.oid AND k.conrelid = t.oid AND k.contype IN ('p', 'u', 'x')
  CROSS JOIN LATERAL concat_ws(' ', i.indisunique, i.indimmediate, pg_get_constraintdef(k.oid), substr(
    pg_get_indexdef(c.oid),
    1 + length(format('CREATE %sINDEX %I ON %I.%I', CASE WHEN indisunique THEN 'UNIQUE ' END, c.relname,
      n.nspname, t.relname))
  )) definition
  WHERE i.indrelid IN ({old}::regclass, {new}::regclass)
)
SELECT o.relname, n.relname, o.indisreplident, o.indisclustered
FROM indexes o LEFT JOIN indexes n ON n.indrelid = {new}::regclass AND (n.definition, n.place) = (o.definition, o.place)
WHERE o.indrelid = {old}::regclass ORDER BY 1

-- name: reindex
-- The lists of an IVFFlat index that was made of an empty or smaller table find little. One that was never made anew is
-- in the file that it began in, which is called by its number.
SELECT format('REINDEX INDEX %s', c.oid::regclass) FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
WHERE i.indrelid = {shadow}::regclass AND a.amname = 'ivfflat' AND (c.relfilenode = c.oid OR {grown})

-- name: rights
SELECT relkind = 'r', pg_get_userbyid(relowner), pg_has_role(relowner, 'USAGE'), nspname, CASE
  WHEN NOT has_schema_privilege(n.oid, 'CREATE') THEN current_user
  WHEN NOT me.rolsuper AND NOT has_schema_privilege(relowner, n.oid, 'CREATE') THEN pg_get_userbyid(relowner)
END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_roles me ON me.rolname = current_user
WHERE c.oid = {table}::regclass

-- name: obstacles
-- PostgreSQL knows all that depends on a table. What is named here goes along with its rows; all the rest does not.
WITH old AS (
  SELECT c.*, t.typarray FROM pg_class c LEFT JOIN pg_type t ON t.oid = c.reltype WHERE c.oid = {table}::regclass
)
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) FROM old JOIN pg_depend d
  ON d.refclassid = 'pg_class'::regclass AND d.refobjid = old.oid
  OR d.refclassid = 'pg_type'::regclass AND d.refobjid IN (old.reltype, old.typarray)
WHERE NOT CASE d.classid
  WHEN 'pg_class'::regclass THEN d.objid = old.oid OR EXISTS (
    SELECT FROM pg_class WHERE oid = d.objid
      AND (relkind IN ('i', 't') OR relkind = 'S' AND d.deptype IN ('a', 'i'))
  )
  WHEN 'pg_type'::regclass THEN d.objid IN (old.reltype, old.typarray)
  WHEN 'pg_attrdef'::regclass THEN EXISTS (SELECT FROM pg_attrdef WHERE oid = d.objid AND adrelid = old.oid)
  WHEN 'pg_constraint'::regclass THEN EXISTS (
    SELECT FROM pg_constraint WHERE oid = d.objid AND conrelid = old.oid AND contype IN ('p', 'u', 'x', 'c', 'n')
  )
  ELSE d.classid IN ('pg_statistic_ext'::regclass, 'pg_publication_rel'::regclass)
END
UNION SELECT 'publication ' || p.pubname FROM old JOIN pg_publication_tables p
  ON p.schemaname = old.relnamespace::regnamespace::name AND p.tablename = old.relname
UNION SELECT 'subscription ' || s.subname FROM old JOIN pg_subscription_rel r ON r.srrelid = old.oid
  JOIN pg_subscription s ON s.oid = r.srsubid
UNION SELECT 'security label of ' || provider FROM old JOIN pg_seclabel
  ON classoid = 'pg_class'::regclass AND objoid = old.oid
UNION SELECT 'parent ' || inhparent::regclass FROM old JOIN pg_inherits ON inhrelid = old.oid
UNION SELECT 'row-level security' FROM old WHERE relrowsecurity OR relforcerowsecurity
ORDER BY 1

-- name: differing_ids
SELECT count(*) FILTER (WHERE s.{id} IS NULL), count(*) FILTER (WHERE c.{id} IS NULL)
FROM {collection} c FULL JOIN {shadow} s ON s.{id} = c.{id} WHERE s.{id} IS NULL OR c.{id} IS NULL

-- name: revoke_own
-- An owner may have taken rights from itself.
SELECT format('REVOKE ALL ON %s FROM %I', {new}::regclass, pg_get_userbyid(relowner))
FROM pg_class WHERE oid = {old}::regclass AND relacl IS NOT NULL

-- name: grant
SELECT format('GRANT %s%s ON %s TO %s%s', acl.privilege_type, ' (' || quote_ident(given.attname) || ')',
  {new}::regclass, coalesce(quote_ident(r.rolname), 'PUBLIC'),
  CASE WHEN acl.is_grantable THEN ' WITH GRANT OPTION' END)
FROM (
  SELECT NULL::name, relacl FROM pg_class WHERE oid = {old}::regclass
  UNION ALL SELECT attname, attacl FROM pg_attribute
    WHERE attrelid = {old}::regclass AND attnum > 0 AND NOT attisdropped
) given (attname, rights) CROSS JOIN LATERAL aclexplode(given.rights) acl
LEFT JOIN pg_roles r ON r.oid = acl.grantee

-- name: paired_sequences
SELECT a.attname, a.attidentity <> '', o.oid::regclass::text, o.relname, n.oid::regclass::text, n.relname
FROM pg_attribute a JOIN pg_class o ON o.oid = pg_get_serial_sequence({old}, a.attname)::regclass
LEFT JOIN pg_class n ON n.oid = pg_get_serial_sequence({new}, a.attname)::regclass
WHERE a.attrelid = {old}::regclass AND a.attnum > 0 AND NOT a.attisdropped

-- name: own_sequence
ALTER SEQUENCE {sequence} OWNED BY {shadow}.{column}

-- name: copy_sequence
-- The shadow's own sequence has not moved: its ids were written, not drawn.
SELECT setval({new}::regclass, last_value, is_called) FROM {old}

-- name: lock
LOCK TABLE {collection}, {shadow} IN SHARE ROW EXCLUSIVE MODE

-- name: lock_timeout
SELECT set_config('lock_timeout', {milliseconds}, true)

-- name: rename
ALTER {kind} {old} RENAME TO {new}

-- name: replicate_by
ALTER TABLE {shadow} REPLICA IDENTITY USING INDEX {index}

-- name: cluster_by
ALTER TABLE {shadow} CLUSTER ON {index}

-- name: allow_empty
ALTER TABLE {shadow} ALTER COLUMN {column} DROP NOT NULL, ALTER COLUMN {column} DROP DEFAULT

-- name: write_comment
COMMENT ON TABLE {shadow} IS {mark}

-- name: read_comment
SELECT obj_description(to_regclass({table}), 'pg_class')

-- name: analyze
ANALYZE {shadow}

-- name: drop
DROP TABLE {table}

-- name: find
SELECT to_regclass({table})

-- name: find_schema
SELECT relnamespace::regnamespace::name FROM pg_class WHERE oid = to_regclass({table})

-- name: count
SELECT count(*) FROM {table}
