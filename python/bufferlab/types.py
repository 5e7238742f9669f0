"""What the public functions take and return, and the attributes of that, for annotations.

`dir(bufferlab.types)` lists the names; docs/python.md says what each is. Those that begin with `Resolved` or
end with `Dict` are scenarios as dictionaries, and their parts.
"""
# ruff: noqa: PLC0414 - an alias tells type checkers that a name is exported

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final, is_typeddict

from bufferlab import _scenario_types

if TYPE_CHECKING:
    from bufferlab._core import Control as Control
    from bufferlab._core import Outcome as Outcome
    from bufferlab._core import Table as Table
    from bufferlab._scenario_types import *  # noqa: F403 - its types are all public
    from bufferlab.captured.fitting import Fit as Fit
    from bufferlab.captured.link import CapturedLink as CapturedLink
    from bufferlab.captured.link import OtherWay as OtherWay
    from bufferlab.captured.link import WaitingGroup as WaitingGroup
    from bufferlab.captured.observation import Observation as Observation
    from bufferlab.configure.bounds import Allowed as Allowed
    from bufferlab.configure.bounds import Bound as Bound
    from bufferlab.configure.platform import Source as Source
    from bufferlab.evidence.ns2.classes import RowClass as RowClass
    from bufferlab.evidence.ns2.equivalent import Variant as Variant
    from bufferlab.evidence.ns2.judging import Figure as Figure
    from bufferlab.evidence.ns2.judging import Judgment as Judgment
    from bufferlab.evidence.ns2.judging import Verdict as Verdict
    from bufferlab.evidence.ns2.reference import Setting as Setting
    from bufferlab.evidence.ns2.validation import SettingOutcome as SettingOutcome
    from bufferlab.evidence.reproduction import Request as Request
    from bufferlab.experiment.experiment import Done as Done
    from bufferlab.experiment.experiment import Task as Task
    from bufferlab.experiment.job import Job as Job
    from bufferlab.experiment.job import Performed as Performed
    from bufferlab.experiment.store.reader import StoreReader as StoreReader
    from bufferlab.experiment.store.studies import Study as Study
    from bufferlab.experiment.store.writer import Claim as Claim
    from bufferlab.experiment.store.writer import Writer as Writer
    from bufferlab.progress import Bar as Bar
    from bufferlab.render.grid import Column as Column
    from bufferlab.render.grid import Grid as Grid
    from bufferlab.results.frames import Frames as Frames
    from bufferlab.results.measurement import Measurement as Measurement
    from bufferlab.results.metrics.metric import Better as Better
    from bufferlab.results.metrics.metric import Metric as Metric
    from bufferlab.results.metrics.metric import Unit as Unit
    from bufferlab.results.recording import Recording as Recording
    from bufferlab.scenario import Seeded as Seeded
    from bufferlab.stats import Estimate as Estimate
    from bufferlab.studies.advise.absent import Absent as Absent
    from bufferlab.studies.advise.beyond import Beyond as Beyond
    from bufferlab.studies.advise.elsewhere import Spoiled as Spoiled
    from bufferlab.studies.advise.entry import Entry as Entry
    from bufferlab.studies.advise.entry import Site as Site
    from bufferlab.studies.advise.entry import Smaller as Smaller
    from bufferlab.studies.advise.entry import Users as Users
    from bufferlab.studies.advise.halved import Half as Half
    from bufferlab.studies.advise.joint import Both as Both
    from bufferlab.studies.advise.joint import Shaped as Shaped
    from bufferlab.studies.advise.nearest_alone import NearestAlone as NearestAlone
    from bufferlab.studies.advise.needs import Needs as Needs
    from bufferlab.studies.advise.queues import Queue as Queue
    from bufferlab.studies.advise.rough import Rough as Rough
    from bufferlab.studies.advise.sensitivity import Broken as Broken
    from bufferlab.studies.advise.sensitivity import Sensitivity as Sensitivity
    from bufferlab.studies.advise.sensitivity import Shaken as Shaken
    from bufferlab.studies.advise.today import Today as Today
    from bufferlab.studies.advise.unmixed import Unmixed as Unmixed
    from bufferlab.studies.advise.unshaped import Unshaped as Unshaped
    from bufferlab.studies.choosing.choice import Choice as Choice
    from bufferlab.studies.choosing.choice import Rival as Rival
    from bufferlab.studies.choosing.objectives import Aspect as Aspect
    from bufferlab.studies.compare.comparison import Measured as Measured
    from bufferlab.studies.least.answer import Check as Check
    from bufferlab.studies.least.answer import Least as Least
    from bufferlab.studies.least.goal import Goal as Goal
    from bufferlab.studies.least.memory import Memory as Memory
    from bufferlab.studies.least.memory import Run as Run
    from bufferlab.studies.settling import ShortRuns as ShortRuns
    from bufferlab.studies.settling import Waiting as Waiting
    from bufferlab.studies.size.judged import Judged as Judged
    from bufferlab.studies.targets import Target as Target
    from bufferlab.theory.characteristic import Moments as Moments
    from bufferlab.theory.constraints import Compromise as Compromise
    from bufferlab.theory.constraints import Feasibility as Feasibility
    from bufferlab.theory.constraints import WayOut as WayOut
    from bufferlab.theory.demand import Demand as Demand
    from bufferlab.theory.epochs import Epoch as Epoch
    from bufferlab.theory.protocols import Protocol as Protocol


