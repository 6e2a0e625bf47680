"""LIKE patterns: brought to the backslash as escape character, and refused where Spark would fail on them."""

from __future__ import annotations

from banyan.language.literals import Refused


def like_pattern(pattern: str, escape: str = "\\", ignore_case: bool = False) -> str:
    """The same pattern with backslash as its escape character."""
    # Java counts in halves of characters: a character beyond the first 65,536 is two.
    if len(escape) != 1 or ord(escape) > 0xFFFF:
        raise Refused(f"ESCAPE takes one character, not '{escape}'")
    if ignore_case and escape.lower() != escape.upper():
        # Spark lower-cases the pattern before it looks for escapes: 'X' would never be found, 'x' be found in 'X'.
        raise Refused(f"ESCAPE '{escape}' of ILIKE is a letter; take a character that has no upper and lower case")
    if escape not in pattern:
        return pattern.replace("\\", "\\\\") if escape != "\\" else pattern
    pieces = []
    characters = iter(pattern)
    for character in characters:
        if character != escape:
            pieces.append("\\\\" if character == "\\" else character)
            continue
        escaped = next(characters, None)
        if escaped is None:
            raise Refused(f"The pattern ends with its escape character {escape}; double it to mean itself")
        if escaped not in ("%", "_", escape):
            raise Refused(
                f"The escape character {escape} may stand before %, _ and itself only, not before {escaped}; "
                f"double it to mean itself"
            )
        pieces.append("\\" + escaped if escaped in "%_\\" else escaped)
    return "".join(pieces)
