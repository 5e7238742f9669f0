"""Plain bisection, as the testbed's script did although there was noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median

from bufferlab.evidence.sizing_mininet.search.live import Engine, Timing, measure
from bufferlab.evidence.sizing_mininet.search.sample import Sample


@dataclass(frozen=True)
class Procedure:
    """How a testbed's script bisects while its flows run.

    Attributes:
        target: Share of the calibrated rate that a buffer must keep.
        trial: Timing of a trial.
        pause_s: Waited after a trial, s.
        calibration: Timing of the calibration.
        skip: Its first readings are left out.
    """

    target: float
    trial: Timing
    pause_s: float
    calibration: Timing
    skip: int


@dataclass(frozen=True)
class Bisected:
    """What a script found.

    Attributes:
        packets: Its answer.
        full_rate_bps: The calibrated rate, bit/s.
        trials: The buffers tried, in order, and what was measured; the calibration first.
    """

    packets: int
    full_rate_bps: float
    trials: tuple[tuple[int, Sample], ...]


def bisected(engine: Engine, least: int, most: int, procedure: Procedure) -> Bisected:
    """Bisect as `do_sweep` of mininet-tests' buffersizing.py does (https://github.com/mininet/mininet-tests).

    Each trial decides for good, and the search is over when the bounds are less than two apart. A buffer that
    fails moves the lower bound one above itself, so the answer may be one too high, and is never `least`.

    Raises:
        KeyboardInterrupt: At Ctrl-C.
    """
    first = measure(engine, most, procedure.calibration)
    readings = first.readings_bps[procedure.skip :]
    full_bps = median(readings)
    trials = [(most, replace(first, rate_bps=full_bps, readings_bps=readings))]
    while abs(least - most) >= 2:
        middle = (least + most) // 2
        sample = measure(engine, middle, procedure.trial)
        engine.advance(engine.now_s + procedure.pause_s)
        trials.append((middle, sample))
        if sample.rate_bps / full_bps >= procedure.target:
            most = middle
        else:
            least = middle + 1
    return Bisected(most, full_bps, tuple(trials))
