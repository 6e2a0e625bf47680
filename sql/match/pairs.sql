-- One row is a match: an event and an expression that it satisfies. Run once per batch, when the result is read.
SELECT n.event_id, x.expression_id{keep}
FROM {unfolded} u
JOIN {expressions} x ON x.node_id = u.node_id
JOIN {numbers} n ON n.block = u.block AND n.position = u.position
