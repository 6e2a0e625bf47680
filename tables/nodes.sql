-- One row is an inner node: AND or OR of at least two others.
CREATE TABLE {table} (
  node_id            BIGINT NOT NULL COMMENT 'hash of the operator and the sorted operands',
  operator           STRING NOT NULL COMMENT 'and, or',
  operands           ARRAY<BIGINT> NOT NULL COMMENT 'the logical operands: flattened, distinct, sorted',
  operand_frequencies ARRAY<FLOAT> NOT NULL COMMENT 'expected frequency of each operand, in their order',
  logical_level      INT NOT NULL COMMENT 'one above the highest logical operand',
  level              INT NOT NULL COMMENT 'one above the highest child',
  use_count          BIGINT NOT NULL COMMENT 'expressions attached plus nodes that have it as a logical operand',
  access_child       BIGINT COMMENT 'and-nodes: the child least often true; the node is looked at only if this is true',
  expected_frequency FLOAT NOT NULL COMMENT 'share of events expected to satisfy it'
)
USING delta
CLUSTER BY (node_id)
COMMENT 'Banyan: the inner nodes of an index'
TBLPROPERTIES (
  {properties},
  'delta.constraints.known_operator' = 'operator IN (''and'', ''or'')',
  'delta.constraints.several_operands' = 'size(operands) >= 2',
  'delta.constraints.above_leaves' = 'level >= 2',
  'delta.constraints.access_of_and' = '(operator = ''and'') = (access_child IS NOT NULL)'
)
