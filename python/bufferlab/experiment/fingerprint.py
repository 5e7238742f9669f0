"""The identity of a measure: its name, and a fingerprint of the code that it reaches.

Reached are the function itself, the functions and classes of its package that it names, and those that these
name in turn. Methods of a class count if their name is used anywhere in what is reached. Comments,
docstrings and layout do not count: only a change of what is computed makes stored values unusable. Code that
is found by other means (`getattr`, a registry that is filled elsewhere) is not seen.
"""

from __future__ import annotations

import ast
import enum
import functools
import hashlib
import importlib
import inspect
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, Final

_OWN: Final = "bufferlab"
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_DIGITS: Final = 16


def identity(function: Callable[..., Any]) -> str:
    """Name and fingerprint of a function, or of a `functools.partial` of one with plain arguments.

    Raises:
        TypeError: The function is defined within another one and takes variables from there.
    """
    arguments: list[object] = []
    while isinstance(function, functools.partial):
        arguments.append((function.args, sorted(function.keywords.items())))
        function = function.func
    name = _name(function)
    if getattr(function, "__closure__", None):
        raise TypeError(
            f"{name} takes variables from the function around it: give them by functools.partial instead"
        )
    text = fingerprint(function)
    if arguments:
        text = _digest(f"{text} {describe(arguments)}")
    return f"{name}:{text}"


@functools.lru_cache(maxsize=256)
def fingerprint(function: Callable[..., Any]) -> str:
    """Fingerprint of the code that a function reaches."""
    reached = _Reached(_package(function))
    reached.visit(function)
    reached.complete()
    return _digest("\n".join(f"{name} {text}" for name, text in sorted(reached.found.items())))


def describe(value: object) -> str:
    """A text that two values share only if they are equal; the same in every process.

    Raises:
        TypeError: The value is of a kind that cannot be described.
    """
    text = _described(value)
    if text is None:
        raise TypeError(f"a {type(value).__name__} cannot tell one run from another: use plain values")
    return text


