"""Node ids: a signed 64-bit hash of what a node is, so that equal content has an equal id on every machine.

The paper adds and multiplies ids (AND as +, OR as *), which merges different expressions. Here an id says nothing but
"this content, this seed"; whoever meets an id twice compares the content, and a collision rebuilds with the next seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import blake2b
from struct import Struct, pack

from banyan.language.tree import Predicate

# TRUE and FALSE are leaves that always exist: the event set of TRUE is all events, that of FALSE is empty.
FALSE_ID = 0
TRUE_ID = 1
_RESERVED = 2

_signed = Struct("<q").unpack


@lru_cache(maxsize=256)  # a build hashes millions of nodes, of few sizes
def _packer(count: int) -> Callable[..., bytes]:
    """What turns a letter and so many whole numbers into bytes."""
    return Struct(f"<c{count}q").pack


class Ids:
    """The hash of one index: its seed, and its width in bits (64 but in tests that want collisions)."""

    def __init__(self, seed: int = 0, bits: int = 64):
        self._salt = pack("<q", seed)
        self._bits = bits
        # A copy of a hash that has taken nothing yet costs two thirds of a new one with the same settings.
        self._start = blake2b(digest_size=8, salt=self._salt).copy

    def __reduce__(self) -> tuple:
        return Ids, (_signed(self._salt)[0], self._bits)

    def of_predicate(self, predicate: Predicate) -> int:
        attribute, operator, family, operands = predicate
        # Lengths before contents: ('a', 'b') and ('a\0b',) must differ whatever the texts hold.
        parts = [attribute, operator, family, *["\0" if o is None else "=" + o for o in operands]]
        texts = [part.encode("utf-8", "surrogatepass") for part in parts]
        return self._hash(_packer(len(texts))(b"p", *map(len, texts)) + b"".join(texts))

    def of_node(self, operator: str, operands: Sequence[int]) -> int:
        """`operands` sorted and distinct."""
        return self._hash(_packer(len(operands))(b"&" if operator == "and" else b"|", *operands))

    def _hash(self, content: bytes) -> int:
        state = self._start()
        state.update(content)
        value: int = _signed(state.digest())[0]
        if self._bits < 64:
            value &= (1 << self._bits) - 1
        # A hash that falls on a reserved id moves out of the way; the content comparison sees to the rest.
        return value + _RESERVED if 0 <= value < _RESERVED else value
