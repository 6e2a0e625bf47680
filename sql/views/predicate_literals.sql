-- The literals of a predicate as a rule writes them, as an array. An expression.
transform(literals, x -> CASE
  WHEN x IS NULL THEN 'NULL'
  WHEN family = 'decimal' THEN x || 'BD'
  WHEN family = 'double' THEN x || 'D'
  WHEN family = 'text' THEN
    '\'' || replace(replace(replace(x, '\\', '\\\\'), '\'', '\\\''), concat('$', '{'), '\\u0024{') || '\''
  WHEN family = 'boolean' THEN upper(x)
  WHEN family IN ('date', 'timestamp') THEN upper(family) || ' \'' || x || '\''
  ELSE x END)
