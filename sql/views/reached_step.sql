-- One row is a node and a predicate below it: the step of one level of `expression_predicates`.
SELECT DISTINCT r.parent_id AS node_id, s.predicate_id
FROM {below} s
JOIN (
  SELECT parent_id, child_id FROM {edges} WHERE parent_level = {level}
  UNION ALL
  SELECT node_id, node_id FROM {still_needed} WHERE until > {level}) r ON r.child_id = s.node_id
