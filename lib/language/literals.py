"""Literals: what Spark 4.1 makes of a number or a text, as a family and a canonical text.

Numbers: the suffix, the point and the exponent choose the family; limits are Spark's own, and what Spark refuses is
refused here (`Refused` says why). Texts: Spark's escapes, of which `\\%` and `\\_` keep their backslash.
"""

from __future__ import annotations

import math
import re
import struct
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import NamedTuple

_MAX_DIGITS = 38
_MAX_LENGTH = 1_000  # Spark has no such limit, but exact arithmetic on longer ones is not linear.
_BITS = {"L": (63, "bigint"), "S": (15, "smallint"), "Y": (7, "tinyint")}
# Spark compares the decimal text of a literal with the shortest text of the largest value, so a literal that would
# round down to the largest float is refused: 3.4028235e38F is.
_MAX_DOUBLE = Decimal("1.7976931348623157E308")
_MAX_FLOAT = Decimal("3.4028234663852886E38")

_escape_in = {
    "'": re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[01][0-7]{2}|.)|''", re.DOTALL),
    '"': re.compile(r'\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[01][0-7]{2}|.)|""', re.DOTALL),
}
_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_ESCAPES.update({"\\": "\\", "'": "'", '"': '"'})
_surrogate = re.compile("[\ud800-\udfff]")
_exponent = re.compile(r"[eE][+-]?0*(\d*)")


class Refused(ValueError):
    """A literal or pattern that Spark would refuse; says why, for a human."""


class Literal(NamedTuple):
    """family: one of `tree.FAMILIES`, or 'null'. text: the canonical operand; None for NULL."""

    family: str
    text: str | None


NULL = Literal("null", None)


def number_literal(token: str, negative: bool = False) -> Literal:
    """The literal a number token stands for."""
    if len(token) > _MAX_LENGTH:
        raise Refused(f"A number of more than {_MAX_LENGTH} characters is not supported")
    sign = "-" if negative else ""
    if token.isdigit():
        digits = token.lstrip("0") or "0"
        if len(digits) < 19 or (len(digits) == 19 and -(2**63) <= int(sign + digits) < 2**63):
            return Literal("integer", digits if digits == "0" else sign + digits)
        return _decimal(sign + digits)
    token = token.upper()
    exponent = _exponent.search(token)
    if exponent and len(exponent.group(1)) > 9:
        raise Refused(f"The exponent of {token} is too large")
    if token.endswith("BD"):
        return _decimal(sign + token[:-2])
    suffix = token[-1]
    if suffix in _BITS:
        return _whole(sign, token[:-1], *_BITS[suffix])
    if suffix in "DF":
        return _double(sign + token[:-1], single=suffix == "F")
    return _double(sign + token, single=False) if exponent else _decimal(sign + token)


def _whole(sign: str, digits: str, bits: int, name: str) -> Literal:
    digits = digits.lstrip("0") or "0"
    # Length first: Python refuses to turn thousands of digits into an int.
    if len(digits) > 19 or not -(2**bits) <= int(sign + digits) < 2**bits:
        raise Refused(f"{sign}{digits} does not fit a {name}, which goes from {-(2**bits)} to {2**bits - 1}")
    return Literal("integer", str(int(sign + digits)))


def _decimal(number: str) -> Literal:
    try:
        value = Decimal(number)
    except InvalidOperation:
        raise Refused("The exponent of the decimal is too large") from None
    _, digits, exponent = value.as_tuple()
    # Spark's precision: all digits of the number as written, with the zeros an exponent stands for.
    precision = max(len(digits), -exponent) if exponent <= 0 else len(digits) + exponent
    if precision > _MAX_DIGITS:
        raise Refused(f"A decimal has at most {_MAX_DIGITS} digits; this one has {precision}")
    return Literal("decimal", decimal_text(value))


def decimal_text(value: Decimal) -> str:
    """Plain digits, no exponent, no trailing zeros, no minus before zero."""
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _double(number: str, single: bool) -> Literal:
    exact = Decimal(number)
    limit, name = (_MAX_FLOAT, "float") if single else (_MAX_DOUBLE, "double")
    if exact.copy_abs() > limit:
        raise Refused(f"{number} does not fit a {name}, which goes up to {float(limit)!r}")
    value = _nearest_float(exact) if single else float(number)
    # -0.0 = 0.0 in Spark: one literal.
    return Literal("double", repr(value) if value else "0.0")


def _nearest_float(exact: Decimal) -> float:
    """The 32-bit float nearest to the number. Rounding to a double first can land on a tie and go astray."""
    double = float(exact)
    if abs(double) < 1e-50:
        return 0.0
    if Decimal(double) == exact:
        return _single(double)
    near = {_single(math.nextafter(double, -math.inf)), _single(double), _single(math.nextafter(double, math.inf))}
    target = Fraction(exact)
    return min(near, key=lambda candidate: abs(Fraction(candidate) - target))


def _single(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def string_text(token: str, unknown: list[str] | None = None) -> str:
    """The text of one string token; escapes that Spark merely drops are added to `unknown`."""
    quote = token[0]
    if quote in "rR":
        return token[2:-1]
    inside = token[1:-1]
    if "\\" not in inside:
        return inside.replace(quote + quote, quote) if quote in inside else inside

    def plain(match: re.Match) -> str:
        code = match.group(1)
        if code is None:
            return quote
        if len(code) == 1:
            if unknown is not None and code not in _ESCAPES:
                unknown.append(code)
            return _ESCAPES.get(code, code)
        value = int(code, 8) if code[0] in "01" else int(code[1:], 16)
        if value > 0x10FFFF:
            raise Refused(f"\\{code} is not a character: the last one is \\U0010FFFF")
        return chr(value)

    return _escape_in[quote].sub(plain, inside)


def whole_characters(text: str) -> str:
    """Halves of a character written as two \\u escapes joined; a half alone is a question mark, as in Spark."""
    if text.isascii() or not _surrogate.search(text):
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _surrogate.sub("?", joined)


def has_half_characters(text: str) -> re.Match | None:
    """Where a text that came from outside holds half a character, which no event can."""
    return None if text.isascii() else _surrogate.search(text)
