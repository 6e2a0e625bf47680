"""What a change of the expressions changes in the tables: the sharing rule, applied to the neighbourhood of the change.

In: the nodes of the expressions that come and go (`Canonical`), how often each is attached more or less, and a view of
what is stored (`Stored`), which is asked only for the neighbourhood. Out: rows to delete and to insert. What always
holds, and is tested on random histories: the tables then equal, row for row, those of a fresh build of the survivors.

The steps: which nodes come, stay and go; whose children can differ (nodes around one that came or went); their
children by the rule of `cover`; levels, upward as far as they move.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import NamedTuple, Protocol

import numpy as np

from banyan.build.cover import CROWD, access_child, cover
from banyan.build.rows import EdgeRow, NodeRow, PredicateRow, edges_of
from banyan.errors import DamagedIndex
from banyan.normal.canonical import Canonical
from banyan.normal.ids import FALSE_ID, TRUE_ID

# (operator, operand): the nodes of that operator that hold that operand.
Key = tuple[str, int]


class Stored(Protocol):
    """What an update asks of the tables as they are."""

    def rows(self, ids: Collection[int]) -> tuple[dict[int, PredicateRow], dict[int, NodeRow]]:
        """The predicates and the nodes with these ids."""

    def levels(self, ids: Collection[int]) -> dict[int, int]:
        """The levels of those that are inner nodes."""

    def holders(self, keys: Collection[Key]) -> dict[Key, int]:
        """How many nodes of that operator hold that operand; a key nobody holds may be left out."""

    def holding(self, keys: Collection[Key]) -> Iterable[NodeRow]:
        """The nodes that hold any of these."""

    def around(self, sets: Collection[tuple[Key, tuple[int, ...]]]) -> Iterable[NodeRow]:
        """The nodes that hold all of a set; each set comes with one key of its own to look it up by."""

    def inside(self, operands: Collection[int]) -> Iterable[NodeRow]:
        """The nodes all whose operands are among these."""

    def above(self, ids: Collection[int]) -> Iterable[tuple[EdgeRow, int]]:
        """All edges of the parents of these, each with the level of its child."""

    def highest(self, without: Collection[int]) -> int:
        """The highest level among the nodes but these; 0 if there are no others."""


class Collision(Exception):
    """Two different nodes have one id: everything is built again with the next seed. Never reaches a user."""


class Changed(NamedTuple):
    """Rows of one table: those with a key in `deleted` go, then `inserted` come. The key of an edge is its parent."""

    deleted: list[int]
    inserted: list[tuple]


class Changes(NamedTuple):
    predicates: Changed
    nodes: Changed
    edges: Changed


def changes(
    stored: Stored, canonical: Canonical, gained: Mapping[int, int], lost: Mapping[int, int], crowd: int = CROWD
) -> Changes:
    """The changes when `gained[node]` expressions are attached to nodes and `lost[node]` go. All are in `canonical`."""
    logical = _logical(stored, canonical, gained, lost)
    counts = _Counts(stored, logical, crowd)
    targets = _targets(stored, canonical, logical, counts)
    covers = _covers(stored, logical, counts, targets)
    levels = _Levels(stored, logical, targets, covers)
    levels.rise()
    return _rows(stored, canonical, logical, targets, covers, levels)


# --- which nodes come, stay and go ---


class _Logical(NamedTuple):
    """`came`: ids of new nodes; `went`: ids that go; `uses`: use counts after; the rows as stored."""

    came: set[int]
    went: set[int]
    uses: dict[int, int]
    leaves: dict[int, PredicateRow]
    inners: dict[int, NodeRow]
    came_inner: dict[int, tuple[str, tuple[int, ...]]]

    @property
    def went_inner(self) -> dict[int, tuple[str, tuple[int, ...]]]:
        return {i: (self.inners[i].operator, self.inners[i].operands) for i in self.went if i in self.inners}


def _logical(stored: Stored, canonical: Canonical, gained: Mapping[int, int], lost: Mapping[int, int]) -> _Logical:
    staying: set[int] = set()
    below_gained = [i for root in gained for i in canonical.below(root, staying)]
    touched = below_gained + [i for root in lost for i in canonical.below(root, staying)]
    leaves, inners = stored.rows(touched) if touched else ({}, {})
    for node_id in touched:
        _compare(canonical, node_id, leaves.get(node_id), inners.get(node_id))
    came = {i for i in below_gained if i not in leaves and i not in inners}
    came_inner = {i: canonical.nodes[i][:2] for i in came if i in canonical.nodes}

    uses = dict.fromkeys(touched, 0) | {i: row.use_count for i, row in (*leaves.items(), *inners.items())}
    for root, count in gained.items():
        if root not in (TRUE_ID, FALSE_ID):
            uses[root] += count
    for _, operands in came_inner.values():
        for operand in operands:
            uses[operand] += 1
    for root, count in lost.items():
        if root not in (TRUE_ID, FALSE_ID):
            uses[root] -= count
    went: set[int] = set()
    # From above: a node that goes takes a use from each of its operands, all of which have a lower logical level.
    for node_id in [*sorted(inners, key=lambda i: -inners[i].logical_level), *leaves]:
        if uses[node_id] == 0:
            went.add(node_id)
            for operand in inners[node_id].operands if node_id in inners else ():
                uses[operand] -= 1
    if any(count < 0 for count in uses.values()) or any(uses[i] < 1 for i in came):
        raise DamagedIndex("use counts do not add up: the tables of this index were changed by something else")
    return _Logical(came, went, uses, leaves, inners, came_inner)


def _compare(canonical: Canonical, node_id: int, leaf: PredicateRow | None, inner: NodeRow | None) -> None:
    """Ids are hashes: content decides whether what is stored is the same node."""
    predicate = canonical.predicates.get(node_id)
    if predicate is not None:
        same = inner is None and (leaf is None or leaf.predicate == predicate)
    else:
        node = canonical.nodes[node_id]
        same = leaf is None and (inner is None or (inner.operator, inner.operands) == (node.operator, node.operands))
    if not same:
        raise Collision(node_id)


# --- whose children can differ ---


class _Counts:
    """How many nodes hold an operand, before and after. At `crowd` holders an operand no longer finds candidates."""

    def __init__(self, stored: Stored, logical: _Logical, crowd: int):
        self._stored = stored
        self._crowd = crowd
        self._difference: Counter[Key] = Counter()
        for sign, nodes in ((1, logical.came_inner), (-1, logical.went_inner)):
            for operator, operands in nodes.values():
                for operand in operands:
                    self._difference[operator, operand] += sign
        self._before: dict[Key, int] = {}
        self.learn(self._difference)

    def learn(self, keys: Iterable[Key]) -> None:
        unknown = set(keys) - self._before.keys()
        if unknown:
            found = self._stored.holders(unknown)
            self._before |= {key: found.get(key, 0) for key in unknown}

    def before(self, key: Key) -> int:
        return self._before[key]

    def findable_before(self, operator: str, operands: Iterable[int]) -> bool:
        return any(self._before[operator, operand] < self._crowd for operand in operands)

    def findable(self, operator: str, operands: Iterable[int]) -> bool:
        """Whether a node with these operands is a candidate, after the change."""
        return any(self.after((operator, operand)) < self._crowd for operand in operands)

    def after(self, key: Key) -> int:
        return self._before[key] + self._difference[key]

    def crossed(self) -> list[Key]:
        """Operands whose nodes become candidates, or cease to be, because others came or went."""
        return [k for k in self._difference if (self._before[k] < self._crowd) != (self.after(k) < self._crowd)]


class _Target(NamedTuple):
    """A node whose children are computed: a new one, or one whose children can differ from what is stored."""

    operator: str
    operands: tuple[int, ...]
    frequencies: dict[int, float]
    logical_level: int
    row: NodeRow | None


def _targets(stored: Stored, canonical: Canonical, logical: _Logical, counts: _Counts) -> dict[int, _Target]:
    sets = []
    for nodes, findable in (
        (logical.came_inner, counts.findable),
        (logical.went_inner, counts.findable_before),
    ):
        for operator, operands in nodes.values():
            key = min(((operator, operand) for operand in operands), key=counts.before)
            if counts.before(key) and findable(operator, operands):
                sets.append((key, operands))
    crossed = counts.crossed()
    found = [*(stored.around(sets) if sets else ()), *(stored.holding(crossed) if crossed else ())]
    targets = {}
    for row in found:
        if row.node_id not in logical.went:
            frequencies = dict(zip(row.operands, row.operand_frequencies))
            targets[row.node_id] = _Target(row.operator, row.operands, frequencies, row.logical_level, row)
    for node_id, (operator, operands) in logical.came_inner.items():
        frequencies = {operand: single(canonical.frequencies[operand]) for operand in operands}
        targets[node_id] = _Target(operator, operands, frequencies, canonical.nodes[node_id].level, None)
    return targets


def single(frequency: float) -> float:
    """As the tables hold it, in 32 bits: an index must not remember which of its nodes were computed just now."""
    return float(np.float32(frequency))


# --- their children ---


class _Covers(NamedTuple):
    """`children` of the targets; `inside`: stored nodes that may be among them."""

    children: dict[int, list[int]]
    inside: dict[int, NodeRow]


def _covers(stored: Stored, logical: _Logical, counts: _Counts, targets: Mapping[int, _Target]) -> _Covers:
    operands = {operand for target in targets.values() for operand in target.operands}
    inside = {row.node_id: row for row in stored.inside(operands)} if targets else {}
    counts.learn((target.operator, operand) for target in targets.values() for operand in target.operands)
    sets = {i: (row.operator, row.operands) for i, row in inside.items() if i not in logical.went}
    sets |= logical.came_inner
    # Each set under one of its operands: every node around it holds that one too.
    by_first: dict[Key, list[tuple[int, frozenset[int]]]] = defaultdict(list)
    for node_id, (operator, members) in sets.items():
        by_first[operator, members[0]].append((node_id, frozenset(members)))
    children = {}
    for node_id, target in targets.items():
        mine = frozenset(target.operands)
        candidates = {
            other_id: members
            for operand in target.operands
            for other_id, members in by_first.get((target.operator, operand), ())
            if members < mine and counts.findable(target.operator, members)
        }
        children[node_id] = cover(target.operands, candidates)
    return _Covers(children, inside)


# --- levels ---


class _Levels:
    """Levels of the targets, and of whatever stands above a node whose level moved."""

    def __init__(self, stored: Stored, logical: _Logical, targets: Mapping[int, _Target], covers: _Covers):
        self._stored = stored
        self._ignored = logical.went
        self._targets = targets
        self._children = dict(covers.children)
        self.level: dict[int, int] = {}
        self.before: dict[int, int] = {i: target.row.level for i, target in targets.items() if target.row}
        # The edges, as stored, of nodes that are no targets but stand above one whose level moved.
        self.edges: dict[int, list[EdgeRow]] = {}
        self._parents: dict[int, set[int]] = defaultdict(set)
        for parent, children in self._children.items():
            for child in children:
                self._parents[child].add(parent)
        known = {i: row.level for i, row in (*covers.inside.items(), *logical.inners.items())}
        known |= dict.fromkeys(logical.leaves, 1) | dict.fromkeys(logical.came, 1)
        unknown = {child for child in self._parents if child not in known and child not in targets}
        found = stored.levels(unknown) if unknown else {}
        self.level |= dict.fromkeys(unknown, 1) | found
        self.level |= {child: known[child] for child in self._parents if child in known and child not in targets}

    def rise(self) -> None:
        # A child has a lower logical level (an operand), or at most the same and fewer operands (a cover).
        for node_id in sorted(
            self._targets, key=lambda i: (self._targets[i].logical_level, len(self._targets[i].operands))
        ):
            self.level[node_id] = self._computed(node_id)
        moved = {i for i, level in self.before.items() if self.level[i] != level}
        asked: set[int] = set()
        while moved:
            asked |= moved
            self._meet_parents(moved)
            moved = self._settle(moved) - asked

    def _computed(self, node_id: int) -> int:
        return 1 + max(self.level[child] for child in self._children[node_id])

    def _meet_parents(self, ids: set[int]) -> None:
        for edge, child_level in self._stored.above(ids):
            parent = edge.parent_id
            if parent in self._targets or parent in self._ignored:
                continue
            if parent not in self.before:
                self.before[parent] = edge.parent_level
                self.level.setdefault(parent, edge.parent_level)
                self.edges[parent] = []
                self._children[parent] = []
            if edge.child_id not in self._children[parent]:
                self.edges[parent].append(edge)
                self._children[parent].append(edge.child_id)
                self._parents[edge.child_id].add(parent)
                self.level.setdefault(edge.child_id, child_level)

    def _settle(self, ids: set[int]) -> set[int]:
        """Compute again whatever stands above, lowest first, until nothing moves; the ids that moved."""
        queue = [(self.level[i], i) for i in ids]
        heapify(queue)
        moved: set[int] = set()
        while queue:
            _, node_id = heappop(queue)
            for parent in self._parents.get(node_id, ()):
                level = self._computed(parent)
                if level != self.level[parent]:
                    self.level[parent] = level
                    moved.add(parent)
                    heappush(queue, (level, parent))
        return {i for i in moved if i in self.before}


# --- rows ---


def _rows(
    stored: Stored,
    canonical: Canonical,
    logical: _Logical,
    targets: Mapping[int, _Target],
    covers: _Covers,
    levels: _Levels,
) -> Changes:
    raised = {i: edges for i, edges in levels.edges.items() if levels.level[i] != levels.before[i]}
    inners = dict(logical.inners) | {i: target.row for i, target in targets.items() if target.row}
    unread = [i for i in raised if i not in inners]
    inners |= stored.rows(unread)[1] if unread else {}

    predicates = Changed([], [])
    for node_id, row in logical.leaves.items():
        if logical.uses[node_id] != row.use_count:
            predicates.deleted.append(node_id)
            if node_id not in logical.went:
                predicates.inserted.append(row._replace(use_count=logical.uses[node_id]))
    for node_id in logical.came - logical.came_inner.keys():
        uses, frequency = logical.uses[node_id], single(canonical.frequencies[node_id])
        predicates.inserted.append(PredicateRow.of(node_id, canonical.predicates[node_id], uses, frequency))

    nodes, edges = Changed([], []), Changed([], [])
    for node_id, row in inners.items():
        if node_id in logical.went:
            nodes.deleted.append(node_id)
            edges.deleted.append(node_id)
            continue
        after = row._replace(
            use_count=logical.uses.get(node_id, row.use_count),
            level=levels.level[node_id] if node_id in levels.before else row.level,
        )
        if node_id in targets:
            after = after._replace(access_child=_access(node_id, targets[node_id], covers, canonical))
        if after != row:
            nodes.deleted.append(node_id)
            nodes.inserted.append(after)
    for node_id in logical.came_inner:
        target = targets[node_id]
        nodes.inserted.append(
            NodeRow(
                node_id,
                target.operator,
                target.operands,
                tuple(target.frequencies[operand] for operand in target.operands),
                target.logical_level,
                levels.level[node_id],
                logical.uses[node_id],
                _access(node_id, target, covers, canonical),
                single(canonical.frequencies[node_id]),
            )
        )
    for node_id, target in targets.items():
        if target.row is not None:
            edges.deleted.append(node_id)
        access = _access(node_id, target, covers, canonical)
        edges.inserted.extend(
            edges_of(node_id, target.operator, levels.level[node_id], covers.children[node_id], access)
        )
    for node_id, old in raised.items():
        edges.deleted.append(node_id)
        edges.inserted.extend(edge._replace(parent_level=levels.level[node_id]) for edge in old)
    return Changes(predicates, nodes, edges)


def _access(node_id: int, target: _Target, covers: _Covers, canonical: Canonical) -> int | None:
    children = covers.children[node_id]
    frequency = {}
    for child in children:
        known = target.frequencies.get(child)
        if known is None:
            row = covers.inside.get(child)
            known = single(canonical.frequencies[child]) if row is None else row.expected_frequency
        frequency[child] = known
    return access_child(target.operator, children, frequency)
