-- One row is a predicate with a pattern: LIKE, ILIKE, RLIKE and their inverses. Run once per version.
SELECT p.node_id, a.number AS attribute, p.operator, p.literals[0] AS pattern
FROM {predicates} p
JOIN {attributes} a ON a.attribute = p.attribute
WHERE p.operator LIKE '%like'
