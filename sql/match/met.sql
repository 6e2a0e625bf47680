-- One row is an event that has a value to compare (or any, for IS [NOT] NULL) in a shared lane. Run once per batch.
WITH wanted AS (SELECT DISTINCT lane, attribute, part, family FROM {shared})
SELECT DISTINCT w.lane, v.block, v.position
FROM wanted w
JOIN {values} v ON v.attribute = w.attribute AND v.part IN ('scalar', 'list')
WHERE w.family = ''
UNION ALL
SELECT DISTINCT w.lane, k.block, k.position
FROM wanted w
JOIN {comparison} c ON c.family = w.family AND c.part = 'scalar'
JOIN {keyed} k ON k.lane = w.attribute * 128 + c.way
WHERE w.family <> ''
