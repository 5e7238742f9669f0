"""The engine's tables as data frames for people: names instead of indices, units in the columns' names.

Figures without a prefix belong to the measured window (from the warm-up's end to the run's end), those
that start with `whole_` to the whole run. Every frame has a column `seed`, so that the frames of several runs
can be stacked.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

import polars as pl

from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario


@dataclass(frozen=True)
class Frames:
    """The frames of a run; docs/metrics.md has their columns.

    Attributes:
        flows: One row per flow.
        queues: One row per link and group, and one of group "all" per link.
        histograms: The waits of these pairs.
        queue_samples: Time series of the sampled links.
        flow_samples: Time series of the sampled flows.
        classes: One row per link and class of its queue discipline, if that has classes.
        class_samples: Time series of what such disciplines hold and estimate.
        exchanges: One row per burst, fetch, recorded datagram or ping.
    """

    flows: pl.DataFrame
    queues: pl.DataFrame
    histograms: pl.DataFrame
    queue_samples: pl.DataFrame
    flow_samples: pl.DataFrame
    classes: pl.DataFrame
    class_samples: pl.DataFrame
    exchanges: pl.DataFrame


NAMES: Final = tuple(field.name for field in fields(Frames))
"""The frames' names, which are also those of their files."""


def measured_s(resolved: ResolvedScenario, reached_ps: int) -> float:
    """Length of the measured window, s."""
    return max(reached_ps - resolved["run"]["warmup_ps"], 0) / PS_PER_S
