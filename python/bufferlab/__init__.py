"""Bufferlab: how large should a router's buffer be, and which queue should it run?

`dir(bufferlab)` lists what is public; docs/python.md says what each name is.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bufferlab.captured.findings import Findings as Findings
    from bufferlab.captured.findings import observe as observe
    from bufferlab.configure import Configuration as Configuration
    from bufferlab.configure import configuration as configuration
    from bufferlab.display import save_figure as save_figure
    from bufferlab.errors import InputError as InputError
    from bufferlab.errors import OutputError as OutputError
    from bufferlab.evidence.catalog import reproduce as reproduce
    from bufferlab.evidence.ns2 import Validation as Validation
    from bufferlab.evidence.ns2 import validate as validate
    from bufferlab.evidence.reproduction import Reproduced as Reproduced
    from bufferlab.evidence.reproduction import Reproduction as Reproduction
    from bufferlab.experiment.experiment import Experiment as Experiment
    from bufferlab.experiment.interruption import RunInterrupted as RunInterrupted
    from bufferlab.experiment.run import NotSavedError as NotSavedError
    from bufferlab.experiment.run import run as run
    from bufferlab.experiment.runner import Runner as Runner
    from bufferlab.experiment.store import Store as Store
    from bufferlab.experiment.store import open_store as open_store
    from bufferlab.results.result import Result as Result
    from bufferlab.results.result import RunSet as RunSet
    from bufferlab.scenario import Scenario as Scenario
    from bufferlab.studies.advise.advice import Advice as Advice
    from bufferlab.studies.advise.advising import advise as advise
    from bufferlab.studies.advise.joint import LinksAdvice as LinksAdvice
    from bufferlab.studies.advise.several import advise_links as advise_links
    from bufferlab.studies.compare import Comparison as Comparison
    from bufferlab.studies.compare import compare as compare
    from bufferlab.studies.size import Rules as Rules
    from bufferlab.studies.size import Sizing as Sizing
    from bufferlab.studies.size import rules as rules
    from bufferlab.studies.size import size as size
    from bufferlab.studies.sweep import Sweep as Sweep
    from bufferlab.studies.sweep import sweep as sweep
    from bufferlab.theory.targets import Targets as Targets
    from bufferlab.web.widget import watch as watch

__version__: Final = "0.1.0"

_PUBLIC: Final = {
    "advise": "bufferlab.studies.advise.advising",
    "advise_links": "bufferlab.studies.advise.several",
    "run": "bufferlab.experiment.run",
    "size": "bufferlab.studies.size",
    "rules": "bufferlab.studies.size",
    "compare": "bufferlab.studies.compare",
    "sweep": "bufferlab.studies.sweep",
    "watch": "bufferlab.web.widget",
    "observe": "bufferlab.captured.findings",
    "configuration": "bufferlab.configure",
    "reproduce": "bufferlab.evidence.catalog",
    "validate": "bufferlab.evidence.ns2",
    "Experiment": "bufferlab.experiment.experiment",
    "Runner": "bufferlab.experiment.runner",
    "open_store": "bufferlab.experiment.store",
    "save_figure": "bufferlab.display",
    "Scenario": "bufferlab.scenario",
    "Targets": "bufferlab.theory.targets",
    "Advice": "bufferlab.studies.advise.advice",
    "LinksAdvice": "bufferlab.studies.advise.joint",
    "Result": "bufferlab.results.result",
    "RunSet": "bufferlab.results.result",
    "Sizing": "bufferlab.studies.size",
    "Rules": "bufferlab.studies.size",
    "Comparison": "bufferlab.studies.compare",
    "Sweep": "bufferlab.studies.sweep",
    "Findings": "bufferlab.captured.findings",
    "Configuration": "bufferlab.configure",
    "Store": "bufferlab.experiment.store",
    "Reproduction": "bufferlab.evidence.reproduction",
    "Reproduced": "bufferlab.evidence.reproduction",
    "Validation": "bufferlab.evidence.ns2",
    "InputError": "bufferlab.errors",
    "OutputError": "bufferlab.errors",
    "NotSavedError": "bufferlab.experiment.run",
    "RunInterrupted": "bufferlab.experiment.interruption",
}
"""The module of each public name, in the order of the documentation."""

__all__ = ["__version__", *_PUBLIC]  # noqa: PLE0604 - a literal list would say every name once more


def __getattr__(name: str) -> object:
    """Import public names when they are first used, so that `bufferlab --help` starts at once."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'bufferlab' has no attribute '{name}'")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, also those that were not used yet."""
    return sorted(__all__)
