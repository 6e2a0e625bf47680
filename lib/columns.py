"""The names of columns and tables, each written down once."""

EXPRESSION_ID = "expression_id"
EXPRESSION = "expression"
NODE_ID = "node_id"
ADDED_IN = "added_in"
EVENT_ID = "event_id"
EVENTS = "events"
EXPRESSION_IDS = "expression_ids"

PARENT_ID = "parent_id"
CHILD_ID = "child_id"

# Columns of `expressions` that are ours; the user's own columns must have other names.
RESERVED = (NODE_ID, ADDED_IN)
