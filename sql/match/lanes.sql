-- One row is a lane: an attribute, and how the values of one kind are compared in it. depth: how often the number of
-- its segments can be divided by 8. Run once per version.
SELECT a.number AS attribute, c.part, c.kind, c.meeting, b.lane, b.depth
FROM (SELECT lane, CAST(ceil(log(8, max(bound) + 1)) AS INT) AS depth FROM {ends} GROUP BY lane) b
JOIN {attributes} a ON a.number = b.lane DIV 128
JOIN (SELECT DISTINCT part, kind, meeting, way FROM {comparison}) c ON c.way = b.lane % 128
