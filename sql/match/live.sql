-- One row is a node of a level that some event of a block may satisfy: an or-node with a child that has events, or an
-- and-node whose access child has. The others are not looked at. Run once per level and batch.
SELECT {hint} DISTINCT e.parent_id, s.block
FROM {edges} e
JOIN {ids} s ON s.node_id = e.child_id
WHERE e.parent_operator = 'or' OR e.is_access
