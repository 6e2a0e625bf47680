-- One row is the event set of a node of a level in a block: an or-node unites, an and-node intersects the sets of its
-- children. A child without a row has no events. Run once per level and batch.
SELECT {hint} a.parent_id AS node_id, first(a.block) AS block, bitmap_or_agg(s.events) AS events
FROM {asked} a
JOIN {sets} s ON s.node_id = a.child_id AND s.block = a.block
WHERE a.parent_operator = 'or'
GROUP BY {group}
UNION ALL
SELECT * FROM (
  SELECT {hint} a.parent_id, first(a.block), bitmap_and_agg(s.events) AS events
  FROM {asked} a
  JOIN {sets} s ON s.node_id = a.child_id AND s.block = a.block
  WHERE a.parent_operator = 'and'
  GROUP BY {group}
  HAVING count(*) = first(a.arity))
WHERE bitmap_count(events) > 0
