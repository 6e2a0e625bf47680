-- One row is a node that carries expressions and an event that satisfies it. A bitmap is read by words of 32 bits, of
-- which most are empty; bit b of byte i is event 8 i + b. Run once per batch, when the result is read.
SELECT node_id, block, 32 * word + bit AS position
FROM (
  SELECT node_id, block, word,
    explode(filter(sequence(0, 31), b -> shiftright(bits, 24 - 8 * (b DIV 8) + b % 8) & 1 = 1)) AS bit
  FROM (
    SELECT node_id, block, inline(
      transform(
        filter(sequence(0, 1023), w -> substring(events, 4 * w + 1, 4) <> X'00000000'),
        w -> named_struct('word', w, 'bits', CAST(conv(hex(substring(events, 4 * w + 1, 4)), 16, 10) AS BIGINT))))
    FROM {found}))
