-- One row is a predicate: its attribute, its text, and how many expressions use it.
SELECT p.attribute, p.predicate, p.operator, p.family, p.literals, p.true_when_absent, count(m.expression_id) AS expressions,
  p.expected_frequency, p.node_id
FROM (SELECT *, {predicate_text} AS predicate FROM {predicates}) p
LEFT JOIN {expression_predicates} m ON m.predicate_id = p.node_id
GROUP BY ALL
