"""The SQL files, one a relation."""
