-- One row is the event set of a leaf in a block, united from its pieces. Run once per batch.
SELECT {hint} a.node_id, first(a.block) AS block, bitmap_or_agg(p.events) AS events
FROM {asks} a
JOIN {pieces} p ON p.lane = a.lane AND p.block = a.block AND p.k = a.k AND p.j = a.j
GROUP BY {group}
