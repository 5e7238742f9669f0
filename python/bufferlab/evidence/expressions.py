"""Arithmetic in claims files: expressions over named values, and texts with expressions in braces.

An expression is Python's arithmetic, comparison and `… if … else …` over names, numbers and `FUNCTIONS`, and
nothing else. Missing values are `none`: whatever is computed from one is `none`, as is a division by zero.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import string
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol, TypeAlias

from bufferlab.errors import InputError
from bufferlab.theory.tcp_models import equal_loss_ratio_model, loss_ratio_model, mathis_rate_bps

Value: TypeAlias = float | int | str | bool | None

FUNCTIONS: Final[Mapping[str, Callable[..., object]]] = {
    "abs": abs,
    "ceil": math.ceil,
    "exp": math.exp,
    "floor": math.floor,
    "log": math.log,
    "log2": math.log2,
    "max": max,
    "min": min,
    "round": round,
    "sqrt": math.sqrt,
    "mathis_rate_bps": mathis_rate_bps,
    "loss_ratio_model": loss_ratio_model,
    "equal_loss_ratio_model": equal_loss_ratio_model,
}
"""Functions of numbers; the last ones are models of `bufferlab.theory`."""

FORMS: Final = ("at", "lowest", "highest")
"""Functions of an expression: its value at another point, or its least and greatest value along a key."""

ENDS: Final = ("first", "last")
"""Stand for the least and the greatest value of a key."""

_LONGEST: Final = 2_000
_NO_VALUE: Final = "–"

_WHOLE: Final = 2.0**53
"""Whole numbers below are exact as floats."""


def _power(base: float, exponent: float) -> float:
    """A power, computed with floats: whole ones of any length would take forever."""
    result = math.pow(base, exponent)
    is_whole = isinstance(base, int) and isinstance(exponent, int) and exponent >= 0
    return int(result) if is_whole and abs(result) < _WHOLE else result


_BINARY: Final[Mapping[type[ast.operator], Callable[[float, float], object]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[float], object]]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_COMPARE: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Scope(Protocol):
    """Where an expression finds the values of its names."""

    def resolve(self, path: tuple[str, ...]) -> Value:
        """The value of a dotted name.

        Raises:
            InputError: There is no such name.
        """

    def at(self, place: Mapping[str, Value], spelled: Collection[str]) -> Scope | None:
        """The scope of the point that differs in these keys; `None` if there is none.

        Args:
            place: The values of the keys.
            spelled: Those keys whose values are written out, so that there must be such points.

        Raises:
            InputError: There cannot be such a point.
        """

    def along(self, keys: Sequence[str]) -> Sequence[Scope]:
        """The scopes of all points that differ from this one in these keys only."""


class Alone:
    """The part of a scope that is one point: it looks at no other."""

    def at(self, place: Mapping[str, Value], spelled: Collection[str]) -> Scope | None:  # noqa: ARG002
        """There is one point.

        Raises:
            InputError: Always.
        """
        raise _without_others("at")

    def along(self, keys: Sequence[str]) -> Sequence[Scope]:  # noqa: ARG002 - the protocol's
        """There is one point.

        Raises:
            InputError: Always.
        """
        raise _without_others("lowest or highest")


@dataclass(frozen=True)
class Names(Alone):
    """Plain names, without other points."""

    values: Mapping[str, Value]

    def resolve(self, path: tuple[str, ...]) -> Value:
        """The value of a name."""
        name = ".".join(path)
        if name not in self.values:
            raise unknown_name(name, self.values)
        return self.values[name]


def _without_others(form: str) -> InputError:
    """The error for a look at other points from where there are none."""
    accepted = "other points only in claims, figures and `derive`"
    return InputError(f"{form}(…) looks at other points, and here are none", accepted=accepted)


def unknown_name(name: str, known: Mapping[str, object] | Sequence[str]) -> InputError:
    """The error for a name that has no value."""
    return InputError("is not a known name", value=name, accepted=", ".join(map(str, known)) or None)


def evaluate(text: str, scope: Scope) -> Value:
    """The value of an expression.

    Raises:
        InputError: It is not an expression, or a name in it is unknown.
    """
    return _value(parse(text), scope)


def holds(condition: str | None, scope: Scope) -> bool:
    """Whether a condition is true; one that is missing is."""
    return condition is None or bool(evaluate(condition, scope))


def fill(text: str, scope: Scope) -> str:
    """Replace each `{expression}` or `{expression:format}` of a text by its value.

    Raises:
        InputError: An expression or a format is wrong.
    """
    parts = []
    for literal, expression, form, _ in _pieces(text):
        parts.append(literal)
        if expression is not None:
            parts.append(_formatted(evaluate(expression, scope), form or ""))
    return "".join(parts)


def check_expression(text: str) -> str:
    """Return an expression as it is.

    Raises:
        InputError: It is none.
    """
    _check(parse(text))
    return text


def check_template(text: str) -> str:
    """Return a text with expressions in braces as it is.

    Raises:
        InputError: One of them is none.
    """
    for _, expression, _, _ in _pieces(text):
        if expression is not None:
            check_expression(expression)
    return text


def names_in(text: str) -> set[str]:
    """The plain names that an expression uses, without what follows a dot."""
    return {node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)}


def names_in_template(text: str) -> set[str]:
    """The plain names that the expressions of a text use."""
    used = (names_in(expression) for _, expression, _, _ in _pieces(text) if expression is not None)
    return set().union(*used)


@lru_cache(maxsize=4096)
def parse(text: str) -> ast.expr:
    """The syntax tree of an expression.

    Raises:
        InputError: It is none.
    """
    try:
        if len(text) > _LONGEST:
            raise InputError("is too long", value=text, accepted=f"at most {_LONGEST} characters")
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, InputError):
            raise
        raise _not_an_expression(text) from None


def _not_an_expression(text: str) -> InputError:
    accepted = f"arithmetic over names, with {', '.join((*FUNCTIONS, *FORMS))}"
    return InputError("is not an expression", value=text, accepted=accepted)


def _pieces(text: str) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(string.Formatter().parse(text))
    except ValueError as error:
        raise InputError(f"has braces that do not match ({error})", value=text) from None


def _formatted(value: Value, form: str) -> str:
    if value is None:
        return _NO_VALUE
    try:
        return format(value, form)
    except ValueError:
        raise InputError("is not a format for this value", value=form, accepted=".3g, .0f, …") from None


def _check(node: ast.AST) -> None:
    """Refuse whatever `_value` does not know, before anything is run."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS or name in FORMS:
            for child in (*node.args, *(keyword.value for keyword in node.keywords)):
                _check(child)
        case ast.Name() | ast.Constant() | ast.Attribute() | ast.Subscript():
            if not isinstance(node, ast.Constant):
                _path(node)
        case ast.BinOp() | ast.UnaryOp() | ast.BoolOp() | ast.Compare() | ast.IfExp():
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.expr):
                    _check(part)
        case _:
            raise _not_an_expression(ast.unparse(node))


