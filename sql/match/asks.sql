-- One row is a piece that a leaf is put together from: few, however long its run of segments. Ordered by leaf, so that
-- uniting them moves no bitmap. Run once per batch.
SELECT node_id, block, lane, k, j
FROM (
  SELECT node_id, block, lane, k, explode(
    filter(sequence(low, high - 1), x -> above >= until OR x < above * 8 OR x >= until * 8)) AS j
  FROM (
    -- At step k the run covers the pieces low .. high - 1; those that step k + 1 covers, above .. until - 1, are its.
    SELECT node_id, block, lane, k,
      CAST(ceil(first / power(8, k)) AS INT) AS low, CAST(floor(last / power(8, k)) AS INT) AS high,
      CASE WHEN k < depth THEN CAST(ceil(first / power(8, k + 1)) AS INT) ELSE 1 END AS above,
      CASE WHEN k < depth THEN CAST(floor(last / power(8, k + 1)) AS INT) ELSE 0 END AS until
    FROM (SELECT *, explode(sequence(0, depth)) AS k FROM {runs} WHERE NOT refuses))
  WHERE low < high
  UNION ALL
  SELECT s.node_id, e.block, s.lane, 0, 0
  FROM {shared} s
  CROSS JOIN {everyone} e)
DISTRIBUTE BY node_id SORT BY node_id, block
