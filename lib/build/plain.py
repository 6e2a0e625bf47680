"""The index of a set of expressions in plain Python, without Spark: small, slow and easy to check.

In: expression texts by id. Out: the nodes, their children, levels, use counts and access children, and the rows of the
tables that the Spark build must equal. `match` is the paper's optimised matching (section 5.2) of one event: only true
flows (zero suppression), and an and-node is looked at only when its access child is true (propagation on demand).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from random import Random

import numpy as np

from banyan.build.cover import CROWD, access_child, cover
from banyan.build.rows import EdgeRow, NodeRow, PredicateRow, edges_of
from banyan.language.parser import parse
from banyan.language.settings import DEFAULT, Settings
from banyan.language.tree import Predicate, Tree
from banyan.normal.canonical import Canonical
from banyan.normal.frequencies import Frequencies
from banyan.normal.ids import FALSE_ID, TRUE_ID, Ids

Truth = Callable[[Predicate], "bool | None"]
Nodes = Mapping[int, tuple[str, tuple[int, ...]]]


@dataclass(frozen=True)
class PlainIndex:
    """An index as the tables hold it. Everything is keyed by node id, but `expressions`, which is by expression id."""

    seed: int
    predicates: dict[int, Predicate]
    nodes: dict[int, tuple[str, tuple[int, ...]]]  # (operator, operands): the logical side
    children: dict[int, list[int]]  # the physical side: operands, and nodes that cover several of them
    logical_level: dict[int, int]
    level: dict[int, int]
    use_count: dict[int, int]
    frequency: dict[int, float]  # rounded to 32 bits, as the tables hold it
    access_child: dict[int, int]
    expressions: dict[Hashable, int]

    @classmethod
    def build(
        cls,
        expressions: Mapping[Hashable, str],
        settings: Settings = DEFAULT,
        crowd: int = CROWD,
        seed: int = 0,
        id_bits: int = 64,
        frequencies: Frequencies | None = None,
    ) -> PlainIndex:
        """The index of these texts. The seed is the first from `seed` on under which no two nodes have one id."""
        trees = {i: parse(text, settings) for i, text in expressions.items()}
        return cls.of_trees(trees, crowd, seed, id_bits, frequencies)

    @classmethod
    def of_trees(
        cls,
        trees: Mapping[Hashable, Tree],
        crowd: int = CROWD,
        seed: int = 0,
        id_bits: int = 64,
        frequencies: Frequencies | None = None,
    ) -> PlainIndex:
        """The index of expressions that are parsed already."""
        while True:
            canonical = Canonical(Ids(seed, id_bits), frequencies)
            roots = {expression_id: canonical.add(tree) for expression_id, tree in trees.items()}
            if canonical.collision is None:
                break
            seed += 1
        reached: set[int] = set()
        ids = [node_id for root in roots.values() for node_id in canonical.below(root, reached)]
        predicates = {i: canonical.predicates[i] for i in ids if i in canonical.predicates}
        inners = {i: canonical.nodes[i] for i in ids if i in canonical.nodes}
        nodes = {i: (node.operator, node.operands) for i, node in inners.items()}
        logical_level = {i: node.level for i, node in inners.items()} | dict.fromkeys(predicates, 1)
        frequency = {i: float(np.float32(canonical.frequencies[i])) for i in ids}
        children = _children(nodes, crowd)
        ands = [i for i, (operator, _) in nodes.items() if operator == "and"]
        access = {i: access_child("and", children[i], frequency) for i in ands}
        return cls(
            seed=seed,
            predicates=predicates,
            nodes=nodes,
            children=children,
            logical_level=logical_level,
            level=_levels(nodes, children, logical_level),
            use_count=_use_counts(nodes, roots.values()),
            frequency=frequency,
            access_child=access,
            expressions=roots,
        )

    @property
    def edge_count(self) -> int:
        return sum(map(len, self.children.values()))

    @property
    def depth(self) -> int:
        """The highest level; 0 if there is no node."""
        return max(self.level.values(), default=0)

    def match(self, truth: Truth, shuffle: Random | None = None) -> set[Hashable]:
        """The expressions that are true where the predicates have these truths.

        `shuffle` picks access children and the order within a level at random; the answer must not depend on either.
        """
        true = self.visit(truth, shuffle)[1]
        return {expression_id for expression_id, node_id in self.expressions.items() if node_id in true}

    def visit(self, truth: Truth, shuffle: Random | None = None) -> tuple[list[int], set[int]]:
        """The nodes that were looked at, in order, and the nodes that are true."""
        if shuffle is None:
            waking = self._waking
        else:
            random_access = {i: shuffle.choice(self.children[i]) for i in self.access_child}
            waking = _waking(self.nodes, self.children, random_access)
        queues: dict[int, list[int]] = {1: [i for i, predicate in self.predicates.items() if truth(predicate)]}
        queued = set(queues[1])
        visited: list[int] = []
        true = {TRUE_ID}
        for level in range(1, self.depth + 1):
            queue = queues.setdefault(level, [])
            if shuffle is not None:
                shuffle.shuffle(queue)
            for node_id in queue:
                visited.append(node_id)
                if node_id in self.nodes and not self._holds(node_id, true):
                    continue
                true.add(node_id)
                for parent_id in waking.get(node_id, ()):
                    if parent_id not in queued:
                        queued.add(parent_id)
                        queues.setdefault(self.level[parent_id], []).append(parent_id)
        return visited, true

    def rows(self) -> dict[str, list[tuple]]:
        """The rows of `predicates`, `nodes` and `edges`, sorted by their ids."""
        return {
            "predicates": [self._predicate_row(i) for i in sorted(self.predicates)],
            "nodes": [self._node_row(i) for i in sorted(self.nodes)],
            "edges": [row for i in sorted(self.nodes) for row in self._edge_rows(i)],
        }

    def _holds(self, node_id: int, true: set[int]) -> bool:
        every = self.nodes[node_id][0] == "and"
        return (all if every else any)(child in true for child in self.children[node_id])

    @cached_property
    def _waking(self) -> dict[int, list[int]]:
        return _waking(self.nodes, self.children, self.access_child)

    def _predicate_row(self, node_id: int) -> PredicateRow:
        return PredicateRow.of(node_id, self.predicates[node_id], self.use_count[node_id], self.frequency[node_id])

    def _node_row(self, node_id: int) -> NodeRow:
        operator, operands = self.nodes[node_id]
        return NodeRow(
            node_id,
            operator,
            operands,
            tuple(self.frequency[operand] for operand in operands),
            self.logical_level[node_id],
            self.level[node_id],
            self.use_count[node_id],
            self.access_child.get(node_id),
            self.frequency[node_id],
        )

    def _edge_rows(self, node_id: int) -> list[EdgeRow]:
        access = self.access_child.get(node_id)
        return edges_of(node_id, self.nodes[node_id][0], self.level[node_id], self.children[node_id], access)


def _children(nodes: Nodes, crowd: int) -> dict[int, list[int]]:
    """The physical children of every inner node."""
    holders: dict[tuple[str, int], list[int]] = defaultdict(list)
    for node_id, (operator, operands) in nodes.items():
        for operand in operands:
            holders[operator, operand].append(node_id)
    sets = {node_id: frozenset(operands) for node_id, (_, operands) in nodes.items()}
    candidates: dict[int, dict[int, frozenset[int]]] = defaultdict(dict)
    for other_id, (operator, operands) in nodes.items():
        around = min((holders[operator, operand] for operand in operands), key=len)
        if len(around) < crowd:
            for node_id in around:
                if sets[other_id] < sets[node_id]:
                    candidates[node_id][other_id] = sets[other_id]
    return {node_id: cover(operands, candidates[node_id]) for node_id, (_, operands) in nodes.items()}


def _levels(nodes: Nodes, children: Mapping[int, list[int]], logical_level: Mapping[int, int]) -> dict[int, int]:
    """A leaf is on level 1, a node one above its highest child."""
    level = {node_id: 1 for node_id, at in logical_level.items() if at == 1}
    # A child has a lower logical level (an operand), or at most the same and fewer operands (a cover).
    for node_id in sorted(nodes, key=lambda i: (logical_level[i], len(nodes[i][1]))):
        level[node_id] = 1 + max(level[child] for child in children[node_id])
    return level


def _use_counts(nodes: Nodes, roots: Iterable[int]) -> dict[int, int]:
    """Expressions attached, plus nodes that have it as a logical operand."""
    counts: dict[int, int] = defaultdict(int)
    for root in roots:
        if root not in (TRUE_ID, FALSE_ID):
            counts[root] += 1
    for _, operands in nodes.values():
        for operand in operands:
            counts[operand] += 1
    return dict(counts)


def _waking(nodes: Nodes, children: Mapping[int, list[int]], access: Mapping[int, int]) -> dict[int, list[int]]:
    """The parents that a child wakes when it is true: or-nodes, and the and-nodes whose access child it is."""
    waking: dict[int, list[int]] = defaultdict(list)
    for node_id, (operator, _) in nodes.items():
        for child in [access[node_id]] if operator == "and" else children[node_id]:
            waking[child].append(node_id)
    return waking
