-- One row is an event set that a live node asks for: that of one of its children in a block. Ordered by parent, so that
-- combining the sets moves none of them. Run once per level and batch.
SELECT e.parent_id, v.block, e.child_id, e.parent_operator, e.arity
FROM {edges} e
JOIN {live} v ON v.parent_id = e.parent_id
DISTRIBUTE BY e.parent_id SORT BY e.parent_id, v.block
