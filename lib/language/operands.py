"""The two sides of a predicate: attributes and literals from tokens, and the messages for what is neither."""

from __future__ import annotations

from typing import NoReturn

from banyan.errors import ExpressionError
from banyan.language import tokens as scan
from banyan.language.attributes import attribute_text, part_name
from banyan.language.literals import NULL, Literal, Refused, number_literal, string_text, whole_characters
from banyan.language.memory import Memory
from banyan.language.settings import Settings
from banyan.language.times import date_literal, timestamp_literal

WORDS = {"TRUE": Literal("boolean", "true"), "FALSE": Literal("boolean", "false"), "NULL": NULL}
TYPED = frozenset(("DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "TIME", "INTERVAL", "X"))
# Words that start something else than an attribute when the right token follows.
NOT_ONLY_NAMES = TYPED | {"ARRAY_CONTAINS", "ARRAYS_OVERLAP", "CASE", "SELECT", "EXISTS"}
_QUOTES = ("'", '"', "r", "R")

# Numbers and texts read before; nothing in the settings changes what they mean.
_known = Memory()

_PREDICATE_FORMS = (
    "a predicate is like a = 1, a BETWEEN 1 AND 9, a IN (1, 2), a LIKE 'x%', a IS NULL or array_contains(a, 1)"
)
_LITERAL_FORMS = (
    "a literal is like 1, -1.5, 1e3, 'text', TRUE, NULL, DATE '2024-02-29' or TIMESTAMP '2024-02-29 10:30:00'"
)


class Again(Exception):
    """The fused tokens do not fit: read the text again with plain ones, which also know where an error is."""


class Operands:
    """The tokens of one text. `at` is always an index into them; the last three tokens are empty."""

    __slots__ = ("text", "tokens", "settings", "fused", "warnings")

    def __init__(self, text: str, tokens: list[str], settings: Settings, fused: bool, warnings: list[str]):
        self.text = text
        self.tokens = tokens
        self.settings = settings
        self.fused = fused
        self.warnings = warnings

    # -- errors ------------------------------------------------------------------------------------------------

    def fail(self, reason: str, at: int) -> NoReturn:
        if self.fused:
            raise Again
        raise ExpressionError(reason, self.text, scan.position(self.text, at))

    def found(self, at: int) -> str:
        """The token as a message shows it."""
        token = self.tokens[at]
        if len(token) > 40:
            token = token[:37] + "..."
        return token if token else "the end of the text"

    def expect(self, wanted: str, at: int, where: str) -> int:
        if self.tokens[at].upper() != wanted:
            self.fail(f"Expected {wanted} {where}, found {self.found(at)}", at)
        return at + 1

    # -- one side of a predicate -------------------------------------------------------------------------------

    def no_operand(self, at: int) -> NoReturn:
        token = self.tokens[at]
        if token == "":
            self.fail(f"The expression ends where a predicate is expected; {_PREDICATE_FORMS}", at)
        if token[0] in "'\"`":
            self.unclosed(at)
        if not token.isascii():
            self.fail(f"{token} cannot stand outside quotes; put a name with it in back-ticks, as in `{token}`", at)
        if token in "*/%&|^~":
            self.fail(f"Arithmetic is not supported, found {token}; {_PREDICATE_FORMS}", at)
        shown = self.found(at) if token.isprintable() else f"the character {token!r}"
        self.fail(f"Expected a predicate, found {shown}; {_PREDICATE_FORMS}", at)

    def unclosed(self, at: int) -> NoReturn:
        kind = "name in back-ticks" if self.tokens[at][0] == "`" else "text"
        self.fail(f"The {kind} that starts here is never closed", at)

    def attribute(self, at: int) -> str:
        """The canonical name of the attribute at a path token."""
        token = self.tokens[at]
        parts = token.split(".") if token.replace(".", "_").isidentifier() else scan.path_parts(token)
        if parts[0].upper() in scan.RESERVED:
            if parts[0].upper() == "NOT":
                self.fail("NOT cannot stand here", at)
            self.fail(f"Expected a predicate, found {parts[0]}; an attribute of that name needs back-ticks", at)
        names = [part_name(part) for part in parts]
        if "" in names:
            self.fail("An attribute cannot have an empty name", at)
        if not self.settings.case_sensitive:
            names[0] = names[0].lower()
        return attribute_text(names)

    def right_attribute(self, at: int) -> tuple[str, int]:
        """The attribute on the right of a literal, in parentheses or not."""
        start = at
        while self.tokens[at] == "(":
            at += 1
        if not scan.is_path(self.tokens[at]) or self.tokens[at].upper() in WORDS or self.is_typed(at):
            self.literal(at)  # says what is wrong with it, if it is none
            self.fail("A predicate needs an attribute on one side; here both sides are literals", start)
        if self.tokens[at + 1] == "(":
            self.refuse_function(at)
        attribute = self.attribute(at)
        return attribute, self.close(start, at + 1)

    def close(self, start: int, at: int) -> int:
        """Past the parentheses that were opened from `start` on."""
        opened = start
        while self.tokens[opened] == "(":
            at = self.expect(")", at, "to close the parenthesis")
            opened += 1
        return at

    def is_typed(self, at: int) -> bool:
        """Whether a word and a text make a literal: DATE '...'."""
        return self.tokens[at].upper() in TYPED and scan.is_string(self.tokens[at + 1]) is not None

    def literal(self, at: int) -> tuple[Literal, int]:
        tokens = self.tokens
        value = _known.get(tokens[at])
        # A text may go on in the next token.
        if value is not None and not tokens[at + 1].startswith(_QUOTES):
            return value, at + 1
        start = at
        while tokens[at] == "(":
            at += 1
        first = at
        try:
            value, at = self.bare_literal(at)
        except Refused as refusal:
            self.fail(str(refusal), first)
        if at == start + 1 and "\\" not in tokens[start]:  # an escape may have to warn again
            _known.keep(tokens[start], value)
        return value, self.close(start, at) if start != first else at

    def bare_literal(self, at: int) -> tuple[Literal, int]:
        token = self.tokens[at]
        if scan.is_number(token):
            return number_literal(token), at + 1
        if token in ("-", "+"):
            at += 1
            if not scan.is_number(self.tokens[at]):
                self.fail(f"Expected a number after {token}, found {self.found(at)}; arithmetic is not supported", at)
            return number_literal(self.tokens[at], token == "-"), at + 1
        if scan.is_string(token):
            return self.string(at)
        if token.upper() in WORDS:
            return WORDS[token.upper()], at + 1
        if self.is_typed(at):
            return self.typed(at), at + 2
        self.no_literal(at)

    def no_literal(self, at: int) -> NoReturn:
        token = self.tokens[at]
        upper = token.upper()
        if token[:1] and token[0] in "'\"`" and not scan.is_path(token):
            self.unclosed(at)
        if upper in ("SELECT", "WITH"):
            self.fail("A sub-query is not supported", at)
        if upper == "CASE":
            self.fail("CASE is not supported; write it with AND, OR and NOT", at)
        if scan.is_path(token) and upper not in scan.RESERVED:
            if self.tokens[at + 1] == "(":
                self.refuse_function(at)
            self.fail(
                f"A predicate compares one attribute with literals; {self.found(at)} is another attribute "
                f"(a text needs quotes: '{self.found(at)}')",
                at,
            )
        self.fail(f"Expected a literal, found {self.found(at)}; {_LITERAL_FORMS}", at)

    def string(self, at: int) -> tuple[Literal, int]:
        """Adjacent texts are one."""
        tokens = self.tokens
        pieces = [self.one_string(at)]
        at += 1
        while scan.is_string(tokens[at]):
            pieces.append(self.one_string(at))
            at += 1
        return Literal("text", whole_characters("".join(pieces))), at

    def one_string(self, at: int) -> str:
        """A text without its quotes and escapes; warns of an escape that is none."""
        unknown: list[str] = []
        text = string_text(self.tokens[at], unknown)
        if unknown and not self.fused:
            where = scan.position(self.text, at)
            for code in dict.fromkeys(unknown):
                self.warnings.append(
                    f"'\\{code}' means '{code}' in the text at position {where}, as in Spark; "
                    f"write r'\\{code}' (or '\\\\{code}') to keep the backslash"
                )
        elif unknown:
            raise Again  # a warning names a position
        return text

    def typed(self, at: int) -> Literal:
        kind = self.tokens[at].upper()
        text = whole_characters(self.one_string(at + 1))
        if scan.is_string(self.tokens[at + 2]):
            self.fail(f"{kind} takes one text; adjacent texts are not joined here", at + 2)
        if kind == "DATE":
            return date_literal(text)
        if kind in ("TIMESTAMP", "TIMESTAMP_LTZ"):
            return timestamp_literal(text, self.settings.time_zone)
        if kind == "TIMESTAMP_NTZ":
            raise Refused("TIMESTAMP_NTZ literals are not supported; write TIMESTAMP '...' with a time zone")
        raise Refused(f"{kind} literals are not supported; {_LITERAL_FORMS}")

    def literals(self, at: int, name: str, may_be_empty: bool = False) -> tuple[list[Literal], int]:
        """A list in parentheses."""
        start = at
        at = self.expect("(", at, f"after {name}")
        found: list[Literal] = []
        if self.tokens[at] == ")":
            if may_be_empty:
                return found, at + 1
            self.fail(f"The list of {name} is empty; Spark SQL has no empty list", at)
        while True:
            literal, at = self.literal(at)
            found.append(literal)
            token = self.tokens[at]
            at += 1
            if token == ")":
                break
            if token != ",":
                self.fail(f"Expected , or ) in the list of {name}, found {self.found(at - 1)}", at - 1)
        if len(found) > self.settings.max_operands:
            self.too_many(f"The list of {name}", len(found), start)
        return found, at

    def too_many(self, what: str, count: int, at: int) -> NoReturn:
        limit = self.settings.max_operands
        self.fail(f"{what} has {count} operands, more than {limit}; raise the setting max_operands to allow that", at)

    # -- refusals ---

    def no_operator(self, at: int) -> NoReturn:
        token = self.tokens[at]
        before = self.tokens[at - 1].upper() if at else ""
        if token == ";":
            self.fail("A semicolon is not part of an expression; remove it", at)
        if token in ("+", "-", "*", "/", "%", "|", "&", "^", "~") or token.upper() == "DIV":
            self.fail(f"Arithmetic and concatenation are not supported, found {token}", at)
        if token == "[":
            self.fail("Elements in brackets are not supported; write a path with dots, or array_contains", at)
        if token == ":":
            self.fail("Casts and paths with : are not supported", at)
        if token == "(" and at and scan.is_path(self.tokens[at - 1]):
            self.refuse_function(at - 1)
        if token == ",":
            self.fail("A comma is allowed inside IN (...) and array(...) only", at)
        if before == "CASE":
            self.fail("CASE is not supported; write it with AND, OR and NOT", at - 1)
        if before in ("SELECT", "EXISTS"):
            self.fail("A sub-query is not supported", at - 1)
        if token and token[0] in "'\"`" and not scan.is_string(token) and not scan.is_path(token):
            self.unclosed(at)
        if not token.isprintable():
            self.fail(f"The character {token!r} cannot stand outside quotes", at)
        self.fail(f"Expected an operator, AND, OR, XOR, XNOR or the end, found {self.found(at)}", at)

    def refuse_function(self, at: int) -> NoReturn:
        name = self.tokens[at].upper()
        if name in ("EXISTS", "SELECT"):
            self.fail("A sub-query is not supported", at)
        if name in scan.RESERVED:
            self.fail(f"{name} cannot stand here", at)
        self.fail(
            f"The function {self.found(at)} is not supported; the functions are array_contains(attribute, value) "
            f"and arrays_overlap(attribute, array(value, ...))",
            at,
        )
