-- One row is a predicate that an expression is made of: which rule mentions which test of which attribute.
WITH {steps}
SELECT x.expression_id, r.predicate_id, p.attribute, {predicate_text} AS predicate
FROM {reached} r
JOIN {expressions} x ON x.node_id = r.node_id
JOIN {predicates} p ON p.node_id = r.predicate_id
