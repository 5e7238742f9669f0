"""What public signatures and attributes name is public itself, so that users' code can name it, too."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, is_typeddict

import pytest

import bufferlab
from bufferlab import types

PACKAGE = Path(bufferlab.__file__).parent
MADE_FOR_USERS = {"Scenario", "Seeded"}
"""Classes whose constructor is not for users; its parameters are kept under private names."""
OTHERS = {"matplotlib", "numpy", "pandas", "polars", "rich", *sys.stdlib_module_names}
"""Packages whose classes public signatures may name."""


def public() -> dict[str, Any]:
    names = {name: getattr(bufferlab, name) for name in bufferlab.__all__ if name != "__version__"}
    return names | {name: getattr(types, name) for name in types.__all__}


@cache
def source(module: str) -> ast.Module:
    """A module's source; of the compiled one its stub."""
    if module == "bufferlab._core":
        return ast.parse((PACKAGE / "_core.pyi").read_text())
    return ast.parse(inspect.getsource(importlib.import_module(module)))


@cache
def namespace(module: str) -> dict[str, Any]:
    """What a module's annotations may name, also what it imports for type checkers only."""
    names = dict(vars(importlib.import_module(module)))
    for node in ast.walk(source(module)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__":
            for alias in node.names:
                names.setdefault(alias.asname or alias.name, imported(node.module, alias.name))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    names.setdefault(alias.asname, absent(alias.name))
    return names


def imported(module: str, name: str) -> object:
    found = importlib.import_module(module)
    return getattr(found, name) if hasattr(found, name) else importlib.import_module(f"{module}.{name}")


def absent(module: str) -> object:
    """A module that is an extra, which need not be there."""
    try:
        return importlib.import_module(module)
    except ImportError:
        frame = type("DataFrame", (), {"__module__": module})
        stub = ModuleType(module)
        stub.__dict__["DataFrame"] = frame
        return stub


def annotated(thing: Any) -> Iterator[tuple[str, ast.expr]]:
    """Each annotation of a public function, or of a public class's fields, properties and methods."""
    node = declaration(thing)
    if isinstance(node, ast.FunctionDef):
        yield from signature(thing.__name__, node)
        return
    if isinstance(node, ast.Assign):  # a dictionary with a key that is no name in Python
        fields = next(each for each in ast.walk(node) if isinstance(each, ast.Dict))
        yield from (
            (f"{thing.__name__}[{key}]", each) for key, each in zip(fields.keys, fields.values, strict=True)
        )
        return
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            if not each.target.id.startswith("_"):
                yield f"{thing.__name__}.{each.target.id}", each.annotation
        elif isinstance(each, ast.FunctionDef):
            is_made = each.name == "__init__" and thing.__name__ not in MADE_FOR_USERS
            if is_made or not each.name.startswith("_"):
                yield from signature(f"{thing.__name__}.{each.name}", each)


def declaration(thing: Any) -> ast.FunctionDef | ast.Assign | ast.ClassDef:
    for node in source(thing.__module__).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == thing.__name__:
            return node
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == thing.__name__:
            return node
    raise LookupError(thing)


def signature(label: str, node: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    arguments = node.args
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if each.annotation is not None:
            yield f"{label}({each.arg})", each.annotation
    if node.returns is not None:
        yield f"{label}()", node.returns


def classes(annotation: object) -> Iterator[type]:
    """The classes in an annotation, which may be an alias of a type with others in it."""
    if isinstance(annotation, type) and typing.get_origin(annotation) is None:
        yield annotation
    elif isinstance(annotation, list | tuple):
        for each in annotation:
            yield from classes(each)
    elif typing.get_origin(annotation) is not typing.Literal:
        yield from classes(typing.get_origin(annotation) or ())
        yield from classes(typing.get_args(annotation))


def named(thing: Any) -> Iterator[tuple[str, type]]:
    """Each class that a public thing names, also by what it inherits, and where."""
    parts = inspect.getmro(thing) if isinstance(thing, type) else (thing,)
    for part in parts:
        if part.__module__.partition(".")[0] == "bufferlab":
            for label, annotation in annotated(part):
                text = ast.unparse(annotation)
                value = eval(text, namespace(part.__module__))
                value = eval(value, namespace(part.__module__)) if isinstance(value, str) else value
                yield from ((label, each) for each in classes(value))


def private(things: dict[str, Any]) -> set[str]:
    """What public things name and is not public."""
    return {
        f"{label}: {each.__module__}.{each.__qualname__}"
        for thing in things.values()
        for label, each in named(thing)
        if each.__module__.partition(".")[0] not in OTHERS
        and not any(each is other for other in things.values())
    }


def test_what_public_names_name_is_public() -> None:
    assert private(public()) == set(), "add them to bufferlab.types, and run make docs"


@pytest.mark.parametrize(
    ("name", "missed"),
    [("Target", "size(targets)"), ("Frames", "Measurement.frames"), ("Control", "run(engine)")],
)
def test_a_type_that_is_not_public_is_found(name: str, missed: str) -> None:
    things = public()
    kind = things.pop(name)
    assert f"{missed}: {kind.__module__}.{name}" in private(things)


def test_no_name_is_public_twice() -> None:
    assert not set(types.__all__) & set(bufferlab.__all__)
    assert len(set(types.__all__)) == len(types.__all__)


def test_each_type_says_what_it_is() -> None:
    assert dir(types) == sorted(types.__all__)
    for name in types.__all__:
        kind = getattr(types, name)
        assert kind.__name__ == name
        assert kind.__doc__ or comment(kind), name


def comment(kind: Any) -> str | None:
    """The text below an assignment that makes a type."""
    body = source(kind.__module__).body
    below = body[body.index(declaration(kind)) + 1]
    return ast.literal_eval(below.value) if isinstance(below, ast.Expr) else None


def test_each_type_says_what_its_fields_are() -> None:
    """The keys of scenarios as dictionaries are in docs/scenario.md."""
    undescribed = {
        f"{name}.{field}"
        for name, thing in public().items()
        if isinstance(node := declaration(thing), ast.ClassDef) and not is_typeddict(thing)
        for field in fields(node)
        if f"\n    {field}: " not in (inspect.getdoc(thing) or "")
    }
    assert undescribed == set()


def fields(node: ast.ClassDef) -> Iterator[str]:
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            name = each.target.id
            if not name.startswith("_") and "ClassVar" not in ast.unparse(each.annotation):
                yield name


@pytest.mark.parametrize(("module", "table"), [(bufferlab, bufferlab._PUBLIC), (types, types._PUBLIC)])
def test_type_checkers_see_the_public_names(module: ModuleType, table: dict[str, str]) -> None:
    block = next(node for node in source(module.__name__).body if isinstance(node, ast.If))
    seen = {
        alias.name: (alias.asname, node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen.pop("*", None) in {None, (None, "bufferlab._scenario_types")}
    assert seen == {name: (name, home) for name, home in table.items()}


def test_completion_shows_what_is_public_and_all_of_it_is_there() -> None:
    assert dir(bufferlab) == sorted(bufferlab.__all__)
    for name in bufferlab.__all__:
        thing = getattr(bufferlab, name)
        assert name == "__version__" or inspect.getdoc(thing), name


@pytest.mark.parametrize("module", ["bufferlab", "bufferlab.types"])
def test_a_public_name_is_loaded_when_it_is_used(module: str) -> None:
    program = f"import sys, {module}; print(*(name for name in sys.modules if name.startswith('bufferlab.')))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(ended.stdout.split()) <= {module, "bufferlab._scenario_types"}


@pytest.mark.parametrize("module", [bufferlab, types])
def test_another_name_is_refused(module: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'Nothing'"):
        module.Nothing  # noqa: B018
