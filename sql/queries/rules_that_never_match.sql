-- Which rules can never match, whatever the event? They contradict themselves, or ask for a value between 9 and 1.
SELECT expression_id, expression, canonical
FROM expression_texts
WHERE canonical = 'FALSE'
UNION ALL
SELECT x.expression_id, x.expression, x.canonical
FROM expression_texts x
JOIN predicate_uses p ON p.node_id = x.node_id
WHERE p.operator = 'between' AND p.family IN ('integer', 'decimal', 'double')
  AND try_cast(p.literals[0] AS DOUBLE) > try_cast(p.literals[1] AS DOUBLE)
ORDER BY expression_id
