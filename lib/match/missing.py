"""Attributes that rules use and the events lack: a typo like `contry` must not pass in silence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from banyan.language.attributes import attribute_parts
from banyan.match.attributes import resolve
from banyan.store.materialise import Scratch

# Beyond this many the warning is one line for all: the events are of another kind altogether.
NAMED = 20
# Edges that the driver may hold, to walk the few high levels of deep rules in one go.
FEW = 1_000_000


class MissingAttributeWarning(UserWarning):
    """Rules use attributes that the events do not have."""


def absent(attributes: Iterable[str], events: DataFrame, case_sensitive: bool) -> list[str]:
    """Those that wide events have no column, field, map or variant for."""
    schema = events.schema
    return [a for a in attributes if resolve(schema, attribute_parts(a), case_sensitive) is None]


def missing_attributes(rules: Mapping[str, int], events: DataFrame, id: str, case_sensitive: bool) -> list[str]:
    """A line for each attribute of `rules` (and how many rules use it) that wide events lack."""
    return lines({a: rules[a] for a in absent(rules, events, case_sensitive)}, paths(events, id))


def rules_using(scratch: Scratch, tables: Mapping[str, DataFrame], attributes: list[str]) -> dict[str, int]:
    """How many expressions mention each attribute: from its predicates up the edges."""
    edges = tables["edges"].select("parent_id", "child_id", "parent_level")
    reached = tables["predicates"].where(F.col("attribute").isin(attributes)).select("node_id", "attribute")
    counts = {row["parent_level"]: row["count"] for row in edges.groupBy("parent_level").count().collect()}
    levels, above = sorted(counts), 0
    while levels and above + counts[levels[-1]] <= FEW:
        above += counts[levels.pop()]
    for level in levels:
        at = edges.where(F.col("parent_level") == level)
        up = at.join(reached.withColumnRenamed("node_id", "child_id"), "child_id")
        reached = reached.unionByName(up.select(F.col("parent_id").alias("node_id"), "attribute")).distinct()
        reached = scratch.materialise(reached, f"using_{level}")
    found = dict.fromkeys(attributes, 0)
    roots = tables["expressions"].groupBy("node_id").agg(F.count("*").alias("rules"))
    if levels:
        high = edges.where(F.col("parent_level") > levels[-1])
        children = high.select(F.col("child_id").alias("node_id")).distinct()
        below = roots.join(reached, "node_id").groupBy("attribute").agg(F.sum("rules")).collect()
        found |= {row[0]: row[1] for row in below}
        parents = high.select(F.col("parent_id").alias("node_id")).distinct()
        reached, roots = reached.join(children, "node_id", "left_semi"), roots.join(parents, "node_id", "left_semi")
        edges = high
    return _walk(reached, edges, roots, found)


def _walk(reached: DataFrame, edges: DataFrame, roots: DataFrame, found: dict[str, int]) -> dict[str, int]:
    """The same on the driver, for few edges: lowest parents first. Adds to `found`."""
    of: dict[int, set[str]] = {}
    for row in reached.collect():
        of.setdefault(row["node_id"], set()).add(row["attribute"])
    table = edges.orderBy("parent_level").select("parent_id", "child_id").toArrow()
    for parent, child in zip(table["parent_id"].to_pylist(), table["child_id"].to_pylist()):
        if child in of:
            of.setdefault(parent, set()).update(of[child])
    for row in roots.collect():
        for attribute in of.get(row["node_id"], ()):
            found[attribute] += row["rules"]
    return found


def lines(rules: Mapping[str, int], known: Iterable[str]) -> list[str]:
    """One line for each missing attribute, those of most rules first, with the nearest name the events do have."""
    names = {name.lower(): name for name in known}
    found = []
    for attribute, count in sorted(rules.items(), key=lambda item: (-item[1], item[0])):
        near = difflib.get_close_matches(attribute.lower(), list(names), 1, 0.6)
        hint = f"; did you mean {names[near[0]]}?" if near else ""
        found.append(f"the events have no attribute {attribute}, used by {count} rule{'s' * (count != 1)}{hint}")
    if len(found) > NAMED:
        found[NAMED:] = [f"... and {len(found) - NAMED} more attributes that rules use and the events lack"]
    return found


def paths(events: DataFrame, id: str) -> list[str]:
    """The names an attribute of wide events can have: columns, and fields of structs by dotted name."""
    found = []
    for field in events.schema.fields:
        if field.name != id:
            found.append(field.name)
            found += [f"{field.name}.{below}" for below in getattr(field.dataType, "names", [])]
    return found
