"""Node ids: a signed 64-bit hash of what a node is, so that equal content has an equal id on every machine.

The paper adds and multiplies ids (AND as +, OR as *), which merges different expressions. Here an id says nothing but
"this content, this seed"; whoever meets an id twice compares the content, and a collision rebuilds with the next seed.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from struct import pack

from banyan.language.tree import Predicate

# TRUE and FALSE are leaves that always exist: the event set of TRUE is all events, that of FALSE is empty.
FALSE_ID = 0
TRUE_ID = 1
_RESERVED = 2


class Ids:
    """The hash of one index: its seed, and its width in bits (64 but in tests that want collisions)."""

    def __init__(self, seed: int = 0, bits: int = 64):
        self._salt = pack("<q", seed)
        self._bits = bits

    def of_predicate(self, predicate: Predicate) -> int:
        attribute, operator, family, operands = predicate
        # Lengths before contents: ('a', 'b') and ('a\0b',) must differ whatever the texts hold.
        parts = [attribute, operator, family, *("\0" if o is None else "=" + o for o in operands)]
        texts = [part.encode("utf-8", "surrogatepass") for part in parts]
        head = pack(f"<c{len(texts)}q", b"p", *map(len, texts))
        return self._hash(head + b"".join(texts))

    def of_node(self, operator: str, operands: Iterable[int]) -> int:
        """`operands` sorted and distinct."""
        operands = tuple(operands)
        return self._hash(pack(f"<c{len(operands)}q", b"&" if operator == "and" else b"|", *operands))

    def _hash(self, content: bytes) -> int:
        digest = blake2b(content, digest_size=8, salt=self._salt).digest()
        value = int.from_bytes(digest, "little", signed=True)
        if self._bits < 64:
            value &= (1 << self._bits) - 1
        # A hash that falls on a reserved id moves out of the way; the content comparison sees to the rest.
        return value + _RESERVED if 0 <= value < _RESERVED else value
