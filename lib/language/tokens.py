"""Text to tokens, as Spark's lexer cuts it.

One regular expression cuts the text into strings: `PLAIN` gives single tokens, `FUSED` also takes the commonest whole
predicates (`a = 1`, `a < 'x'`, `a BETWEEN 1 AND 9`) in one piece, which makes reading three times as fast. Tokens carry
no positions: an error is rare, and `position` finds the place by scanning again.
Every character that is not white space ends up in some token, and the scan is linear whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice

from banyan.errors import ExpressionError

# Spark's white space beyond ASCII; it is turned to spaces before the scan. In ASCII it is \s.
_WIDE_SPACES = "\xa0\u1680\u2000-\u200a\u2028\u202f\u205f\u3000"

# Words that cannot name an attribute without back-ticks. Spark itself would take `in = 1`; nobody means that.
RESERVED = frozenset("AND OR XOR XNOR NOT BETWEEN IN LIKE ILIKE RLIKE REGEXP IS NULL TRUE FALSE".split())

# A word of digits and letters is a name in Spark (`1a`, `1e3L`) unless it is a whole number literal (`1L`, `1e3`).
_NUMBER_LIKE = r"\d+(?:[lLsSyY]|(?:[eE]\d+)?(?:[dDfF]|[bB][dD])?)(?!\w)"
_QUOTED_NAME = r"`[^`]*(?:``[^`]*)*`"
_PART = rf"(?:[A-Za-z_]\w*|(?!{_NUMBER_LIKE})\d\w*|{_QUOTED_NAME})"
PATH = rf"{_PART}(?:\s*\.\s*{_PART})*"
NUMBER = (
    r"(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?(?:[dDfF]|[bB][dD])?(?!\w)"
    r"|\d+(?:[lLsSyY]|(?:[eE][+-]?\d+)?(?:[dDfF]|[bB][dD])?)(?!\w)"
)
STRING = (
    r"'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'"
    r'|"[^"\\]*(?:(?:\\.|"")[^"\\]*)*"'
    r"|[rR](?:'[^']*'|\"[^\"]*\")"
)
# A quote that never closes takes the rest of the text: trying each later quote again would be quadratic.
_UNCLOSED = "['\"`].*"
SPACES = " \t\n\r\x0b\x0c"
_OPERATOR = "<=>|<=|<>|<|>=|>|==?|![=<>]?"
_TOKEN = rf"[(),]|{STRING}|{NUMBER}|{PATH}|{_OPERATOR}|{_UNCLOSED}|."

_SIMPLE_NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
_SIMPLE_INTEGER = r"-?\d+(?![\w.])"
_SIMPLE_TEXT = r"'[^'\\]*'(?!\s*[rR]?['\"])"  # not doubled, not joined with another text
_FLAGS = re.ASCII | re.DOTALL

# One predicate in one piece: attribute, comparison, integer or text, low, high.
_COMPARISON = "==?|!=|<>|<=?|>=?"
_BETWEEN = "[bB][eE][tT][wW][eE][eE][nN]"
_AND = "[aA][nN][dD]"


def _predicate(open_group: str) -> str:
    o = open_group
    return (
        rf"{o}{_SIMPLE_NAME})"
        rf"(?:\s*{o}{_COMPARISON})\s*{o}{_SIMPLE_INTEGER}|{_SIMPLE_TEXT})"
        rf"|\s+{_BETWEEN}\s+{o}{_SIMPLE_INTEGER})\s+{_AND}\s+{o}{_SIMPLE_INTEGER}))"
    )


# Connectives first: as a name they would be tried against every form of a predicate.
_CONNECTIVE = r"(?:AND|OR|NOT|and|or|not)(?![\w.])"

PLAIN: Callable[[str], list[str]] = re.compile(rf"\s*({_TOKEN})", _FLAGS).findall
FUSED: Callable[[str], list[str]] = re.compile(rf"\s*([()]|{_CONNECTIVE}|{_predicate('(?:')}|{_TOKEN})", _FLAGS).findall
split_predicate = re.compile(_predicate("("), _FLAGS).fullmatch

is_path = re.compile(PATH, _FLAGS).fullmatch
is_number = re.compile(NUMBER, _FLAGS).fullmatch
is_string = re.compile(STRING, _FLAGS).fullmatch
path_parts: Callable[[str], list[str]] = re.compile(_PART, _FLAGS).findall

_scan = re.compile(rf"\s*({_TOKEN})", _FLAGS).finditer
_aside_or_quoted = re.compile(rf"--|/\*|[{_WIDE_SPACES}]+|{STRING}|{_QUOTED_NAME}|{_UNCLOSED}|\w+", _FLAGS)
_has_wide_space = re.compile(f"[{_WIDE_SPACES}]").search
_line_comment = re.compile(r"--(?:\\\n|[^\r\n])*", _FLAGS)
_comment_edge = re.compile(r"/\*(?!\+)|\*/", _FLAGS)


def position(text: str, index: int) -> int:
    """Where the token number `index` of `PLAIN(text)` starts; the end of the text if there are fewer."""
    match = next(islice(_scan(text), index, None), None)
    return match.start(1) if match else len(text)


def blank_asides(text: str) -> str:
    """The text with every comment and every odd white space turned to spaces, so that positions stay.

    Comments as in Spark: `-- to the end of the line` (a backslash there carries it on), `/* nested /* too */ */`.
    """
    if "--" not in text and "/*" not in text and (text.isascii() or not _has_wide_space(text)):
        return text
    pieces = []
    done = at = 0
    while match := _aside_or_quoted.search(text, at):
        start, at = match.span()
        mark = match.group()
        if mark == "--":
            at = _line_comment.match(text, start).end()
        elif mark == "/*":
            at = _comment_end(text, start)
        elif not mark.isspace():
            # A text or a name, whose dashes are its own; a word is taken whole, or the end of OR'x' would look raw.
            continue
        pieces.append(text[done:start])
        pieces.append(" " * (at - start))
        done = at
    pieces.append(text[done:])
    return "".join(pieces)


def _comment_end(text: str, start: int) -> int:
    at = start + 2
    if text.startswith("+", at):
        raise ExpressionError("A hint /*+ ... */ is not supported in an expression", text, start)
    depth = 1
    while depth:
        edge = _comment_edge.search(text, at)
        if edge is None:
            raise ExpressionError("The comment that starts here is never closed; write */ where it ends", text, start)
        depth += 1 if edge.group() == "/*" else -1
        at = edge.end()
    return at
