"""Banyan: an index of WHERE clauses for Spark.

spark = banyan.session()
index = banyan.Index.create(spark, "./ads")
index.add(rules)                                 # DataFrame: expression_id, expression, ...
matches = index.match(events, id="event_id")     # DataFrame: event_id, expression_id
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from banyan.errors import BanyanError

if TYPE_CHECKING:
    from banyan.index import Index
    from banyan.spark_session import session

__version__ = "0.1.0"
__all__ = ["BanyanError", "Index", "session", "__version__"]


def __getattr__(name: str):
    # PySpark takes a second to import; the language and the tests of it do without.
    if name == "Index":
        from banyan.index import Index

        return Index
    if name == "session":
        from banyan.spark_session import session

        return session
    raise AttributeError(f"module 'banyan' has no attribute {name!r}")
