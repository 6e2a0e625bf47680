-- One row is a node and the level up to which its event set is needed: by its highest parent, or by expressions.
-- Only for a match that is written out as one query.
SELECT node_id, max(until) AS until
FROM (
  SELECT child_id AS node_id, parent_level AS until FROM {edges}
  UNION ALL
  SELECT node_id, 2147483647 FROM {expressions})
GROUP BY node_id
