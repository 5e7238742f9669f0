"""What one measurement of a buffer says."""

from __future__ import annotations

from dataclasses import dataclass


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
