-- One row is an expression and how many events satisfy it. Run once per match.
SELECT x.expression_id, coalesce(c.events, CAST(0 AS BIGINT)) AS events{keep}
FROM {expressions} x
{join} JOIN (SELECT carrier, sum(events) AS events FROM {counted} GROUP BY carrier) c ON c.carrier = x.node_id
