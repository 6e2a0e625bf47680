-- One row is an event: its block, its place in the block, its values. The place depends on nothing but the ids, so it is
-- the same wherever this is evaluated again. Only for a match that is written out as one query.
SELECT event_id, values, part * 100000 + n DIV 32768 AS block, n % 32768 AS position
FROM (
  SELECT event_id, values, part, row_number() OVER (PARTITION BY part ORDER BY key) - 1 AS n
  FROM (
    SELECT event_id, key, values, pmod(xxhash64(key), (SELECT count(*) DIV 30000 + 1 FROM {events})) AS part
    FROM {copied}))
