-- One row is a value in a lane, as what it is compared as there. A value that cannot be cast to that has no row:
-- it acts as NULL. Run once per batch.
SELECT lane, depth, block, position, l, d, t
FROM (
  SELECT n.lane, n.depth, v.block, v.position,
    CASE n.meeting
      WHEN 'integer' THEN CASE v.kind WHEN 'integer' THEN v.l ELSE try_cast(v.t AS BIGINT) END
      WHEN 'boolean' THEN
        CASE v.kind WHEN 'boolean' THEN v.l ELSE CAST(CAST(try_cast(v.t AS BOOLEAN) AS INT) AS BIGINT) END
      WHEN 'date' THEN CASE v.kind WHEN 'date' THEN v.l ELSE CAST(unix_date(try_cast(v.t AS DATE)) AS BIGINT) END
      WHEN 'timestamp' THEN CASE v.kind
        WHEN 'timestamp' THEN v.l
        WHEN 'date' THEN unix_micros(CAST(date_from_unix_date(CAST(if(v.kind = 'date', v.l, NULL) AS INT)) AS TIMESTAMP))
        WHEN 'timestamp_ntz' THEN unix_micros(CAST(
          timestampadd(MICROSECOND, if(v.kind = 'timestamp_ntz', v.l, NULL), TIMESTAMP_NTZ '1970-01-01 00:00:00')
          AS TIMESTAMP))
        ELSE unix_micros(try_cast(v.t AS TIMESTAMP)) END
      WHEN 'timestamp_ntz' THEN v.l
    END AS l,
    CASE n.meeting WHEN 'double' THEN
      0.0D + CASE v.kind WHEN 'double' THEN v.d WHEN 'integer' THEN CAST(v.l AS DOUBLE) ELSE try_cast(v.t AS DOUBLE) END
    END AS d,
    CASE n.meeting WHEN 'text' THEN v.t WHEN 'decimal' THEN decimal_key(v.digits) END AS t
  FROM (SELECT *, coalesce(t, CAST(l AS STRING)) AS digits FROM {values} WHERE part IN ('scalar', 'element')) v
  JOIN {lanes} n ON n.attribute = v.attribute AND n.part = v.part AND n.kind = v.kind)
WHERE l IS NOT NULL OR d IS NOT NULL OR t IS NOT NULL
