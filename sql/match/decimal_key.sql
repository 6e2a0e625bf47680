-- A text that sorts as the decimal `text` does, exactly, whatever its digits: sign, 38 digits, the fraction.
-- Negative ones have their digits turned round and a last character above all digits. Not a relation: an expression.
CASE WHEN text LIKE '-%' AND translate(text, '-0.', '') <> '' THEN
    '0' || translate(
      lpad(substring_index(substr(text, 2), '.', 1), 38, '0')
        || CASE WHEN instr(text, '.') > 0 THEN rtrim('0', substring_index(text, '.', -1)) ELSE '' END,
      '0123456789', '9876543210') || '~'
  ELSE
    '1' || lpad(substring_index(ltrim('-', text), '.', 1), 38, '0')
      || CASE WHEN instr(text, '.') > 0 THEN rtrim('0', substring_index(text, '.', -1)) ELSE '' END
  END
