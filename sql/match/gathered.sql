-- One row is an event of a long-form table, with its values as an array; repeated: an attribute that has two.
-- Run once per match.
SELECT event_id, key, values,
  CASE WHEN size(numbers) > size(array_distinct(numbers))
    THEN filter(numbers, n -> size(filter(numbers, m -> m = n)) > 1)[0] END AS repeated
FROM (
  SELECT first(event_id) AS event_id, key, flatten(collect_list(values)) AS values,
    collect_list(CASE WHEN size(values) > 0 THEN number END) AS numbers
  FROM (
    SELECT {id} AS event_id, {key} AS key, k.number,
      CASE WHEN k.number IS NOT NULL THEN {value} ELSE array() END AS values
    FROM {events} e
    LEFT JOIN {known} k ON k.name = {attribute_name})
  GROUP BY key)
