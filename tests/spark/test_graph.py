"""The index as a GraphFrame: the graph itself, communities against union-find, blast radius against a plain walk."""

from __future__ import annotations

from collections import defaultdict

import pytest

from banyan import Index
from banyan.connect import is_connect
from banyan.errors import ArgumentError, SetupError
from banyan.graph.communities import communities, of_nodes, sent
from banyan.graph.radius import blast_radius

# Two teams whose rules share structure among themselves, and one predicate that everybody shares.
TEXTS = {
    **{f"a{i}": f"(a = 1 OR b = 2) AND (c = 3 OR d{i % 3} = 4) AND country = 'DE'" for i in range(6)},
    **{f"x{i}": f"(x = 1 OR y = 2) AND z{i % 2} = 3 AND country = 'DE'" for i in range(6)},
    "alone": "q = 1 AND r = 2",
    "leaf": "a = 1",
    "all": "TRUE",
    "deep": "d = 0 OR (d = 1 AND (d = 2 OR (d = 3 AND (country = 'DE' OR e = 5))))",
}


@pytest.fixture(scope="module")
def index(spark, tmp_path_factory):
    pytest.importorskip("graphframes", reason="graphframes-py is not there: make test-graph")
    from banyan.jars import cached_graph_jars

    if is_connect(spark):
        pytest.skip("GraphFrames has no server side for Spark Connect here")
    if not cached_graph_jars({}, {}):
        pytest.skip("the jar of GraphFrames is not there: make test-graph")
    index = Index.create(spark, str(tmp_path_factory.mktemp("graph") / "index"))
    index.add(spark.createDataFrame(list(TEXTS.items()), "expression_id string, expression string"))
    return index


def parents_of(index):
    found = defaultdict(set)
    for row in index.table("edges").collect():
        found[row["child_id"]].add(row["parent_id"])
    return found


def test_vertices_and_edges_are_the_tables(index):
    graph = index.graph()
    stored = {row["node_id"] for t in ("predicates", "nodes") for row in index.table(t).collect()}
    vertices = {row["id"]: row for row in graph.vertices.collect()}
    assert vertices.keys() == stored
    assert sum(row["expressions"] for row in vertices.values()) == len(TEXTS) - 1  # TRUE has no vertex
    assert {row["label"] for row in vertices.values()} >= {"and", "or", "country = DE"}
    edges = {(row["src"], row["dst"]) for row in graph.edges.collect()}
    assert edges == {(parent, child) for child, above in parents_of(index).items() for parent in above}
    degrees = {row["id"]: row["inDegree"] for row in graph.inDegrees.collect()}
    assert degrees == {child: len(above) for child, above in parents_of(index).items()}


@pytest.mark.parametrize("where", ["attribute = 'country'", "attribute IN ('a', 'd1')", "attribute = 'nobody'"])
def test_blast_radius_is_what_a_walk_finds(index, where):
    parents, roots, expected = parents_of(index), defaultdict(set), {}
    for row in index.expressions().collect():
        roots[row["node_id"]].add(row["expression_id"])
    for row in index.table("predicates").where(where).collect():
        ring, steps, seen = {row["node_id"]}, 0, set()
        while ring:
            seen |= ring
            expected |= {(e, row["node_id"]): steps for node in ring for e in roots[node]}
            ring, steps = {above for node in ring for above in parents[node]} - seen, steps + 1
    rows = blast_radius(index, where).collect()
    assert {(row["expression_id"], row["predicate_id"]): row["steps"] for row in rows} == expected
    assert len(rows) == len(expected)


def test_too_wide_a_blast_is_refused(index):
    with pytest.raises(ArgumentError, match="more than 2 predicates"):
        blast_radius(index, "true", most=2)


def groups(frame, key):
    found = defaultdict(set)
    for row in frame.collect():
        found[row["community"]].add(row[key])
    return set(map(frozenset, found.values()))


def test_connected_communities_are_those_of_union_find(index):
    parents = parents_of(index)
    nodes = {row["node_id"] for t in ("predicates", "nodes") for row in index.table(t).collect()}
    left = {node for node in nodes if len(parents[node]) <= 4}
    group = {node: node for node in left}

    def root(node):
        while group[node] != node:
            node = group[node]
        return node

    for child in left:
        for parent in parents[child] & left:
            group[root(child)] = root(parent)
    expected = defaultdict(set)
    for node in left:
        expected[root(node)].add(node)
    assert groups(of_nodes(index, "connected", crowd=4), "node_id") == set(map(frozenset, expected.values()))


@pytest.mark.parametrize("method", ["labels", "connected"])
def test_teams_are_communities(index, method):
    found = {row["expression_id"]: row["community"] for row in communities(index, method, crowd=4).collect()}
    assert found.keys() == TEXTS.keys() - {"all"}
    if method == "connected":
        assert len({found[f"a{i}"] for i in range(6)}) == len({found[f"x{i}"] for i in range(6)}) == 1
    assert found["alone"] not in {found[name] for name in found if name != "alone"}
    assert not {found[f"a{i}"] for i in range(6)} & {found[f"x{i}"] for i in range(6)}


def test_placing_by_community_sends_fewer_sets(index):
    found = sent(index, of_nodes(index, "connected", crowd=4), buckets=4)
    assert found.by_community < found.by_id and 0 < found.fullest <= 1


def test_a_session_without_the_jar_is_told_what_to_do(index, monkeypatch):
    import graphframes

    def fail(*_):
        raise RuntimeError("java.lang.ClassNotFoundException: org.graphframes.GraphFramePythonAPI")

    monkeypatch.setattr(graphframes, "GraphFrame", fail)
    with pytest.raises(SetupError, match=r"without the jar .* banyan.session\(graph=True\)"):
        index.graph()
