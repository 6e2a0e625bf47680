-- One row is the event set of a node of a level in a block: an or-node unites, an and-node intersects the sets of its
-- children. A child without a row has no events. Run once per level and batch.
SELECT {hint} a.parent_id AS node_id, a.block, bitmap_or_agg(s.events) AS events
FROM {asked} a
JOIN {sets} s ON s.node_id = a.child_id AND s.block = a.block
WHERE a.parent_operator = 'or'
GROUP BY a.parent_id, a.block
UNION ALL
SELECT * FROM (
  SELECT {hint} a.parent_id, a.block, bitmap_and_agg(s.events) AS events
  FROM {asked} a
  JOIN {sets} s ON s.node_id = a.child_id AND s.block = a.block
  WHERE a.parent_operator = 'and'
  GROUP BY a.parent_id, a.block
  HAVING count(*) = first(a.arity))
WHERE bitmap_count(events) > 0
