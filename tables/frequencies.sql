-- One row is how often a value occurs among the events, as an analysis of a sample saw it.
CREATE TABLE {table} (
  attribute STRING NOT NULL COMMENT 'canonical path',
  value     STRING COMMENT 'the value as text, NULL for the attribute as a whole',
  share     DOUBLE NOT NULL COMMENT 'share of events'
)
USING delta
COMMENT 'Banyan: value frequencies of the events'
TBLPROPERTIES ({properties}, 'delta.constraints.a_share' = 'share BETWEEN 0 AND 1')
