"""A home's line without a shaper, beside the answers: packets wait in the modem, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from bufferlab.experiment.simulation import prepare
from bufferlab.scenario import Scenario
from bufferlab.stats import Estimate
from bufferlab.studies.advise.beside import link_means
from bufferlab.studies.targets import Values, mean_over_runs

MODEM: Final = "fifo:250 ms"
"""What a modem is taken for if nobody says it. Our choice: they differ, from tens of ms to seconds."""


@dataclass(frozen=True)
class Unshaped:
    """The line at its own rates, with the queue that the modem has in each direction.

    Attributes:
        queue: Its discipline: "fifo".
        buffer: Its buffer, as a scenario has it.
        is_assumed: Whether nobody said what the modem has.
        values: What each run measured at each link, by the link's name, with the seeds of the answers
            together; nothing until it was run.
    """

    queue: str
    buffer: str
    is_assumed: bool
    values: Mapping[str, tuple[Values, ...]] = field(default_factory=dict)

    def mean(self, link: str, metric: str) -> Estimate:
        """Mean of a value at a link over the runs."""
        return mean_over_runs(metric, self.values[link])

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        return {
            "queue": self.queue,
            "buffer": self.buffer,
            "is_assumed": self.is_assumed,
            "links": {link: link_means(partial(self.mean, link)) for link in self.values},
        }


def at_line_rates(base: Scenario, line_bps: Mapping[str, int]) -> Scenario:
    """The scenario with links at the line's own rates.

    Args:
        base: The scenario.
        line_bps: The line's rates by the links' names, bit/s.
    """
    names = [link["name"] for link in base.links]
    return prepare(base, {f"links[{names.index(name)}].rate": f"{bps} bps" for name, bps in line_bps.items()})