class _Reached:
    """What is reached from a function, by name."""

    def __init__(self, package: str) -> None:
        self.found: dict[str, str] = {}
        self._packages = {package, _OWN}
        self._names: set[str] = set()
        self._classes: dict[str, type] = {}

    def visit(self, thing: object, name: str = "") -> None:
        """Take something that was named."""
        thing = inspect.unwrap(thing) if callable(thing) and not isinstance(thing, type) else thing
        if isinstance(thing, functools.partial):
            self.visit(thing.func, name)
        elif isinstance(thing, FunctionType):
            self._visit_function(thing)
        elif isinstance(thing, type):
            self._visit_class(thing)
        elif not isinstance(thing, ModuleType):
            self._visit_value(thing, name)

    def complete(self) -> None:
        """Take the methods of classes that are used, until there are no more."""
        before = -1
        while before != len(self.found):
            before = len(self.found)
            for each in list(self._classes.values()):
                for name, member in vars(each).items():
                    if name in self._names or (name.startswith("__") and name.endswith("__")):
                        for function in _functions(member):
                            # what dataclasses generate follows from the class's fields
                            if function.__code__.co_filename != "<string>":
                                self._visit_function(function)

    def _is_own(self, thing: FunctionType | type) -> bool:
        return _package(thing) in self._packages

    def _visit_function(self, function: FunctionType) -> None:
        if not self._is_own(function):
            return
        text = _source(function)
        key = _name(function)
        cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
        if "<" in function.__qualname__:  # made within another function, or a lambda: names may be shared
            key = f"{key} {_digest(f'{text} {[_described(each) for each in cells]}')}"
        if key in self.found:
            return
        self.found[key] = text
        for name, value in zip(function.__code__.co_freevars, cells, strict=False):
            self.visit(value, f"{key} {name}")
        names = set(_names(function.__code__))
        annotations = " ".join(map(str, function.__annotations__.values()))
        self._names |= names
        self._visit_names(names | set(_WORD.findall(annotations)), function.__globals__, _module_of(function))
        for index, default in enumerate(
            (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        ):
            self.visit(default, f"{key} default {index}")

    def _visit_names(self, names: AbstractSet[str], known: Mapping[str, Any], module: str) -> None:
        ordered = sorted(names)
        modules = [_module(name) for name in ordered if name.startswith(f"{_OWN}.")]  # imported within it
        for name in ordered:
            if name in known:
                thing = known[name]
                self.visit(thing, f"{module}.{name}")
                if isinstance(thing, ModuleType):
                    modules.append(thing)
        for each in modules:
            if each.__name__.partition(".")[0] in self._packages:
                for name in ordered:
                    if hasattr(each, name):
                        self.visit(getattr(each, name), f"{each.__name__}.{name}")

    def _visit_class(self, thing: type) -> None:
        key = _name(thing)
        if key in self._classes or not self._is_own(thing):
            return
        self._classes[key] = thing
        plain = {name: _described(value) for name, value in vars(thing).items() if not name.startswith("__")}
        known = sorted((name, text) for name, text in plain.items() if text is not None)
        self.found[f"{key} values"] = f"{known} {list(vars(thing).get('__annotations__', {}))}"
        for base in thing.__bases__:
            self._visit_class(base)

    def _visit_value(self, value: object, name: str) -> None:
        text = _described(value)
        if text is not None:
            self.found[name] = text
            return
        for index, part in enumerate(_parts(value) or ()):
            self.visit(part, f"{name}[{index}]")
        self._visit_class(type(value))


def _described(value: object) -> str | None:
    """A text for a plain value, a dataclass of plain values or a collection of either; else `None`."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return repr(value)
    if isinstance(value, enum.Enum):
        return f"{type(value).__qualname__}.{value.name}"
    if isinstance(value, Path | re.Pattern):
        return repr(value)
    parts = _parts(value)
    texts = [_described(part) for part in parts or ()]
    if parts is None or None in texts:
        return None
    known = [text for text in texts if text is not None]
    if isinstance(value, set | frozenset):
        known.sort()
    return f"{type(value).__qualname__}({', '.join(known)})"


def _parts(value: object) -> list[object] | None:
    """What a collection or a dataclass consists of; `None` for other values."""
    if isinstance(value, Mapping):
        return [item for pair in value.items() for item in pair]
    if isinstance(value, tuple | list | set | frozenset):
        return list(value)
    if is_dataclass(value) and not isinstance(value, type):
        return [(each.name, getattr(value, each.name)) for each in fields(value)]
    return None


def _functions(member: object) -> Iterator[FunctionType]:
    """The functions behind a class's member: a method, a property, a cached property, a class method."""
    if isinstance(member, property):
        yield from (each for each in (member.fget, member.fset) if isinstance(each, FunctionType))
        return
    for attribute in ("func", "__func__"):
        member = getattr(member, attribute, member)
    member = inspect.unwrap(member) if callable(member) else member
    if isinstance(member, FunctionType):
        yield member


def _module_of(thing: Any) -> str:  # noqa: ANN401 - a function or a class
    return thing.__module__ or "__main__"  # what `exec` makes may have none


def _package(thing: Any) -> str:  # noqa: ANN401 - a function or a class
    return _module_of(thing).partition(".")[0]


def _name(thing: Any) -> str:  # noqa: ANN401 - a function or a class
    return f"{_module_of(thing)}.{thing.__qualname__}"


def _is_filled(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - it raises if there is nothing
    except ValueError:
        return False
    return True


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _module(name: str) -> ModuleType:
    return sys.modules.get(name) or importlib.import_module(name)


def _source(function: FunctionType) -> str:
    """The function without comments and docstrings; its code if its source is not there, or was changed."""
    running = function.__code__
    known = _sources(running.co_filename).get((running.co_qualname, running.co_firstlineno))
    if known is not None and _code_text(known[0]) == _code_text(running):
        return known[1]
    return _code_text(running)


def _code_text(code: CodeType) -> str:
    constants = [
        _code_text(each) if isinstance(each, CodeType) else _described(each) or repr(each)
        for each in code.co_consts
    ]
    return f"{code.co_code.hex()} {code.co_names} {constants}"


_PARSING: Final = threading.Lock()
"""CPython 3.11 fails if two threads parse at a time (its issue 106905)."""


def _sources(file: str) -> dict[tuple[str, int], tuple[CodeType, str]]:
    """Code and text of all functions of a file by qualified name and first line."""
    with _PARSING:
        return _parsed(file)


@functools.lru_cache(maxsize=256)
def _parsed(file: str) -> dict[tuple[str, int], tuple[CodeType, str]]:
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
        whole = compile(tree, file, "exec", dont_inherit=True)
        codes = {(each.co_qualname, each.co_firstlineno): each for each in _codes(whole)}
    except (OSError, SyntaxError, ValueError):
        return {}
    texts: dict[tuple[str, int], str] = {}
    _collect(tree, "", texts)
    return {key: (codes[key], text) for key, text in texts.items() if key in codes}


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _collect(node: ast.AST, prefix: str, found: dict[tuple[str, int], str]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}{child.name}"
            inner = "" if isinstance(child, ast.ClassDef) else "<locals>."
            _collect(child, f"{name}.{inner}", found)
            if not isinstance(child, ast.ClassDef):
                first = min([child.lineno, *(each.lineno for each in child.decorator_list)])
                found[name, first] = ast.unparse(_without_docstring(child))
        else:
            _collect(child, prefix, found)


def _without_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        node.body = node.body[1:] or [ast.Pass()]
    return node


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
