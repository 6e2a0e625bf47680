"""Every error Banyan raises on purpose. One root, a few families; messages say what, where and what to do."""

from __future__ import annotations


class BanyanError(Exception):
    """Root of all errors that a user can cause or mend."""


class SetupError(BanyanError):
    """Java, the Delta jars or the Python packages are not as they must be."""


class ArgumentError(BanyanError, ValueError):
    """A call was made with an argument that makes no sense."""


class ExpressionError(BanyanError, ValueError):
    """An expression cannot be read.

    `position` counts characters from 0 in `text`; `reason` is one sentence without the position. Both are left out
    where the reason itself names the place.
    """

    def __init__(self, reason: str, text: str = "", position: int | None = 0):
        self.reason = reason
        self.text = text
        self.position = position
        super().__init__(self.pointed())

    def pointed(self) -> str:
        """The reason, the line of the text it is about, and a caret under the place."""
        if not self.text:
            return self.reason
        start = self.text.rfind("\n", 0, self.position) + 1
        end = self.text.find("\n", self.position)
        line = self.text[start : end if end >= 0 else len(self.text)]
        column = self.position - start
        # A line of a megabyte helps nobody: show the surroundings of the caret.
        if len(line) > 120:
            cut = max(0, column - 60)
            line = ("..." if cut else "") + line[cut : cut + 120] + ("..." if cut + 120 < len(line) else "")
            column = column - cut + (3 if cut else 0)
        return f"{self.reason}, at position {self.position}\n  {line}\n  {' ' * column}^"

    def __reduce__(self):
        return (type(self), (self.reason, self.text, self.position))


class RulesError(BanyanError, ValueError):
    """Some expressions of an add are bad; nothing was written. `rejected` holds (id, text, position, reason)."""

    def __init__(self, message: str, rejected: list[tuple] | None = None, total: int = 0):
        super().__init__(message)
        self.rejected = rejected or []
        self.total = total


class EventsError(BanyanError, ValueError):
    """The events handed to a match cannot be used: ids missing or repeated, columns not there."""


class SourceError(BanyanError, ValueError):
    """A table that a job follows is not there, or cannot say what changed in it."""


class IndexNotFound(BanyanError, LookupError):
    """There is no index at that place."""


class IndexExists(BanyanError):
    """There is an index at that place already."""


class VersionNotFound(BanyanError, LookupError):
    """The index has no such version, or retention has taken it."""


class Conflict(BanyanError):
    """Another writer was faster, more often than we were willing to retry."""


class DamagedIndex(BanyanError):
    """The tables contradict each other: something other than Banyan has changed them."""
