-- One row is a step of a scheduled job: a run planned, a batch of it done, the run done or failed. Only appended to.
CREATE TABLE {table} (
  job           STRING NOT NULL COMMENT 'the job: what it reads and where it writes, or the name it was given',
  run           BIGINT NOT NULL COMMENT 'consecutive within a job, from 1',
  step          STRING NOT NULL COMMENT 'planned, batch, done, failed',
  batch         INT COMMENT 'step batch: which of the run, from 1',
  at            TIMESTAMP NOT NULL COMMENT 'when',
  published_by  STRING NOT NULL COMMENT 'who, on which machine',
  source        STRING NOT NULL COMMENT 'the Delta table that is read',
  after_version BIGINT COMMENT 'the run reads what came after this version of the source; NULL: all of it',
  to_version    BIGINT NOT NULL COMMENT 'the last version of the source that the run reads',
  index_name    STRING NOT NULL COMMENT 'the folder or schema of the index',
  index_version BIGINT COMMENT 'the version matched against, or that the step has made',
  writer        STRING NOT NULL COMMENT 'txnAppId of what the job appends; the beginning of its request ids',
  number        BIGINT NOT NULL COMMENT 'step batch: txnVersion of the batch; step planned: the one before its first',
  rows_read     BIGINT COMMENT 'events or changed rules',
  rows_written  BIGINT COMMENT 'rows appended, or rules put in and taken out',
  passed_over   BIGINT COMMENT 'what was read and not used: updated and deleted events, refused rules',
  seconds       DOUBLE COMMENT 'what the step took',
  note          STRING COMMENT 'step planned: the batches, as JSON; else what there is to say'
)
USING delta
COMMENT 'Banyan: what the scheduled jobs have done'
TBLPROPERTIES ({properties}, 'delta.constraints.known_step' = 'step IN (''planned'', ''batch'', ''done'', ''failed'')')
