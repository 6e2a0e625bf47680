-- One row is an event set that a live node asks for: that of one of its children in a block. In the order of parents, so
-- that combining the sets moves none of them. Run once per level and batch.
SELECT {hint} e.parent_id, v.block, e.child_id, e.parent_operator, e.arity
FROM {edges} e
JOIN {live} v ON v.parent_id = e.parent_id
{order}
