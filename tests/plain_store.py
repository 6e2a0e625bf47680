"""The tables of an index as Python dicts: what an update asks of them, and how its changes are applied."""

from __future__ import annotations

from banyan.build.plain import PlainIndex
from banyan.build.rows import EdgeRow, NodeRow, PredicateRow
from banyan.build.update import Changes, changes
from banyan.language.parser import parse
from banyan.normal.canonical import Canonical
from banyan.normal.ids import Ids


class PlainStore:
    """Implements `Stored` by looking at every row."""

    def __init__(self, crowd=10_000, id_bits=64):
        self.predicates: dict[int, PredicateRow] = {}
        self.nodes: dict[int, NodeRow] = {}
        self.edges: dict[tuple[int, int], EdgeRow] = {}
        self.texts: dict[str, str] = {}
        self._crowd = crowd
        self._ids = Ids(0, id_bits)

    # --- what an update asks ---

    def rows(self, ids):
        ids = set(ids)
        return (
            {i: row for i, row in self.predicates.items() if i in ids},
            {i: row for i, row in self.nodes.items() if i in ids},
        )

    def levels(self, ids):
        return {i: self.nodes[i].level for i in ids if i in self.nodes}

    def holders(self, keys):
        return {key: sum(n.operator == key[0] and key[1] in n.operands for n in self.nodes.values()) for key in keys}

    def holding(self, keys):
        keys = set(keys)
        return [n for n in self.nodes.values() if any((n.operator, operand) in keys for operand in n.operands)]

    def around(self, sets):
        return [
            n
            for n in self.nodes.values()
            if any(n.operator == key[0] and set(members) <= set(n.operands) for key, members in sets)
        ]

    def inside(self, operands):
        return [n for n in self.nodes.values() if set(n.operands) <= set(operands)]

    def above(self, ids):
        parents = {parent for parent, child in self.edges if child in set(ids)}
        level = {i: n.level for i, n in self.nodes.items()}
        return [(edge, level.get(child, 1)) for (parent, child), edge in self.edges.items() if parent in parents]

    # --- changing it ---

    def replace(self, texts):
        """Insert or update by id; a text of None removes."""
        canonical = Canonical(self._ids)
        gained, lost = {}, {}
        for key, text in texts.items():
            if key in self.texts:
                root = canonical.add(parse(self.texts.pop(key)))
                lost[root] = lost.get(root, 0) + 1
            if text is not None:
                root = canonical.add(parse(text))
                gained[root] = gained.get(root, 0) + 1
                self.texts[key] = text
        assert canonical.collision is None
        change = changes(self, canonical, gained, lost, self._crowd)
        self._apply(change)
        return change

    def _apply(self, change: Changes):
        for table, changed in ((self.predicates, change.predicates), (self.nodes, change.nodes)):
            assert len(set(changed.deleted)) == len(changed.deleted)
            for key in changed.deleted:
                del table[key]
            for row in changed.inserted:
                assert row.node_id not in table, "a row is there already"
                table[row.node_id] = row
        gone = set(change.edges.deleted)
        assert len(gone) == len(change.edges.deleted)
        self.edges = {key: edge for key, edge in self.edges.items() if edge.parent_id not in gone}
        for edge in change.edges.inserted:
            assert (edge.parent_id, edge.child_id) not in self.edges, "an edge is there already"
            self.edges[edge.parent_id, edge.child_id] = edge

    def tables(self):
        return {
            "predicates": sorted(self.predicates.values()),
            "nodes": sorted(self.nodes.values()),
            "edges": sorted(self.edges.values()),
        }

    def fresh(self):
        """What a fresh build of the surviving expressions gives."""
        rows = PlainIndex.build(self.texts, crowd=self._crowd).rows()
        return {table: sorted(found) for table, found in rows.items()}
