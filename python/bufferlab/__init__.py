"""Bufferlab: how large should a router's buffer be, and which queue should it run?"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bufferlab.errors import InputError as InputError
    from bufferlab.errors import OutputError as OutputError
    from bufferlab.evidence.catalog import reproduce as reproduce
    from bufferlab.evidence.ns2 import validate as validate
    from bufferlab.experiment.run import run as run
    from bufferlab.experiment.store import open_store as open_store
    from bufferlab.results.result import Result as Result
    from bufferlab.results.result import RunSet as RunSet
    from bufferlab.scenario import Scenario as Scenario
    from bufferlab.studies.compare import compare as compare
    from bufferlab.studies.search import search as search
    from bufferlab.studies.size import size as size
    from bufferlab.studies.sweep import sweep as sweep

__version__: Final = "0.1.0"

_PUBLIC: Final = {
    "InputError": "bufferlab.errors",
    "OutputError": "bufferlab.errors",
    "Result": "bufferlab.results.result",
    "RunSet": "bufferlab.results.result",
    "Scenario": "bufferlab.scenario",
    "compare": "bufferlab.studies.compare",
    "open_store": "bufferlab.experiment.store",
    "reproduce": "bufferlab.evidence",
    "run": "bufferlab.experiment.run",
    "search": "bufferlab.studies.search",
    "size": "bufferlab.studies.size",
    "sweep": "bufferlab.studies.sweep",
    "validate": "bufferlab.evidence.ns2",
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
