"""Bufferlab: how large should a router's buffer be, and which queue should it run?"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bufferlab.comparison import compare as compare
    from bufferlab.errors import InputError as InputError
    from bufferlab.errors import OutputError as OutputError
    from bufferlab.papers.registry import reproduce as reproduce
    from bufferlab.results import Result as Result
    from bufferlab.results import RunSet as RunSet
    from bufferlab.runstore import open_store as open_store
    from bufferlab.scenario import Scenario as Scenario
    from bufferlab.searching import search as search
    from bufferlab.simulation import run as run
    from bufferlab.sizing import size as size
    from bufferlab.sweeping import sweep as sweep
    from bufferlab.validation import validate as validate

__version__: Final = "0.1.0"

_PUBLIC: Final = {
    "InputError": "bufferlab.errors",
    "OutputError": "bufferlab.errors",
    "Result": "bufferlab.results",
    "RunSet": "bufferlab.results",
    "Scenario": "bufferlab.scenario",
    "compare": "bufferlab.comparison",
    "open_store": "bufferlab.runstore",
    "reproduce": "bufferlab.papers",
    "run": "bufferlab.simulation",
    "search": "bufferlab.searching",
    "size": "bufferlab.sizing",
    "sweep": "bufferlab.sweeping",
    "validate": "bufferlab.validation",
}

__all__ = [
    "InputError",
    "OutputError",
    "Result",
    "RunSet",
    "Scenario",
    "__version__",
    "compare",
    "open_store",
    "reproduce",
    "run",
    "search",
    "size",
    "sweep",
    "validate",
]


def __getattr__(name: str) -> object:
    """Import public names when they are first used, so that `bufferlab --help` starts at once."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'bufferlab' has no attribute '{name}'")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value
