-- Which rule matches whenever another does? An AND implies each of its parts that is a rule itself; a part implies the OR.
SELECT a.expression_id AS whenever_this_matches, b.expression_id AS this_does_too
FROM node_sharing n
JOIN expression_texts whole ON whole.node_id = n.node_id
JOIN expression_texts part ON array_contains(n.operand_ids, part.node_id)
CROSS JOIN LATERAL (SELECT if(n.operator = 'and', whole.expression_id, part.expression_id) AS expression_id) a
CROSS JOIN LATERAL (SELECT if(n.operator = 'and', part.expression_id, whole.expression_id) AS expression_id) b
ORDER BY whenever_this_matches, this_does_too
