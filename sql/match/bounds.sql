-- One row is a bound of a lane: a place in the order of its values where some predicate begins or ends to be true.
-- Run once per version.
SELECT DISTINCT lane, bound, edge, l, d, t, side
FROM {ends}
