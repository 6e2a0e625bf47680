-- One row is an expression that an add with on_error = "quarantine" refused.
CREATE TABLE {table} (
  expression_id STRING COMMENT 'the id as given, as text',
  expression    STRING COMMENT 'the text as given',
  position      INT COMMENT 'where in the text, from 0',
  reason        STRING NOT NULL COMMENT 'why, in one sentence',
  rejected_in   BIGINT NOT NULL COMMENT 'the version whose add refused it'
)
USING delta
COMMENT 'Banyan: refused expressions'
TBLPROPERTIES ({properties})
