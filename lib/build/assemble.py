"""From unique nodes to the rows of `predicates`, `nodes` and `edges`.

In: the logical nodes of all expressions (leaves and inners) and the node of each expression. Out: three frames with the
columns of the tables. What always holds: the result is a function of the *set* of expressions, not of their history.
"""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from banyan.build.cover import CROWD, covers
from banyan.build.levels import raised
from banyan.language.tree import TRUE_WHEN_ABSENT
from banyan.normal.ids import FALSE_ID, TRUE_ID
from banyan.progress import Steps
from banyan.store.materialise import Scratch


class Logical(NamedTuple):
    """Unique nodes by id. leaves: node_id, attribute, operator, family, literals, frequency.
    inners: node_id, operator, operands, operand_frequencies, level, frequency."""

    leaves: DataFrame
    inners: DataFrame


class Rows(NamedTuple):
    predicates: DataFrame
    nodes: DataFrame
    edges: DataFrame


LEAF = ["node_id", "attribute", "operator", "family", "literals", "frequency"]
INNER = ["node_id", "operator", "operands", "operand_frequencies", "level", "frequency"]


def unique(scratch: Scratch, made: DataFrame) -> Logical:
    """The nodes of a parse (`made`: one row per node and stretch), each once.

    Equal rows fall together; rows that differ but share an id stay apart, which `collides` then sees.
    """
    leaves = made.where("operands IS NULL").select(*LEAF)
    inners = made.where("operands IS NOT NULL").select(*INNER)
    return Logical(
        scratch.write(leaves.distinct(), "leaves"),
        scratch.write(inners.distinct(), "inners"),
    )


def collides(logical: Logical) -> bool:
    """Whether two different nodes have one id."""
    ids = logical.leaves.select("node_id").unionByName(logical.inners.select("node_id"))
    return not ids.groupBy("node_id").count().where("count > 1").isEmpty()


def assemble(scratch: Scratch, logical: Logical, roots: DataFrame, steps: Steps, crowd: int = CROWD) -> Rows:
    """Covers, edges, levels, access children and use counts. roots: node_id, one row per expression."""
    leaves, inners = logical
    spark = scratch.spark
    with steps.step("sharing"):
        covered = scratch.materialise(covers(scratch, inners, crowd), "covers")
    with steps.step("levels"):
        shaped = inners.join(covered.withColumnRenamed("access_child", "access_of_cover"), "node_id", "left").select(
            "node_id",
            "operator",
            "operands",
            "operand_frequencies",
            F.col("level").alias("logical_level"),
            "frequency",
            F.size("operands").alias("size"),
            F.coalesce("children", "operands").alias("children"),
            F.coalesce("access_of_cover", _least_often_true()).alias("access_child"),
        )
        shaped = scratch.write(shaped, "shaped")
        physical = shaped.select(F.col("node_id").alias("parent_id"), F.explode("children").alias("child_id"))
        # Without a cover nothing stands between a node and its operands, and the logical levels are the levels.
        if covered.isEmpty():
            leveled = shaped.withColumn("level", F.col("logical_level"))
        else:
            sized = shaped.select("node_id", F.col("logical_level").alias("level"), "size")
            changed = raised(spark, scratch, sized, physical)
            leveled = (
                shaped.join(changed.withColumnRenamed("level", "raised"), "node_id", "left")
                .withColumn("level", F.coalesce("raised", "logical_level"))
                .drop("raised")
            )
        leveled = scratch.write(leveled, "leveled")
    with steps.step("use counts"):
        uses = scratch.materialise(_uses(inners, roots), "uses")
    predicates = leaves.join(uses, "node_id").select(
        "node_id",
        "attribute",
        "operator",
        "family",
        "literals",
        F.col("operator").isin(*sorted(TRUE_WHEN_ABSENT)).alias("true_when_absent"),
        "use_count",
        F.col("frequency").alias("expected_frequency"),
    )
    nodes = leveled.join(uses, "node_id").select(
        "node_id",
        "operator",
        "operands",
        "operand_frequencies",
        "logical_level",
        "level",
        "use_count",
        F.when(F.col("operator") == "and", F.col("access_child")).alias("access_child"),
        F.col("frequency").alias("expected_frequency"),
    )
    edges = leveled.select(
        F.col("node_id").alias("parent_id"),
        F.explode("children").alias("child_id"),
        F.col("level").alias("parent_level"),
        F.col("operator").alias("parent_operator"),
        F.size("children").alias("arity"),
        "access_child",
    ).select(
        "parent_id",
        "child_id",
        "parent_level",
        "parent_operator",
        "arity",
        ((F.col("parent_operator") == "and") & (F.col("child_id") == F.col("access_child"))).alias("is_access"),
    )
    return Rows(predicates, nodes, edges)


def _least_often_true():
    """The operand least often true; operands are sorted, so the first of equals has the least id."""
    return F.expr("operands[array_position(operand_frequencies, array_min(operand_frequencies)) - 1]")


def _uses(inners: DataFrame, roots: DataFrame) -> DataFrame:
    """(node_id, use_count): expressions attached plus nodes that have it as a logical operand."""
    attached = roots.where(~F.col("node_id").isin(TRUE_ID, FALSE_ID)).select("node_id")
    operands = inners.select(F.explode("operands").alias("node_id"))
    return attached.unionByName(operands).groupBy("node_id").agg(F.count("*").alias("use_count"))
