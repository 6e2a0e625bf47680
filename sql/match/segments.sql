-- One row is the event set of 8^k neighbouring segments of a lane, which leaves are put together from. Once per batch.
SELECT lane, block, k, shiftright(segments - 1, 3 * k) AS j, bitmap_construct_agg(position) AS events
FROM (SELECT lane, block, segments, position, explode(sequence(0, depth)) AS k FROM {cuts} WHERE position IS NOT NULL)
GROUP BY lane, block, k, shiftright(segments - 1, 3 * k)
