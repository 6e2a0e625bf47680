"""What the reading of an expression depends on besides its text. Kept with every version of an index."""

from __future__ import annotations

from typing import NamedTuple


class Settings(NamedTuple):
    """time_zone: zone of timestamp literals that name none; any name Spark takes ('UTC', 'Europe/Paris', '+02:00').
    case_sensitive: whether `Age` and `age` are two attributes.
    max_length: characters of one expression.
    max_depth: parentheses and NOTs inside one another, and operands of one chain of XOR / XNOR, which nest too.
    max_operands: operands of one AND / OR chain, and values of one list.
    """

    time_zone: str = "UTC"
    case_sensitive: bool = False
    max_length: int = 1_000_000
    max_depth: int = 1_000
    max_operands: int = 100_000


DEFAULT = Settings()
