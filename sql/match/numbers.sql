-- One row is an event of a batch: its block, its place in the block, its values. Run once per batch.
SELECT event_id, values, CAST(number DIV 32768 AS INT) AS block, number % 32768 AS position
FROM {numbered}
