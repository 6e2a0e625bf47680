"""The layout of the tables, one file a table."""
