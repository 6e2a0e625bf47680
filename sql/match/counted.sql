-- One row is a node that carries expressions, and how many events of the batch satisfy it. Its column has a name of its
-- own so that each batch's is a new one: Spark fails on unions of checkpoints that share a column. Run once per batch.
SELECT node_id AS carrier, sum(bitmap_count(events)) AS events
FROM {found}
GROUP BY node_id
