-- One row is a value or a bound in the order of its lane. The bounds cut the values into segments; `segments` is how
-- many have begun up to here, so a predicate holds for a run of them. position: of the event; NULL for a bound.
-- Run once per batch.
SELECT lane, depth, block, position, bound,
  sum(CASE WHEN begins THEN 1 ELSE 0 END) OVER (
    PARTITION BY lane, block ORDER BY edge, l, d, t, side ROWS UNBOUNDED PRECEDING) AS segments
FROM (
  SELECT *, position IS NOT NULL
    AND lag(position) OVER (PARTITION BY lane, block ORDER BY edge, l, d, t, side) IS NULL AS begins
  FROM (
    SELECT lane, depth, block, position, CAST(NULL AS INT) AS bound, 0 AS edge, l, d, t, 0 AS side
    FROM {keyed}
    UNION ALL
    SELECT b.lane, k.depth, k.block, NULL, b.bound, b.edge, b.l, b.d, b.t, b.side
    FROM {bounds} b
    JOIN (SELECT DISTINCT lane, depth, block FROM {keyed}) k ON k.lane = b.lane))
