-- One row is an event of a wide table, with its values as an array. Only for a match written out as one query.
SELECT {id} AS event_id, {key} AS key, {value} AS values
FROM {events} e
