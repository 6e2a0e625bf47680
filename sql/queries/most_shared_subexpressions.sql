-- Which combinations are used most often, by rules and by other combinations? Each is worked out once per event.
SELECT n.node_id, n.operator, n.operands, n.level, n.use_count,
  array_sort(collect_list(p.predicate)) AS tests_directly_below
FROM node_sharing n
LEFT JOIN predicate_uses p ON array_contains(n.operand_ids, p.node_id)
WHERE n.use_count > 1
GROUP BY n.node_id, n.operator, n.operands, n.level, n.use_count
ORDER BY n.use_count DESC, n.node_id
LIMIT 100
