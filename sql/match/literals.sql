-- One row is a predicate that compares, in one lane: an attribute with a way (kind of value, type they meet in).
-- keys: its literals in that type, NULL where a literal cannot be cast to it. Run once per version.
SELECT p.node_id, p.operator, a.number * 128 + c.way AS lane,
  transform(
    transform(
      CASE WHEN p.operator IN ('holds', 'fails') THEN array('true') ELSE p.literals END,
      x -> named_struct(
        'l', CASE c.meeting
          WHEN 'integer' THEN try_cast(x AS BIGINT)
          WHEN 'boolean' THEN CAST(CAST(try_cast(x AS BOOLEAN) AS INT) AS BIGINT)
          WHEN 'date' THEN CAST(unix_date(try_cast(x AS DATE)) AS BIGINT)
          WHEN 'timestamp' THEN unix_micros(
            CASE WHEN p.family = 'date' THEN CAST(try_cast(x AS DATE) AS TIMESTAMP) ELSE try_cast(x AS TIMESTAMP) END)
          WHEN 'timestamp_ntz' THEN
            timestampdiff(MICROSECOND, TIMESTAMP_NTZ '1970-01-01 00:00:00', try_cast(x AS TIMESTAMP_NTZ)) END,
        -- Adding zero makes -0.0 the 0.0 it equals.
        'd', CASE c.meeting WHEN 'double' THEN try_cast(x AS DOUBLE) + 0.0D END,
        't', CASE c.meeting WHEN 'text' THEN x WHEN 'decimal' THEN decimal_key(x) END)),
    k -> CASE WHEN k.l IS NOT NULL OR k.d IS NOT NULL OR k.t IS NOT NULL THEN k END) AS keys
FROM {predicates} p
JOIN {attributes} a ON a.attribute = p.attribute
JOIN {comparison} c ON c.family = p.family AND c.part = CASE WHEN p.operator LIKE '%array%' THEN 'element' ELSE 'scalar' END
WHERE p.operator NOT LIKE '%like' AND p.operator NOT LIKE 'is%' AND p.family <> ''
