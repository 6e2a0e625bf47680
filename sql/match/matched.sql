-- One row is the event set, in a block, of a leaf that tests a pattern or what a list does not hold; these are made
-- from single events. Each different text is tested once with each pattern. Run once per batch.
WITH texts AS (
  SELECT DISTINCT attribute, shown FROM {values} WHERE part = 'scalar' AND shown IS NOT NULL
), hits AS (
  SELECT p.node_id, t.attribute, t.shown
  FROM texts t
  JOIN {patterns} p ON p.attribute = t.attribute
  WHERE CASE p.operator
    WHEN 'like' THEN t.shown LIKE p.pattern
    WHEN 'not like' THEN t.shown NOT LIKE p.pattern
    WHEN 'ilike' THEN t.shown ILIKE p.pattern
    WHEN 'not ilike' THEN t.shown NOT ILIKE p.pattern
    WHEN 'rlike' THEN t.shown RLIKE p.pattern
    ELSE NOT t.shown RLIKE p.pattern END
), refused AS (
  -- The list holds such an element; or one that cannot be compared, or a NULL, which leaves it undefined.
  SELECT r.node_id, c.block, c.position
  FROM {runs} r
  JOIN {cuts} c ON c.lane = r.lane AND c.block = r.block AND c.segments > r.first AND c.segments <= r.last
  WHERE r.refuses AND c.position IS NOT NULL
  UNION ALL
  SELECT r.node_id, v.block, v.position
  FROM {refusals} r
  JOIN {values} v ON v.attribute = r.attribute
  WHERE (r.has_null AND v.part = 'filled') OR (NOT r.has_null AND r.literals > 0 AND v.part = 'has null')
  UNION ALL
  SELECT r.node_id, v.block, v.position
  FROM {refusals} r
  JOIN {values} v ON v.attribute = r.attribute AND v.part = 'element'
  LEFT ANTI JOIN {comparison} c ON c.part = 'element' AND c.kind = v.kind AND c.family = r.family
  WHERE r.family <> '' AND NOT r.has_null
)
SELECT node_id, block, bitmap_construct_agg(position) AS events
FROM (
  SELECT h.node_id, v.block, v.position
  FROM {values} v
  JOIN hits h ON h.attribute = v.attribute AND h.shown = v.shown
  WHERE v.part = 'scalar'
  UNION ALL
  SELECT l.node_id, l.block, l.position
  FROM (
    SELECT r.node_id, v.block, v.position
    FROM {refusals} r
    JOIN {values} v ON v.attribute = r.attribute AND v.part = 'list') l
  LEFT ANTI JOIN refused x ON x.node_id = l.node_id AND x.block = l.block AND x.position = l.position)
GROUP BY node_id, block
