-- One row is the event set, in a block, of a leaf or of a node below others that carries expressions itself.
-- Run once per batch.
SELECT /*+ BROADCAST(c) */ s.node_id, s.block, s.events
FROM {sets} s
LEFT SEMI JOIN {carriers} c ON c.node_id = s.node_id
