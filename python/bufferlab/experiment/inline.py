"""Running an experiment within a run of another one: in the calling thread, under the other's control."""

from __future__ import annotations

from typing import Any, Protocol

from bufferlab import _core
from bufferlab.experiment.experiment import Experiment


class CanceledError(Exception):
    """The control canceled it."""


class Values(Protocol):
    """Runs experiments by any executor."""

    def values(self, experiment: Experiment[Any]) -> list[Any]:
        """What was measured in each run, in order of the points and their seeds."""


class Inline:
    """Runs experiments one run after the other in the calling thread; for procedures."""

    def __init__(self, control: _core.Control) -> None:
        """Remember who may cancel."""
        self._control = control

    def values(self, experiment: Experiment[Any]) -> list[Any]:
        """What was measured in each run, in order of the points and their seeds.

        Raises:
            InputError: A point cannot be used, or the engine refuses it.
            CanceledError: The control canceled it.
        """
        values = []
        for task in experiment.tasks():
            performed = experiment.job(task).perform(self._control)
            if performed is None:
                raise CanceledError
            values.append(performed.value())
        return values
