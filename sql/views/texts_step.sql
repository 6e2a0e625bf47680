-- One row is a node and its text: the step of one level of `expression_texts`.
SELECT r.node_id,
  substr(
    CASE WHEN r.operator = 'as it is' THEN first(s.text)
      ELSE array_join(
        transform(array_sort(collect_list(struct(r.at, s.compound, s.text))), x -> if(x.compound, '(' || x.text || ')', x.text)),
        ' ' || upper(r.operator) || ' ') END,
    1, 10000) AS text,
  if(r.operator = 'as it is', first(s.compound), TRUE) AS compound
FROM {below} s
JOIN (
  SELECT node_id, operator, posexplode(operands) AS (at, child_id) FROM {nodes} WHERE logical_level = {level}
  UNION ALL
  SELECT node_id, 'as it is', 0, node_id FROM {still_used} WHERE until > {level}) r ON r.child_id = s.node_id
GROUP BY r.node_id, r.operator
