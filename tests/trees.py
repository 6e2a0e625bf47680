"""Small expressions, events and truths for tests that need no Spark.

An attribute of these events is 1, 0 or absent, so that the predicate `p = 1` is true, false or undefined.
`kleene` is three-valued evaluation once more, by numbers, sharing nothing with the project but the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

from hypothesis import strategies as st

from banyan.language.evaluate import evaluate_predicate
from banyan.language.tree import And, Constant, Not, Or, Predicate, Tree, Xnor, Xor

NAMES = "abcde"
_NUMBER = {True: 1.0, None: 0.5, False: 0.0}


def leaf(name: str) -> Predicate:
    """`name = 1`."""
    return Predicate(name, "=", "integer", ("1",))


def truth_in(event: Mapping[str, Any]) -> Callable[[Predicate], bool | None]:
    """The truth of predicates on an event. The events of these tests need no casts of text."""
    return cache(lambda predicate: evaluate_predicate(predicate, event.get(predicate.attribute), None))


def kleene(tree: Tree, event: Mapping[str, Any]) -> bool | None:
    """The value of a tree: true is 1, undefined a half, false 0; AND is the least, OR the greatest, NOT the rest."""
    return {1.0: True, 0.5: None, 0.0: False}[_number(tree, truth_in(event))]


def _number(tree: Tree, truth: Callable[[Predicate], bool | None]) -> float:
    if isinstance(tree, Predicate):
        return _NUMBER[truth(tree)]
    if isinstance(tree, Constant):
        return _NUMBER[tree.value]
    if isinstance(tree, Not):
        return 1 - _number(tree.operand, truth)
    if isinstance(tree, And):
        return min(_number(operand, truth) for operand in tree.operands)
    if isinstance(tree, Or):
        return max(_number(operand, truth) for operand in tree.operands)
    left, right = _number(tree.left, truth), _number(tree.right, truth)
    if 0.5 in (left, right):
        return 0.5
    return float((left != right) == isinstance(tree, Xor))


def random_event(rng: Random, names: Iterable[str] = NAMES) -> dict[str, int]:
    """1, 0 or absent for each attribute."""
    event = {name: rng.choice((1, 0, None)) for name in names}
    return {name: value for name, value in event.items() if value is not None}


def random_tree(rng: Random, depth: int = 3, names: Sequence[str] = NAMES, negations: bool = True) -> Tree:
    """A tree at most `depth` levels above its leaves; without `negations` of AND and OR alone."""
    if depth == 0 or rng.random() < 0.1:
        return leaf(rng.choice(names))
    kind = rng.choice((And, And, Or, Or, Not, Xor, Xnor) if negations else (And, Or))
    if kind is Not:
        return Not(random_tree(rng, depth - 1, names))
    count = 2 if kind in (Xor, Xnor) else rng.randint(2, 4)
    operands = tuple(random_tree(rng, depth - 1, names, negations) for _ in range(count))
    return kind(*operands) if kind in (Xor, Xnor) else kind(operands)


def shuffled(rng: Random, tree: Tree) -> Tree:
    """The same tree with the operands of every AND, OR, XOR and XNOR in another order."""
    if isinstance(tree, (Predicate, Constant)):
        return tree
    if isinstance(tree, Not):
        return Not(shuffled(rng, tree.operand))
    operands = [shuffled(rng, operand) for operand in (tree.operands if isinstance(tree, (And, Or)) else tree)]
    rng.shuffle(operands)
    return type(tree)(tuple(operands)) if isinstance(tree, (And, Or)) else type(tree)(*operands)


# Leaves that can be undefined, leaves that never are, and the constants.
_leaves = st.one_of(
    st.sampled_from(NAMES).map(leaf),
    st.builds(Predicate, st.sampled_from(NAMES), st.just("<=>"), st.just("integer"), st.just(("1",))),
    st.builds(Predicate, st.sampled_from(NAMES), st.just("is null"), st.just(""), st.just(())),
    st.builds(Constant, st.sampled_from((True, False, None))),
)

trees = st.recursive(
    st.one_of(st.sampled_from(NAMES).map(leaf), st.sampled_from(NAMES).map(leaf), _leaves),
    lambda below: st.one_of(
        st.builds(Not, below),
        st.builds(Xor, below, below),
        st.builds(Xnor, below, below),
        st.builds(And, st.lists(below, min_size=2, max_size=4).map(tuple)),
        st.builds(Or, st.lists(below, min_size=2, max_size=4).map(tuple)),
    ),
    max_leaves=16,
)
