-- Which single tests do most rules have in common?
SELECT predicate, expressions AS rules
FROM predicate_uses
WHERE expressions > 1
ORDER BY rules DESC, predicate
LIMIT 100