def _path(node: ast.expr) -> tuple[str, ...]:
    """The parts of a dotted name; `flows["a-b"]` is `flows.a-b`."""
    match node:
        case ast.Name(id=name):
            return (name,)
        case (
            ast.Attribute(value=inner, attr=name)
            | ast.Subscript(value=inner, slice=ast.Constant(value=str(name)))
        ):
            return (*_path(inner), name)
    raise _not_an_expression(ast.unparse(node))


def _value(node: ast.expr, scope: Scope) -> Value:  # noqa: C901, PLR0911 - a case and a return a kind of node
    match node:
        case ast.Constant(value=value) if isinstance(value, int | float | str):
            return value
        case ast.Name(id="none") | ast.Constant(value=None):
            return None
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return _finite(scope.resolve(_path(node)))
        case ast.IfExp(test=test, body=body, orelse=other):
            return _value(body if _value(test, scope) else other, scope)
        case ast.BoolOp(op=op, values=parts):
            every = all if isinstance(op, ast.And) else any
            return every(bool(_value(part, scope)) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, scope)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _computed(_UNARY[type(op)], [_value(operand, scope)])
        case ast.BinOp(left=left, op=op, right=right):
            return _computed(_BINARY[type(op)], [_value(left, scope), _value(right, scope)])
        case ast.Compare(left=left, ops=ops, comparators=rights):
            return _compared([_value(each, scope) for each in (left, *rights)], ops)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=named):
            return _called(name, arguments, named, scope)
    raise _not_an_expression(ast.unparse(node))


def _finite(value: Value) -> Value:
    """The value, or none if it is a number without a value or without an end."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _computed(function: Callable[..., object], arguments: Sequence[Value]) -> Value:
    """What a function gives; nothing if an argument is missing or the result is no finite number."""
    if any(value is None for value in arguments):
        return None
    if any(isinstance(value, str) for value in arguments):
        raise InputError("takes numbers", value=_word(function))
    try:
        result = function(*arguments)
        number = result if isinstance(result, int) else float(result)  # type: ignore[arg-type]
    except (ArithmeticError, ValueError):
        return None
    except TypeError:
        raise InputError("takes numbers", value=_word(function)) from None
    return number if math.isfinite(number) else None


def _word(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", "an operator").removeprefix("_")


def _compared(values: Sequence[Value], ops: Sequence[ast.cmpop]) -> Value:
    pairs = itertools.pairwise(values)
    for (left, right), op in zip(pairs, ops, strict=True):
        equality = isinstance(op, ast.Eq | ast.NotEq)
        if not equality and (left is None or right is None):
            return None
        try:
            if not _COMPARE[type(op)](left, right):
                return False
        except (TypeError, KeyError):
            raise InputError("cannot be compared", value=(left, right), accepted="two numbers") from None
    return True


def _called(name: str, arguments: list[ast.expr], named: list[ast.keyword], scope: Scope) -> Value:
    if name in FUNCTIONS and not named:
        return _computed(FUNCTIONS[name], [_value(each, scope) for each in arguments])
    match name, arguments:
        case "at", [what]:
            place = {str(key.arg): _end_or_value(key.value, scope) for key in named}
            there = scope.at(place, [str(key.arg) for key in named if _is_spelled(key.value)])
            return None if there is None else _value(what, there)
        case (("lowest" | "highest"), [what, *keys]) if not named and keys:
            along = scope.along([".".join(_path(key)) for key in keys])
            found = [value for each in along if isinstance(value := _value(what, each), int | float)]
            return (min if name == "lowest" else max)(found, default=None)
    raise _not_an_expression(f"{name}(…)")


def _is_spelled(node: ast.expr) -> bool:
    """Whether a value is written out: what is computed may well be beyond the last point."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id in ENDS)


def _end_or_value(node: ast.expr, scope: Scope) -> Value:
    return node.id if isinstance(node, ast.Name) and node.id in ENDS else _value(node, scope)
