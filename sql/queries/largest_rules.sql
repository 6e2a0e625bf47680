-- Which rules are the most complicated?
SELECT x.expression_id, count(m.predicate_id) AS tests, count(DISTINCT m.attribute) AS attributes,
  any_value(x.expression) AS expression
FROM expression_texts x
LEFT JOIN expression_predicates m ON m.expression_id = x.expression_id
GROUP BY x.expression_id
ORDER BY tests DESC, x.expression_id
LIMIT 100
