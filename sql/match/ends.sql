-- One row is an end of an interval of values that satisfy a predicate in a lane. `bound` numbers the different ends of
-- a lane in their order. (edge, l, d, t, side) is where it lies: edge -1 below all values, 1 above all; side -1 just
-- before an equal value, 1 just after it. `refuses`: the lists that have such a value do not satisfy it. Once per version.
WITH intervals AS (
  SELECT node_id, operator LIKE 'not array%' AS refuses, lane,
    CASE
      WHEN operator IN ('=', '<=>', 'in', 'holds') OR operator LIKE '%array%' THEN
        transform(known, k -> named_struct('low', k, 'from', -1, 'high', k, 'to', 1))
      WHEN operator IN ('<', '<=') THEN
        transform(known, k -> named_struct('low', nothing, 'from', -1, 'high', k, 'to', if(operator = '<', -1, 1)))
      WHEN operator IN ('>', '>=') THEN
        transform(known, k -> named_struct('low', k, 'from', if(operator = '>', 1, -1), 'high', nothing, 'to', 1))
      WHEN operator = 'between' THEN
        CASE WHEN size(known) = 2
          THEN array(named_struct('low', keys[0], 'from', -1, 'high', keys[1], 'to', 1)) ELSE array() END
      WHEN operator = 'not between' THEN
        concat(
          CASE WHEN keys[0] IS NOT NULL
            THEN array(named_struct('low', nothing, 'from', -1, 'high', keys[0], 'to', -1)) ELSE array() END,
          CASE WHEN keys[1] IS NOT NULL
            THEN array(named_struct('low', keys[1], 'from', 1, 'high', nothing, 'to', 1)) ELSE array() END)
      -- What lies between the literals: !=, not in, fails, not <=>. A literal that is NULL leaves nothing true but
      -- for `not <=>`, for which every value then differs.
      WHEN size(known) = size(keys) OR operator = 'not <=>' THEN
        transform(sequence(0, size(known)), i -> named_struct(
          'low', get(known, i - 1), 'from', if(i = 0, -1, 1), 'high', get(known, i), 'to', if(i = size(known), 1, -1)))
      ELSE array()
    END AS intervals
  FROM (
    SELECT *, array_sort(filter(keys, k -> k IS NOT NULL)) AS known,
      CAST(NULL AS STRUCT<l: BIGINT, d: DOUBLE, t: STRING>) AS nothing
    FROM {literals})
), each AS (
  SELECT node_id, refuses, lane, interval, one.low AS low, one.from AS after, one.high AS high, one.to AS until
  FROM (SELECT node_id, refuses, lane, posexplode(intervals) AS (interval, one) FROM intervals)
)
SELECT *, dense_rank() OVER (PARTITION BY lane ORDER BY edge, l, d, t, side) AS bound
FROM (
  SELECT node_id, refuses, lane, interval, FALSE AS is_high, if(low IS NULL, -1, 0) AS edge, low.l, low.d, low.t,
    after AS side
  FROM each
  UNION ALL
  SELECT node_id, refuses, lane, interval, TRUE, if(high IS NULL, 1, 0), high.l, high.d, high.t, until
  FROM each)
