-- One row is a block of events: at most 32,768, as many as a bitmap of Spark's holds. Run once per batch.
SELECT block, bitmap_construct_agg(position) AS events
FROM {numbers}
GROUP BY block
