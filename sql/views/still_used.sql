-- One row is a node and the level up to which its text is needed.
SELECT node_id, max(until) AS until
FROM (
  SELECT explode(operands) AS node_id, logical_level AS until FROM {nodes}
  UNION ALL
  SELECT node_id, 2147483647 FROM {expressions})
GROUP BY node_id
