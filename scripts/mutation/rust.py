"""Mutants of Rust files: one wrong operator, condition or function body each, all in one build."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

CHOOSER: Final = """
#[doc(hidden)]
pub fn chosen_mutant(number: u32) -> bool {
    static CHOSEN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let read = || std::env::var("MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    *CHOSEN.get_or_init(read) == number
}
"""
"""Which mutant lives, appended to a crate's root; 0 is none."""

ALLOWED: Final = "#![allow(arithmetic_overflow, unconditional_panic)]\n"
"""What the compiler would refuse of a mutant that a test should refuse."""

OPERATORS: Final = {
    "==": ("!=",),
    "!=": ("==",),
    "<": ("==", ">", "<="),
    ">": ("==", "<", ">="),
    "<=": (">", "<"),
    ">=": ("<", ">"),
    "&&": ("||",),
    "||": ("&&",),
    "+": ("-", "*"),
    "-": ("+", "/"),
    "*": ("+", "/"),
    "/": ("%", "*"),
    "%": ("/", "+"),
    "<<": (">>",),
    ">>": ("<<",),
    "&": ("|", "^"),
    "|": ("&", "^"),
    "^": ("|", "&"),
    "+=": ("-=", "*="),
    "-=": ("+=", "/="),
    "*=": ("+=", "/="),
    "/=": ("%=", "*="),
    "<<=": (">>=",),
    ">>=": ("<<=",),
    "&=": ("|=",),
    "|=": ("&=",),
}
"""The kinds of cargo-mutants 26, with `<` for `<=` and the like, where bounds go wrong most."""

_NUMBER: Final = re.compile(r"^[iu](8|16|32|64|128|size)$")
_UNSKIPPED: Final = (
    "const_item",
    "static_item",
    "macro_definition",
    "array_type",
    "enum_variant",
    "attribute_item",
)


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    Attributes:
        path: The file, relative to the checkout.
        line: Where, from 1.
        what: The change in words: `a < b` -> `a <= b`.
        start: First byte of what is replaced; for a function's body, where the early return goes.
        end: The byte after.
        text: What takes its place; operands are marked by `OPERANDS`.
    """

    path: str
    line: int
    what: str
    start: int
    end: int
    text: str


def mutants_of(path: Path, root: Path) -> list[Mutant]:
    """All mutants of a file without its tests."""
    source = path.read_bytes()
    tree = Parser(Language(tree_sitter_rust.language())).parse(source)
    name = str(path.relative_to(root))
    return [
        Mutant(name, node.start_point[0] + 1, what, start, end, text)
        for node, what, start, end, text in _walk(tree.root_node, ())
    ]


def embed(source: bytes, chosen: Sequence[tuple[int, Mutant]]) -> bytes:
    """The file with all of its chosen mutants, each behind its number."""
    nested = _Nest(source, chosen)
    return nested.between(0, len(source))


class _Nest:
    """Writes mutants into each other: what one changes may hold others."""

    def __init__(self, source: bytes, chosen: Sequence[tuple[int, Mutant]]) -> None:
        self._source = source
        self._at: dict[tuple[int, int], list[tuple[int, Mutant]]] = {}
        for number, each in chosen:
            self._at.setdefault((each.start, each.end), []).append((number, each))
        self._spans = sorted(self._at, key=lambda span: (span[0], -span[1]))

    def between(self, start: int, end: int, outer: tuple[int, int] | None = None) -> bytes:
        """What stands between two bytes, with the mutants within; not `outer` itself."""
        written, at = b"", start
        for span in self._spans:
            if span[0] < at or span[1] > end or span == outer or (outer and not _within(span, outer)):
                continue
            written += self._source[at : span[0]] + self._choice(span)
            at = span[1]
        return written + self._source[at:end]

    def _choice(self, span: tuple[int, int]) -> bytes:
        if span[0] == span[1]:
            return b"".join(
                b" if crate::chosen_mutant(%d) { %s } " % (number, each.text.encode())
                for number, each in self._at[span]
            )
        own = self.between(*span, outer=span)
        chosen = b"".join(
            b"if crate::chosen_mutant(%d) { %s } else " % (number, self._filled(each.text, span))
            for number, each in self._at[span]
        )
        return b"(%s{ %s })" % (chosen, own)

    def _filled(self, text: str, outer: tuple[int, int]) -> bytes:
        """A replacement with its operands, which are named by their bytes."""
        parts = re.split(r"@(\d+),(\d+)@", text)
        written = parts[0].encode()
        for start, end, rest in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            written += self.between(int(start), int(end), outer=outer) + rest.encode()
        return written


def _within(span: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= span[0] and span[1] <= outer[1]


Found = tuple[Node, str, int, int, str]


def _walk(node: Node, attributes: tuple[str, ...]) -> Iterator[Found]:
    if node.type in _UNSKIPPED or any("test" in each for each in attributes):
        return
    yield from _own(node)
    noted: list[str] = []
    for child in node.children:
        if child.type == "attribute_item":
            noted.append(_text(child))
        elif "comment" not in child.type:
            yield from _walk(child, tuple(noted))
            noted = []


def _own(node: Node) -> Iterator[Found]:
    if node.type in {"binary_expression", "compound_assignment_expr"}:
        yield from _operators(node)
    elif node.type == "unary_expression" and _text(node.children[0]) in {"!", "-"}:
        operand = node.children[1]
        if operand.type not in {"integer_literal", "float_literal"}:
            yield (node, f"{_brief(node)} -> {_brief(operand)}", node.start_byte, node.end_byte, _at(operand))
    elif node.type == "match_pattern" and (guard := node.child_by_field_name("condition")):
        if "let " not in _text(guard):
            for value in ("true", "false"):
                yield (guard, f"guard {_brief(guard)} -> {value}", guard.start_byte, guard.end_byte, value)
    elif node.type == "function_item":
        yield from _bodies(node)


def _operators(node: Node) -> Iterator[Found]:
    left, operator, right = (node.child_by_field_name(name) for name in ("left", "operator", "right"))
    if left is None or operator is None or right is None or "let " in _text(node):
        return
    for other in OPERATORS.get(_text(operator), ()):
        # what is assigned to cannot stand in brackets
        lefts = _at(left) if node.type == "compound_assignment_expr" else f"({_at(left)})"
        what = f"{_brief(node)}: {_text(operator)} -> {other}"
        yield (node, what, node.start_byte, node.end_byte, f"{lefts} {other} ({_at(right)})")


def _bodies(node: Node) -> Iterator[Found]:
    body, name = node.child_by_field_name("body"), node.child_by_field_name("name")
    modifiers = " ".join(_text(each) for each in node.children if each.type == "function_modifiers")
    if body is None or name is None or _text(name) in {"fmt", "main"} or "const" in modifiers:
        return
    given = node.child_by_field_name("return_type")
    inner = _text(body)[1:-1].strip()
    for value in _values(_text(given) if given else ""):
        if inner != value and not (inner == "" and value == ""):
            what = f"{_text(name)}() returns {value or 'at once'}"
            at = body.start_byte + 1
            yield (name, what, at, at, f"return {value};" if value else "return;")


def _values(kind: str) -> tuple[str, ...]:
    found = {"": ("",), "()": ("",), "bool": ("true", "false"), "f64": ("0.0", "1.0"), "f32": ("0.0", "1.0")}
    if kind in found:
        return found[kind]
    if _NUMBER.match(kind):
        return ("0", "1")
    if kind.startswith(("&", "impl ", "!")):
        return ()
    if kind.startswith("Option<"):
        return ("None",)
    return ("Ok(Default::default())",) if kind.startswith("Result<") else ("Default::default()",)


def _at(node: Node) -> str:
    return f"@{node.start_byte},{node.end_byte}@"


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _brief(node: Node) -> str:
    text = " ".join(_text(node).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
