"""The negation-free canonical form: what the paper calls the zero suppression filter, and what makes nodes shareable.

In: a tree of the parser. Out: the id of its root, and for every id a node: a predicate, or an operator with a sorted
tuple of distinct operand ids. What always holds: no NOT, XOR, XNOR or constant below a root; no AND directly under an
AND, no OR under an OR; at least two operands. An event satisfies the tree (three-valued, root true) exactly when it
satisfies the nodes with undefined taken as false.
"""

from __future__ import annotations

from typing import NamedTuple

from banyan.language.tree import INVERSE, And, Constant, Not, Or, Predicate, Tree, Xnor, Xor
from banyan.normal import frequency
from banyan.normal.frequencies import Frequencies
from banyan.normal.ids import FALSE_ID, TRUE_ID, Ids


class Node(NamedTuple):
    """An inner node: AND or OR of at least two others. `level` is that of its logical operands, plus one."""

    operator: str
    operands: tuple[int, ...]
    level: int


_new = tuple.__new__  # half the time of Predicate(...), which a build calls millions of times


class Canonical:
    """Makes trees canonical and remembers every node it made."""

    def __init__(self, ids: Ids | None = None, frequencies: Frequencies | None = None):
        self._ids = ids or Ids()
        self._frequencies = frequencies
        self._id_of: dict[Predicate, int] = {}
        self._combined: dict[tuple, int] = {}
        self.predicates: dict[int, Predicate] = {}
        self.nodes: dict[int, Node] = {}
        self.frequencies: dict[int, float] = {}
        self.collision: int | None = None

    def __len__(self) -> int:
        return len(self.predicates) + len(self.nodes)

    def add(self, tree: Tree) -> int:
        """The id of the tree's canonical root (`TRUE_ID` or `FALSE_ID` where the constants decide it)."""
        # The memo is on (sub-expression, polarity): nested XORs mention each operand in both polarities twice, so
        # the expanded tree doubles per level while the graph grows by a constant. `kept` keeps all trees alive, the
        # given one (the caller may hold it no longer) and rewritten ones, because the memo knows them by their address.
        memo: dict[tuple[int, bool], int] = {}
        kept: list = [tree]
        operator, todo, ids, key = "", [(tree, False)], [], None
        frames = []
        id_of, combined = self._id_of, self._combined
        while True:
            if todo:
                tree, negated = todo.pop()
                kind = type(tree)
                if kind is Predicate:
                    known = None if negated else id_of.get(tree)
                    ids.append(self._predicate(tree, negated) if known is None else known)
                    continue
                if kind is Not:
                    todo.append((tree[0], not negated))
                    continue
                if kind is Constant:
                    # NULL is never true, whichever way it is turned.
                    ids.append(FALSE_ID if tree[0] is None or tree[0] == negated else TRUE_ID)
                    continue
                if kind is And or kind is Or:
                    effective = "and" if (kind is And) != negated else "or"
                    if effective == operator:  # flatten: AND in AND, OR in OR
                        todo.extend([(operand, negated) for operand in tree[0]])
                        continue
                    below = [(operand, negated) for operand in tree[0]]
                else:
                    effective = "or"
                    below = _either(tree, negated)
                    kept.append(tuple(below))  # a copy: `below` itself is emptied as it is worked off
                entry = (id(tree), negated)
                known = memo.get(entry)
                if known is not None:
                    ids.append(known)
                    continue
                frames.append((operator, todo, ids, key))
                operator, todo, ids, key = effective, below, [], entry
                continue
            if not frames:
                return ids[0]
            # Expressions share sub-expressions, mostly as the same text: four of five are known by their operands.
            content = (operator, *ids)
            result = combined.get(content)
            if result is None:
                result = combined[content] = self._combine(operator, ids)
            memo[key] = result
            operator, todo, ids, key = frames.pop()
            ids.append(result)

    def below(self, root: int, seen: set[int]) -> list[int]:
        """The ids of `root` and all it is made of, but for those in `seen`, which grows by them."""
        found, todo = [], [root]
        while todo:
            node_id = todo.pop()
            if node_id in seen:
                continue
            seen.add(node_id)
            if node_id == TRUE_ID or node_id == FALSE_ID:
                continue
            found.append(node_id)
            node = self.nodes.get(node_id)
            if node is not None:
                todo.extend(node.operands)
        return found

    def _predicate(self, predicate: Predicate, negated: bool) -> int:
        if negated:
            predicate = _inverse(predicate)
        node_id = self._id_of.get(predicate)
        if node_id is None:
            node_id = self._ids.of_predicate(predicate)
            if node_id in self.predicates or node_id in self.nodes:
                self.collision = node_id
            self._id_of[predicate] = node_id
            self.predicates[node_id] = predicate
            self.frequencies[node_id] = frequency.of_predicate(predicate, self._frequencies)
        return node_id

    def _combine(self, operator: str, ids: list[int]) -> int:
        deciding, neutral = (FALSE_ID, TRUE_ID) if operator == "and" else (TRUE_ID, FALSE_ID)
        nodes, level = self.nodes, 1
        distinct: set[int] = set()
        for node_id in ids:
            node = nodes.get(node_id)
            if node is None:
                distinct.add(node_id)
            # An operand can turn out to have our own operator only now, after a fold below it.
            elif node[0] == operator:
                distinct.update(node[1])
                level = max(level, node[2] - 1)
            else:
                distinct.add(node_id)
                level = max(level, node[2])
        if deciding in distinct:
            return deciding
        distinct.discard(neutral)
        if not distinct:
            return neutral
        if len(distinct) == 1:
            return distinct.pop()
        if operator == "and" and self._contradicts(distinct):
            return FALSE_ID
        operands = tuple(sorted(distinct))
        node_id = self._ids.of_node(operator, operands)
        node = nodes.get(node_id)
        if node is None:
            if node_id in self.predicates:
                self.collision = node_id
            nodes[node_id] = _new(Node, (operator, operands, level + 1))
            known = self.frequencies
            self.frequencies[node_id] = frequency.of_node(operator, [known[o] for o in operands])
        elif node.operands != operands or node.operator != operator:
            self.collision = node_id
        return node_id

    def _contradicts(self, operands: set[int]) -> bool:
        """P AND NOT P. (P OR NOT P is no tautology: it is undefined where the attribute is absent.)"""
        predicates = self.predicates
        leaves = [predicates[o] for o in operands if o in predicates]
        if len({leaf[0] for leaf in leaves}) == len(leaves):  # all of different attributes, as they mostly are
            return False
        return not {_inverse(leaf) for leaf in leaves}.isdisjoint(leaves)


def _inverse(predicate: Predicate) -> Predicate:
    attribute, operator, family, operands = predicate
    return _new(Predicate, (attribute, INVERSE[operator], family, operands))


def _either(tree: Xor | Xnor, negated: bool) -> list[tuple[Tree, bool]]:
    """XOR as (a AND NOT b) OR (NOT a AND b), XNOR as (a AND b) OR (NOT a AND NOT b): the two sides of the OR."""
    left, right = tree
    if (type(tree) is Xor) != negated:
        return [(And((left, Not(right))), False), (And((Not(left), right)), False)]
    return [(And((left, right)), False), (And((Not(left), Not(right))), False)]
