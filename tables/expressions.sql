-- One row is a subscription: an expression as it was given, and the node that decides it.
-- The user's own columns (tenant, owner, priority, ...) are added beside these by the adds that bring them.
-- Ids are of the type that the first add brings; text until then.
CREATE TABLE {table} (
  expression_id STRING NOT NULL COMMENT 'the id the user gave; unique within a version',
  expression    STRING NOT NULL COMMENT 'the text as it was given',
  node_id       BIGINT NOT NULL COMMENT 'predicates.node_id or nodes.node_id; 0 is FALSE, 1 is TRUE',
  added_in      BIGINT NOT NULL COMMENT 'the version that brought this row'
)
USING delta
CLUSTER BY (node_id)
COMMENT 'Banyan: the expressions of an index'
TBLPROPERTIES (
  {properties},
  'delta.constraints.added_in_is_a_version' = 'added_in > 0',
  'delta.constraints.whole' = 'expression_id IS NOT NULL AND expression IS NOT NULL AND node_id IS NOT NULL'
)
