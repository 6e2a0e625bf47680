-- Which attributes carry the rules: how many rules use each, in how many different tests?
SELECT attribute, count(DISTINCT expression_id) AS rules, count(DISTINCT predicate_id) AS tests
FROM expression_predicates
GROUP BY attribute
ORDER BY rules DESC, attribute
