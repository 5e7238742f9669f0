"""What is compared with ns-2 and how it is judged: criteria.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any


@cache
def criteria() -> dict[str, Any]:
    """The content of criteria.toml."""
    file = resources.files("bufferlab.evidence.ns2") / "criteria.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))
