-- One row is the event set of a shared lane: those with a value, or those without. Spark's bitmaps know no "and not", so
-- absence is found by an anti-join. Run once per batch.
SELECT m.lane, m.block, 0 AS k, 0 AS j, bitmap_construct_agg(m.position) AS events
FROM {met} m
JOIN (SELECT DISTINCT lane FROM {shared} WHERE part = 'present') s ON s.lane = m.lane
GROUP BY m.lane, m.block
UNION ALL
SELECT a.lane, a.block, 0, 0, bitmap_construct_agg(a.position)
FROM (
  SELECT s.lane, n.block, n.position
  FROM (SELECT DISTINCT lane FROM {shared} WHERE part = 'absent') s
  JOIN (SELECT DISTINCT lane, block FROM {met}) known ON known.lane = s.lane
  JOIN {numbers} n ON n.block = known.block) a
LEFT ANTI JOIN {met} m ON m.lane = a.lane AND m.block = a.block AND m.position = a.position
GROUP BY a.lane, a.block
UNION ALL
-- Nobody in the block has a value: all of them, without looking at each.
SELECT s.lane, e.block, 0, 0, e.events
FROM (SELECT DISTINCT lane FROM {shared} WHERE part = 'absent') s
CROSS JOIN {everyone} e
LEFT ANTI JOIN {met} m ON m.lane = s.lane AND m.block = e.block
