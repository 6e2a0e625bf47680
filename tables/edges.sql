-- One row is a physical edge from a node to a child: an operand, or another node that covers several of them.
CREATE TABLE {table} (
  parent_id       BIGINT NOT NULL COMMENT 'nodes.node_id',
  child_id        BIGINT NOT NULL COMMENT 'nodes.node_id or predicates.node_id',
  parent_level    INT NOT NULL COMMENT 'level of the parent',
  parent_operator STRING NOT NULL COMMENT 'and, or',
  arity           INT NOT NULL COMMENT 'number of children of the parent',
  is_access       BOOLEAN NOT NULL COMMENT 'whether the child is the access child of an and-node'
)
USING delta
CLUSTER BY (parent_id)
COMMENT 'Banyan: the edges of an index'
TBLPROPERTIES ({properties}, 'delta.constraints.upward' = 'parent_id <> child_id')
