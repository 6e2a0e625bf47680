"""The generator of the OpIndex paper: conjunctions over tens of thousands of attributes, or DNF and CNF of them.

A clause has 1 to `size` predicates on different attributes; a share `equality` are `=`, the rest <= and >= in equal
parts. With `clauses` above 1 an expression is an OR of up to so many conjunctions (`normal_form` dnf) or an AND of
disjunctions (cnf). A share `text` of the attributes holds text, six digits, asked for by prefix (LIKE) or equality.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from banyan.bench.draw import distinct_rows, offsets_of, zipf
from banyan.bench.forest import AND, EQ, GE, LE, LIKE, OR, Events, Forest, Layers, Names, Predicates, without_repeats

DIGITS = 6


@dataclass(frozen=True)
class Shape:
    """What can be chosen. The defaults of the paper are lost but for the 20,000 attributes; the others are the middle
    of its ranges. `size`, `pairs`: at most, uniformly from 1; `alpha`: Zipf of attributes and operands."""

    attributes: int = 20_000
    values: int = 800
    size: int = 12
    pairs: int = 60
    equality: float = 0.6
    alpha: float = 0.0
    clauses: int = 1
    normal_form: str = "dnf"
    text: float = 0.0


DEFAULT = Shape()


def forest(count: int, seed: int = 1, shape: Shape = DEFAULT) -> Forest:
    """`count` expressions."""
    random = np.random.default_rng([seed, 1])
    clauses = random.integers(1, shape.clauses + 1, count)
    sizes = random.integers(1, shape.size + 1, int(clauses.sum()))
    row = np.repeat(np.arange(len(sizes)), sizes)
    attribute = distinct_rows(lambda n: zipf(random, shape.attributes, n, shape.alpha), row)
    low = zipf(random, shape.values, len(row), shape.alpha)
    operator = np.where(random.random(len(row)) < shape.equality, EQ, np.where(random.random(len(row)) < 0.5, LE, GE))
    names = _names(shape)
    of_text = names.is_text[attribute]
    # A prefix leaves out the last digit, or the last two.
    width = np.where(random.random(len(row)) < 0.5, 10, 100)
    operator = np.where(of_text & (operator != EQ), LIKE, operator)
    low = np.where(operator == LIKE, low // width * width, low)
    high = np.where(operator == LIKE, low + width - 1, low)
    none = np.zeros(len(row) + 1, np.int64), np.empty(0, np.int64)
    layers = Layers(Predicates(attribute, operator, low, high, *none))
    inner, outer = (AND, OR) if shape.normal_form == "dnf" else (OR, AND)
    made = _joined(layers, np.arange(len(row)), sizes, inner)
    return layers.forest(_joined(layers, made, clauses, outer), names, shape.values)


def _joined(layers: Layers, nodes: np.ndarray, lengths: np.ndarray, operator: int) -> np.ndarray:
    """Runs of nodes joined, one node each; a run of one is that node."""
    several = lengths > 1
    made = nodes[offsets_of(lengths)[:-1]].copy()
    made[several] = layers.add(np.full(several.sum(), operator), lengths[several], nodes[np.repeat(several, lengths)])
    return made


def _names(shape: Shape) -> Names:
    is_text = np.arange(shape.attributes) < round(shape.text * shape.attributes)
    return Names([f"{'t' if text else 'a'}{i}" for i, text in enumerate(is_text)], is_text, DIGITS)


def events(count: int, seed: int = 1, shape: Shape = DEFAULT) -> Events:
    """`count` events of 1 to `shape.pairs` attributes."""
    random = np.random.default_rng([seed, 2])
    sizes = random.integers(1, min(shape.pairs, shape.attributes) + 1, count)
    row = np.repeat(np.arange(count), sizes)
    attribute = distinct_rows(lambda n: zipf(random, shape.attributes, n, shape.alpha), row)
    return without_repeats(row, attribute, zipf(random, shape.values, len(row), shape.alpha), count)
