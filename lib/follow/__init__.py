"""Keeping up: matches of new events, an index in step with a table of rules, streams, maintenance."""

from banyan.follow.maintenance import maintain
from banyan.follow.match_new import match_new
from banyan.follow.rules import follow

__all__ = ["follow", "maintain", "match_new"]
