-- A predicate as text, from the columns of table `predicates`; not a view: an expression.
-- Literals are written so that both Spark SQL and the rules read them as the same family and value.
CASE WHEN operator IN ('fails', 'not array_contains', 'not arrays_overlap') THEN 'NOT ' ELSE '' END
|| CASE
  WHEN operator IN ('holds', 'fails') THEN {name}
  WHEN operator IN ('is null', 'is not null') THEN {name} || ' ' || upper(operator)
  WHEN operator LIKE '%array_contains' THEN 'array_contains(' || {name} || ', ' || array_join({literals}, '') || ')'
  WHEN operator LIKE '%arrays_overlap' THEN 'arrays_overlap(' || {name} || ', array(' || array_join({literals}, ', ') || '))'
  WHEN operator = 'not <=>' THEN {name} || ' IS DISTINCT FROM ' || array_join({literals}, '')
  WHEN operator IN ('in', 'not in') THEN {name} || ' ' || upper(operator) || ' (' || array_join({literals}, ', ') || ')'
  ELSE {name} || ' ' || upper(operator) || ' ' || array_join({literals}, ' AND ') END
