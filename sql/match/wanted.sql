-- One row is the event set, in a block, of a node that is a child of the level's nodes. Run once per level and batch.
SELECT {hint} s.node_id, s.block, s.events
FROM {sets} s
LEFT SEMI JOIN {children} c ON c.node_id = s.node_id
