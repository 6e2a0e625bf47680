-- One row is an expression: the text as given, its canonical text (no negations, sorted, equal for equal meaning as far
-- as the index can see; cut after 10,000 characters), and the node that decides it. Your own columns follow.
WITH {steps}
SELECT x.*, t.text AS canonical
FROM {expressions} x
LEFT JOIN (
  SELECT node_id, text FROM {texts}
  UNION ALL SELECT 0, 'FALSE'
  UNION ALL SELECT 1, 'TRUE') t ON t.node_id = x.node_id
