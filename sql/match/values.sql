-- One row is a value of an event: a scalar, an element of a list, or a fact about a list. Run once per batch.
SELECT block, position, inline(values)
FROM {numbers}
