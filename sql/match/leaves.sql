-- One row is the event set of a leaf in a block. 1 is the leaf TRUE. Run once per batch.
SELECT node_id, block, events FROM {united}
UNION ALL
SELECT node_id, block, events FROM {matched}
UNION ALL
SELECT CAST(1 AS BIGINT), block, events FROM {everyone}
