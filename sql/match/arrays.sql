-- One row is an event and the sorted array of the expressions that it satisfies, which may be empty. Run once per
-- batch, when the result is read.
SELECT n.event_id, coalesce(m.expression_ids, array()) AS expression_ids
FROM {numbers} n
LEFT JOIN (
  SELECT u.block, u.position, sort_array(collect_list(x.expression_id)) AS expression_ids
  FROM {unfolded} u
  JOIN {expressions} x ON x.node_id = u.node_id
  GROUP BY u.block, u.position) m ON m.block = n.block AND m.position = n.position
