-- One row is an expression and how many events satisfy it. Run once per match.
SELECT x.expression_id, coalesce(c.events, CAST(0 AS BIGINT)) AS events{keep}
FROM {expressions} x
{join} JOIN (SELECT node_id, sum(events) AS events FROM {counted} GROUP BY node_id) c ON c.node_id = x.node_id
