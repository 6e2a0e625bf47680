-- Which rules mention price, and in which tests?
SELECT expression_id, array_sort(collect_list(predicate)) AS tests
FROM expression_predicates
WHERE attribute = 'price'
GROUP BY expression_id
ORDER BY expression_id
