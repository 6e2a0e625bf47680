-- One row is a predicate that is true of absence (or of mere presence), and the lane whose events it takes whole:
-- those without a value (IS NULL), with one (IS NOT NULL), or with none to compare (NOT <=>). Run once per version.
SELECT p.node_id, a.number * 128 + c.way AS lane, a.number AS attribute, c.part, c.family
FROM {predicates} p
JOIN {attributes} a ON a.attribute = p.attribute
JOIN {comparison} c
  ON c.family = p.family AND c.part = CASE WHEN p.operator = 'is not null' THEN 'present' ELSE 'absent' END
WHERE p.operator IN ('is null', 'is not null', 'not <=>')
