-- One row is a predicate that lists satisfy by what they do not hold: NOT array_contains, NOT arrays_overlap.
-- Run once per version.
SELECT p.node_id, a.number AS attribute, p.family, size(p.literals) AS literals,
  exists(p.literals, x -> x IS NULL) AS has_null
FROM {predicates} p
JOIN {attributes} a ON a.attribute = p.attribute
WHERE p.operator LIKE 'not array%'
