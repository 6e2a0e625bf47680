-- One row is a leaf: one test of one attribute, whatever the number of expressions that mention it.
CREATE TABLE {table} (
  node_id            BIGINT NOT NULL COMMENT 'hash of the canonical predicate',
  attribute          STRING NOT NULL COMMENT 'canonical path; parts in back-ticks unless plain identifiers',
  operator           STRING NOT NULL COMMENT '=, in, <, between, like, is null, ... and their inverses',
  family             STRING NOT NULL COMMENT 'family of the literals: integer, decimal, double, text, boolean, date, timestamp, or empty',
  literals           ARRAY<STRING> NOT NULL COMMENT 'the literals in canonical text, sorted where they form a set',
  true_when_absent   BOOLEAN NOT NULL COMMENT 'whether an event without the attribute satisfies it',
  use_count          BIGINT NOT NULL COMMENT 'expressions attached plus nodes that have it as a logical operand',
  expected_frequency FLOAT NOT NULL COMMENT 'share of events expected to satisfy it'
)
USING delta
CLUSTER BY (attribute)
COMMENT 'Banyan: the predicates of an index'
TBLPROPERTIES ({properties}, 'delta.constraints.used' = 'use_count > 0')
