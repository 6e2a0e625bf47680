-- One row is a published version: when, by whom, what was done, and how large the index was then.
SELECT version, published_at, operation, published_by, counts['expressions'] AS expressions,
  counts['predicates'] AS predicates, counts['nodes'] AS nodes, counts['edges'] AS edges, counts['levels'] AS levels,
  settings['time_zone'] AS time_zone, settings['case_sensitive'] AS case_sensitive, request_id, table_versions
FROM {versions}
