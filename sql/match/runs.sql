-- One row is a run of segments whose events satisfy a predicate: from `first` up to before `last`. Once per batch.
SELECT t.node_id, t.refuses, t.lane, l.depth, l.block, l.segments AS first, h.segments AS last
FROM {tests} t
JOIN {cuts} l ON l.lane = t.lane AND l.bound = t.low
JOIN {cuts} h ON h.lane = t.lane AND h.bound = t.high AND h.block = l.block
WHERE l.segments < h.segments
