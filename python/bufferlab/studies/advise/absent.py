"""What a queue would do that was not to choose from: whether another box or choice is worth its price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from bufferlab.stats import Estimate
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.choosing.choice import Rival
from bufferlab.studies.targets import Values, mean_over_runs

ASKED: Final = "fq_codel"
"""What is tried: it is free in Linux and OpenWrt, and on many access lines."""


@dataclass(frozen=True)
class Absent:
    """A queue that was not to choose from, with the setting that its specification has.

    Attributes:
        platform: The platform that does not have it; `None` where it was not asked for.
        queue: The queue.
        rival: It beside the answer.
        values: What its runs measured, with the seeds of the comparison.
    """

    platform: str | None
    queue: Queue
    rival: Rival
    values: tuple[Values, ...]

    def mean(self, name: str) -> Estimate:
        """Mean of a value over the runs."""
        return mean_over_runs(name, self.values)

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        behind = self.rival.behind
        return {
            "platform": self.platform,
            "queue": self.queue.name,
            "setting": self.queue.show(self.queue.usual),
            "behind": behind.mean,
            "behind_ci95": behind.half_width,
            **{name: self.mean(name).mean for name in ("utilization", "loss", "wait_mean_ms")},
        }
