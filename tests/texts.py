"""Random texts over few predicates, so that their sets of operands contain each other: what sharing is about."""

from __future__ import annotations


def flat(rng, size, names):
    """AND or OR of a few of few predicates: sets that contain each other, which is what sharing is about."""
    word = rng.choice((" AND ", " OR "))
    return word.join(f"{name} = 1" for name in rng.sample(names, rng.randint(1, min(size, len(names)))))


def nested(rng, depth, names):
    if depth == 0 or rng.random() < 0.2:
        return flat(rng, 4, names)
    word = rng.choice((" AND ", " OR ", " XOR ")) if rng.random() < 0.9 else " XNOR "
    parts = [nested(rng, depth - 1, names) for _ in range(rng.randint(1, 3))]
    text = word.join(f"({part})" for part in parts)
    return f"NOT ({text})" if rng.random() < 0.2 else text


def chain(rng, names):
    """Operands one more at each turn (X-6): every node is a candidate for all longer ones."""
    word = rng.choice((" AND ", " OR "))
    start = rng.randint(0, 3)
    return word.join(f"{name} = 1" for name in names[start : start + rng.randint(2, 6)])


def random_text(rng, names):
    kind = rng.random()
    if kind < 0.4:
        return flat(rng, 5, names)
    if kind < 0.6:
        return chain(rng, names)
    if kind < 0.95:
        return nested(rng, rng.randint(1, 4), names)
    return rng.choice(("TRUE", "FALSE", "a = 1 AND a != 1", "a IS NULL"))
