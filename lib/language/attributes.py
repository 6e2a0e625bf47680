"""Attribute names: a path of parts, and the one text that stands for it.

The canonical text joins the parts with dots; a part is in back-ticks (doubled inside) unless it is a plain identifier.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_is_plain = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch
_parts = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)").findall


def attribute_text(parts: Iterable[str]) -> str:
    """The canonical text of a path."""
    return ".".join(part if _is_plain(part) else quoted(part) for part in parts)


def attribute_parts(canonical: str) -> tuple[str, ...]:
    """The path of a canonical text: the inverse of `attribute_text`."""
    if "`" not in canonical:
        return tuple(canonical.split("."))
    return tuple(name or inside.replace("``", "`") for inside, name in _parts(canonical))


def quoted(part: str) -> str:
    """The part in back-ticks."""
    return "`" + part.replace("`", "``") + "`"


def part_name(token: str) -> str:
    """The name a part of a path has in the text of an expression: its back-ticks, if any, undone."""
    return token[1:-1].replace("``", "`") if token.startswith("`") else token
