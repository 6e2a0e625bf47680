-- What changed between the last two versions? Put other numbers for others.
WITH two AS (
  SELECT max(version) AS after, max(version) FILTER (WHERE version < newest) AS before
  FROM (SELECT DISTINCT version, (SELECT max(version) FROM expression_history) AS newest FROM expression_history)
)
SELECT coalesce(b.expression_id, a.expression_id) AS expression_id,
  CASE WHEN b.expression_id IS NULL THEN 'added' WHEN a.expression_id IS NULL THEN 'removed' ELSE 'changed' END AS change,
  b.expression AS before, a.expression AS after
FROM (SELECT * FROM expression_history WHERE version = (SELECT before FROM two)) b
FULL OUTER JOIN (SELECT * FROM expression_history WHERE version = (SELECT after FROM two)) a
  ON a.expression_id = b.expression_id
WHERE NOT a.expression <=> b.expression
ORDER BY expression_id
