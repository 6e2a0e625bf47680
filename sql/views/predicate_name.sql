-- The attribute of a predicate as a rule writes it: in back-ticks where it is a word of the language. An expression.
CASE WHEN upper(substring_index(attribute, '.', 1)) IN ({reserved})
  THEN '`' || substring_index(attribute, '.', 1) || '`' || substr(attribute, length(substring_index(attribute, '.', 1)) + 1)
  ELSE attribute END
