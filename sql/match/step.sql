-- One row is the event set of a node in a block, up to this level: an or-node unites and an and-node intersects the sets
-- of its children; what is needed further up is handed on. Only for a match that is written out as one query.
SELECT r.parent_id AS node_id, s.block,
  CASE WHEN r.parent_operator = 'or' THEN bitmap_or_agg(s.events) ELSE bitmap_and_agg(s.events) END AS events
FROM {below} s
JOIN (
  SELECT parent_id, child_id, parent_operator, arity, is_access FROM {edges} WHERE parent_level = {level}
  UNION ALL
  SELECT node_id, node_id, 'or', 1, FALSE FROM {still_needed} WHERE until > {level}) r ON r.child_id = s.node_id
GROUP BY r.parent_id, s.block, r.parent_operator, r.arity
HAVING r.parent_operator = 'or'
  OR (bool_or(r.is_access) AND count(*) = r.arity AND bitmap_count(bitmap_and_agg(s.events)) > 0)
