-- Which tests does a single rule use, where others test the same attribute? A threshold off by one is often a slip.
SELECT m.attribute, m.predicate, m.expression_id
FROM expression_predicates m
JOIN predicate_uses u ON u.node_id = m.predicate_id
WHERE u.expressions = 1 AND m.attribute IN (SELECT attribute FROM predicate_uses GROUP BY attribute HAVING count(*) > 1)
ORDER BY m.attribute, m.predicate
