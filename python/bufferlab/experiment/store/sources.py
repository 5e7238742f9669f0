"""The sources of what makes stored figures: modules and all modules of Bufferlab that they import."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

_PACKAGE: Final = "bufferlab"
_ROOT: Final = Path(__file__).parents[2]
_IMPORT: Final = re.compile(
    rf"^\s*(?:import ({_PACKAGE}[.\w]*)|from ({_PACKAGE}[.\w]*) import (?:\(([^)]*)\)|(.*)))", re.MULTILINE
)
_DIGITS: Final = 8


def fingerprint(*modules: str) -> str:
    """A hash of the sources that modules reach; rows of two versions of them must not mix."""
    texts = (path.read_bytes() for _, path in sorted(reached(*modules).items()))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:_DIGITS]


def reached(*modules: str) -> Mapping[str, Path]:
    """Modules and all modules of Bufferlab that they import, directly or not: their files by name.

    Imports within functions and those for type checkers count. Compiled modules do not.
    """
    found: dict[str, Path] = {}
    seen = set(modules)
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = _file(name)
        if path is not None:
            found[name] = path
            new = {*_imports(path.read_text(encoding="utf-8"))} - seen
            seen |= new
            waiting += new
    return found


def _imports(text: str) -> Iterator[str]:
    for plain, parent, several, rest in _IMPORT.findall(text):
        yield plain or parent
        names = re.findall(r"^\s*(\w+)|,\s*(\w+)", several or rest.partition("#")[0])
        yield from (f"{parent}.{first or later}" for first, later in names)


def _file(name: str) -> Path | None:
    """The file of a module; `None` if the name is no module of its own, or the package itself."""
    _, *below = name.split(".")
    stem = "/".join(below)
    candidates = (_ROOT / f"{stem}.py", _ROOT / f"{stem}/__init__.py") if below else ()
    return next((path for path in candidates if path.is_file()), None)
