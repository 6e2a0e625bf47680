-- Which rules match every event? Mostly a slip.
SELECT expression_id, expression
FROM expression_texts
WHERE canonical = 'TRUE'
ORDER BY expression_id