_PUBLIC: Final = {
    "Seeded": "bufferlab.scenario",
    "Measurement": "bufferlab.results.measurement",
    "Frames": "bufferlab.results.frames",
    "Recording": "bufferlab.results.recording",
    "Metric": "bufferlab.results.metrics.metric",
    "Unit": "bufferlab.results.metrics.metric",
    "Better": "bufferlab.results.metrics.metric",
    "Estimate": "bufferlab.stats",
    "Target": "bufferlab.studies.targets",
    "Least": "bufferlab.studies.least.answer",
    "Check": "bufferlab.studies.least.answer",
    "Goal": "bufferlab.studies.least.goal",
    "Memory": "bufferlab.studies.least.memory",
    "Run": "bufferlab.studies.least.memory",
    "Judged": "bufferlab.studies.size.judged",
    "Entry": "bufferlab.studies.advise.entry",
    "Site": "bufferlab.studies.advise.entry",
    "Smaller": "bufferlab.studies.advise.entry",
    "Users": "bufferlab.studies.advise.entry",
    "ShortRuns": "bufferlab.studies.settling",
    "Waiting": "bufferlab.studies.settling",
    "Queue": "bufferlab.studies.advise.queues",
    "Needs": "bufferlab.studies.advise.needs",
    "Aspect": "bufferlab.studies.choosing.objectives",
    "Choice": "bufferlab.studies.choosing.choice",
    "Rival": "bufferlab.studies.choosing.choice",
    "Absent": "bufferlab.studies.advise.absent",
    "Half": "bufferlab.studies.advise.halved",
    "Beyond": "bufferlab.studies.advise.beyond",
    "Spoiled": "bufferlab.studies.advise.elsewhere",
    "Sensitivity": "bufferlab.studies.advise.sensitivity",
    "Shaken": "bufferlab.studies.advise.sensitivity",
    "Broken": "bufferlab.studies.advise.sensitivity",
    "Rough": "bufferlab.studies.advise.rough",
    "Today": "bufferlab.studies.advise.today",
    "NearestAlone": "bufferlab.studies.advise.nearest_alone",
    "Unmixed": "bufferlab.studies.advise.unmixed",
    "Unshaped": "bufferlab.studies.advise.unshaped",
    "Both": "bufferlab.studies.advise.joint",
    "Shaped": "bufferlab.studies.advise.joint",
    "Measured": "bufferlab.studies.compare.comparison",
    "Fit": "bufferlab.captured.fitting",
    "CapturedLink": "bufferlab.captured.link",
    "OtherWay": "bufferlab.captured.link",
    "WaitingGroup": "bufferlab.captured.link",
    "Observation": "bufferlab.captured.observation",
    "Allowed": "bufferlab.configure.bounds",
    "Bound": "bufferlab.configure.bounds",
    "Source": "bufferlab.configure.platform",
    "Demand": "bufferlab.theory.demand",
    "Feasibility": "bufferlab.theory.constraints",
    "Compromise": "bufferlab.theory.constraints",
    "WayOut": "bufferlab.theory.constraints",
    "Protocol": "bufferlab.theory.protocols",
    "Epoch": "bufferlab.theory.epochs",
    "Moments": "bufferlab.theory.characteristic",
    "Task": "bufferlab.experiment.experiment",
    "Done": "bufferlab.experiment.experiment",
    "Job": "bufferlab.experiment.job",
    "Performed": "bufferlab.experiment.job",
    "StoreReader": "bufferlab.experiment.store.reader",
    "Study": "bufferlab.experiment.store.studies",
    "Writer": "bufferlab.experiment.store.writer",
    "Claim": "bufferlab.experiment.store.writer",
    "Bar": "bufferlab.progress",
    "Control": "bufferlab._core",
    "Outcome": "bufferlab._core",
    "Table": "bufferlab._core",
    "Request": "bufferlab.evidence.reproduction",
    "Grid": "bufferlab.render.grid",
    "Column": "bufferlab.render.grid",
    "SettingOutcome": "bufferlab.evidence.ns2.validation",
    "Setting": "bufferlab.evidence.ns2.reference",
    "RowClass": "bufferlab.evidence.ns2.classes",
    "Variant": "bufferlab.evidence.ns2.equivalent",
    "Judgment": "bufferlab.evidence.ns2.judging",
    "Figure": "bufferlab.evidence.ns2.judging",
    "Verdict": "bufferlab.evidence.ns2.judging",
}
"""The module of each type, in the order of the documentation."""


_SCENARIOS: Final = {name: kind for name, kind in vars(_scenario_types).items() if is_typeddict(kind)}
"""The types of scenarios as dictionaries, in the order of the scenario's declarations."""

__all__ = [*_PUBLIC, *_SCENARIOS]  # noqa: PLE0604 - a literal list would say every name once more


def __getattr__(name: str) -> object:
    """Import a type when it is first used, as `bufferlab` does."""
    if name in _SCENARIOS:
        return _SCENARIOS[name]
    if name not in _PUBLIC:
        raise AttributeError(f"module 'bufferlab.types' has no attribute '{name}'")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The types, also those that were not used yet."""
    return sorted(__all__)
