-- One row is a node that carries expressions, and how many events of the batch satisfy it. Run once per batch.
SELECT node_id, sum(bitmap_count(events)) AS events
FROM {found}
GROUP BY node_id
