-- How did the index grow, version by version, and how much do its rules share?
SELECT version, published_at, operation, expressions - lag(expressions, 1, 0) OVER (ORDER BY version) AS more_rules,
  expressions, predicates, nodes, round(expressions / nullif(predicates + nodes, 0), 2) AS rules_per_node
FROM published_versions
ORDER BY version
