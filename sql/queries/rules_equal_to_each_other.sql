-- Which rules mean the same, however they are written?
SELECT min(canonical) AS meaning, count(*) AS rules, array_sort(collect_list(expression_id)) AS expression_ids
FROM expression_texts
GROUP BY node_id
HAVING count(*) > 1
ORDER BY rules DESC, meaning
