-- One row is a published version. What has no row here does not exist.
CREATE TABLE {table} (
  version        BIGINT NOT NULL COMMENT 'consecutive, from 0 (the empty index)',
  parent         BIGINT COMMENT 'the version this one was made from',
  table_versions MAP<STRING, BIGINT> NOT NULL COMMENT 'the Delta version of every other table',
  settings       MAP<STRING, STRING> NOT NULL COMMENT 'format, hash seed and width, time zone, case sensitivity, limits',
  counts         MAP<STRING, BIGINT> NOT NULL COMMENT 'rows of each table, the highest level',
  build_id       STRING NOT NULL COMMENT 'userMetadata of the commits that made it',
  request_id     STRING COMMENT 'given by the caller: the same request is applied once',
  published_at   TIMESTAMP NOT NULL COMMENT 'when',
  published_by   STRING NOT NULL COMMENT 'who, on which machine',
  operation      STRING NOT NULL COMMENT 'what was done'
)
USING delta
COMMENT 'Banyan: the published versions of an index'
TBLPROPERTIES ({properties}, 'delta.constraints.not_negative' = 'version >= 0')
