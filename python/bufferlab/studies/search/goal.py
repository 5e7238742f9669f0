"""What is asked of a buffer, and what one measurement of it says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bufferlab.errors import InputError
from bufferlab.results.metrics.metric import Metric
from bufferlab.results.metrics.registry import STORED
from bufferlab.units import PS_PER_S, format_time

TARGETS: Final[Mapping[str, Metric]] = {
    "utilization": STORED["utilization"],
    "max_loss": STORED["loss"],
    "max_delay_s": STORED["wait_mean_ms"],
}
"""What the constraints of a `Goal` are about."""

MEASURED: Final = tuple(metric.name for metric in TARGETS.values())
"""What is measured of each buffer; the utilization is the share of the full rate."""


@dataclass(frozen=True)
class Sample:
    """A link measured with one buffer.

    Attributes:
        rate_bps: What it carried, bit/s; of several readings the median.
        loss: Drops over arrivals at the queue.
        wait_mean_ms: Mean wait in the queue, ms.
        simulated_s: Simulated time that it took, s.
        cpu_s: CPU time that it took, s.
        began_s: When the buffer was set, on the clock of a live run, s; 0 for a run of its own.
        readings_bps: The readings of the rate, bit/s.
        reading_s: Length of each, s; they end with the measurement.
    """

    rate_bps: float
    loss: float
    wait_mean_ms: float
    simulated_s: float = 0.0
    cpu_s: float = 0.0
    began_s: float = 0.0
    readings_bps: tuple[float, ...] = ()
    reading_s: float = 0.0


@dataclass(frozen=True)
class Goal:
    """Constraints on a link; those that are `None` are not asked for.

    Attributes:
        utilization: Least share of the full rate that the link shall carry.
        max_loss: Most drops over arrivals.
        max_delay_s: Longest mean wait in the queue, s.
    """

    utilization: float | None = None
    max_loss: float | None = None
    max_delay_s: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be asked.

        Raises:
            InputError: No constraint, or one out of bounds.
        """
        if self.utilization is None and self.max_loss is None and self.max_delay_s is None:
            raise InputError(
                "there is nothing to search for",
                key="target",
                accepted="--utilization 0.99, --max-loss 0.01, --max-delay 20ms, or several of them",
            )
        for name in ("utilization", "max_loss"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < 1.0:
                accepted = "a share above 0 and below 1, such as 0.99 or 0.01"
                raise InputError("is out of bounds", key=name, value=value, accepted=accepted)
        if self.max_delay_s is not None and not (math.isfinite(self.max_delay_s) and self.max_delay_s > 0):
            raise InputError(
                "is out of bounds", key="max_delay", value=self.max_delay_s, accepted="a time above 0"
            )

    @property
    def asks_for_more(self) -> bool:
        """Whether a constraint asks for a larger buffer; the delay alone asks for a smaller one."""
        return self.utilization is not None or self.max_loss is not None

    def is_large_enough(self, sample: Sample, full_rate_bps: float) -> bool:
        """Whether a sample keeps utilization and loss; without both, whether it is over the delay."""
        if not self.asks_for_more:
            return not self.keeps_delay(sample)
        busy = self.utilization is None or sample.rate_bps >= self.utilization * full_rate_bps
        return busy and (self.max_loss is None or sample.loss <= self.max_loss)

    def keeps_delay(self, sample: Sample) -> bool:
        """Whether a sample keeps the delay."""
        return self.max_delay_s is None or sample.wait_mean_ms <= self.max_delay_s * 1e3

    def without_delay(self) -> str:
        """The constraints in words, but for the delay."""
        parts = []
        if self.utilization is not None:
            parts.append(f"a {_in_words('utilization', self.utilization)}")
        if self.max_loss is not None:
            parts.append(f"a {_in_words('max_loss', self.max_loss, 'at most ')}")
        return " and ".join(parts)

    def __str__(self) -> str:
        """The constraints in words."""
        parts = [self.without_delay()] if self.asks_for_more else []
        if self.max_delay_s is not None:
            longest = format_time(round(self.max_delay_s * PS_PER_S))
            parts.append(f"a {TARGETS['max_delay_s'].words} of at most {longest}")
        return " and ".join(parts)


def _in_words(target: str, value: float, bound: str = "") -> str:
    """A target as it was given, to all its digits."""
    metric = TARGETS[target]
    return f"{metric.words} of {bound}{metric.unit.quantity(value, digits=10)}"
