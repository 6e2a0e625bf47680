"""What was read before, by its text, so that a million rules over a hundred attributes are not read from scratch."""

from __future__ import annotations

_ENTRIES = 1 << 16
_LONGEST = 100


class Memory(dict):
    """A dict that stays small. Emptied when full: that costs less than deciding what to keep."""

    def keep(self, text: str, value: object) -> None:
        if len(text) <= _LONGEST:
            if len(self) >= _ENTRIES:
                self.clear()
            self[text] = value
