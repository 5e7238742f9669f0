"""What is compared with ns-2 and how it is judged: criteria.toml of this folder and of the referee's."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

FILE = "criteria.toml"


@cache
def criteria(package: str = "bufferlab.evidence.ns2") -> dict[str, Any]:
    """The content of a package's criteria.toml."""
    return tomllib.loads((resources.files(package) / FILE).read_text(encoding="utf-8"))
