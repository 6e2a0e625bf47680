-- One row is an interval of values that satisfy a predicate in a lane: from bound `low` to bound `high`. Once per version.
SELECT node_id, refuses, lane, max(CASE WHEN NOT is_high THEN bound END) AS low, max(CASE WHEN is_high THEN bound END) AS high
FROM {ends}
GROUP BY node_id, refuses, lane, interval
