-- One row is an AND or OR that several expressions may share: its operands, level, and how often it is used.
-- children: the edges a match follows, fewer than operands where other nodes cover several of them.
SELECT n.node_id, n.operator, size(n.operands) AS operands, coalesce(e.children, 0) AS children, n.level, n.use_count,
  coalesce(x.expressions, 0) AS expressions, n.expected_frequency, n.access_child, n.operands AS operand_ids
FROM {nodes} n
LEFT JOIN (SELECT parent_id, count(*) AS children FROM {edges} GROUP BY parent_id) e ON e.parent_id = n.node_id
LEFT JOIN (SELECT node_id, count(*) AS expressions FROM {expressions} GROUP BY node_id) x ON x.node_id = n.node_id
