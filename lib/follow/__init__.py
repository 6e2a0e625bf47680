"""Keeping up: matches of new events, an index in step with a table of rules, streams, maintenance."""
