"""The least size that meets targets in the mean of runs: sought by some runs, confirmed by others."""

from bufferlab.studies.least.answer import Check, Least, check, checks_to_dicts, lowered, verdicts
from bufferlab.studies.least.goal import Goal
from bufferlab.studies.least.memory import Run, Verdict
from bufferlab.studies.least.search import least
from bufferlab.studies.least.step import Search, Step
from bufferlab.studies.least.together import Bench, Case, together

__all__ = [
    "Bench",
    "Case",
    "Check",
    "Goal",
    "Least",
    "Run",
    "Search",
    "Step",
    "Verdict",
    "check",
    "checks_to_dicts",
    "least",
    "lowered",
    "together",
    "verdicts",
]
