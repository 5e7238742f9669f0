"""Python functions that a claims file names: `module:function`, of a module in the document's folder."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from bufferlab.errors import InputError
from bufferlab.evidence.reading import CLAIMS_FILE

T = TypeVar("T")


def hook(folder: Path, package: str | None, name: str) -> Callable[..., Any]:
    """The function that a claims file names.

    Args:
        folder: The document's folder.
        package: Its Python package, if it is part of one.
        name: `module:function`.

    Raises:
        InputError: There is no such module or function.
    """
    module_name, _, function_name = name.partition(":")
    function = getattr(_module(folder, package, module_name, name), function_name, None)
    if not callable(function):
        raise _unknown(folder, name, f"a function of {module_name}.py")
    return function  # type: ignore[no-any-return]


def call(folder: Path, package: str | None, name: str, *arguments: object) -> Any:  # noqa: ANN401 - the hook's
    """What the function that a claims file names returns.

    Raises:
        InputError: There is no such function, or it is a user's and fails.
    """
    function = hook(folder, package, name)
    if package is not None:
        return function(*arguments)
    try:
        return function(*arguments)
    except InputError:
        raise
    except Exception as error:
        raise _failed(folder, name, error) from error


def returned(folder: Path, name: str, value: object, kind: type[T], accepted: str) -> T:
    """What a function has returned, if it is of the kind that was wanted.

    Raises:
        InputError: It is not.
    """
    if isinstance(value, kind):
        return value
    problem = f"returned a value of type {type(value).__name__}"
    raise InputError(
        problem, file=folder / CLAIMS_FILE, value=name, accepted=f"a function that returns {accepted}"
    )


def _module(folder: Path, package: str | None, module: str, name: str) -> ModuleType:
    if package is not None:
        return importlib.import_module(f"{package}.{module}")
    file = (folder / f"{module.replace('.', '/')}.py").resolve()
    if not file.is_file():
        raise _unknown(folder, name, f"a module in {folder}")
    importlib.invalidate_caches()  # the file may be a moment old
    try:
        return importlib.import_module(f"{_own_package(folder)}.{module}")
    except InputError:
        raise
    except Exception as error:
        raise _failed(folder, name, error) from error


def _own_package(folder: Path) -> str:
    """Name of a package of the folder's modules, which can so import each other: `from . import series`."""
    place = str(folder.resolve())
    # the same in every process, for stores know measures by it
    name = f"_bufferlab_claims_{hashlib.sha256(place.encode()).hexdigest()[:16]}"
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [place]
        sys.modules[name] = package
    return name


def _failed(folder: Path, name: str, error: Exception) -> InputError:
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    return InputError(f"failed with {text}", file=folder / CLAIMS_FILE, value=name)


def _unknown(folder: Path, name: str, accepted: str) -> InputError:
    return InputError("cannot be found", file=folder / CLAIMS_FILE, value=name, accepted=accepted)
