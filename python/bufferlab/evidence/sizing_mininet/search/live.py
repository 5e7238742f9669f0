"""Measuring buffers in one run whose limit is changed on its way, as testbeds do.

After each change the flows settle. Then the link's counters are read several times, and the median of the
rates between two readings counts.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.evidence.sizing_mininet.search.sample import Sample
from bufferlab.experiment.inline import CanceledError
from bufferlab.experiment.interruption import interruptible
from bufferlab.experiment.simulation import prepare
from bufferlab.plan import lower, plan_json
from bufferlab.scenario import Scenario
from bufferlab.studies.buffers import with_buffer
from bufferlab.units import PS_PER_S


class Engine(Protocol):
    """Carries traffic over a link whose buffer can be changed; time advances only by `advance`."""

    @property
    def now_s(self) -> float:
        """The moment reached, s."""

    def set_buffer(self, packets: int) -> None:
        """Change the buffer."""

    def advance(self, until_s: float) -> None:
        """Let time pass.

        Raises:
            KeyboardInterrupt: At Ctrl-C.
        """

    def counters(self) -> Counters:
        """What was counted by now."""


@dataclass(frozen=True)
class Counters:
    """Counters of a link since its beginning.

    Attributes:
        departed_bytes: Bytes that left.
        arrived_packets: Packets that came to the queue.
        dropped_packets: Packets dropped there.
        served_packets: Packets whose wait is known.
        waited_s: Sum of their waits, s.
        cpu_s: CPU time, s.
    """

    departed_bytes: int
    arrived_packets: int
    dropped_packets: int
    served_packets: int
    waited_s: float
    cpu_s: float = 0.0


@dataclass(frozen=True)
class Timing:
    """When a changed buffer is measured.

    Attributes:
        settle_s: Left out after a change, s.
        reading_s: Length of a reading, s.
        readings: Readings of a measurement; their median counts.
    """

    settle_s: float
    reading_s: float
    readings: int


class Simulated:
    """A simulated link, one run.

    Args:
        scenario: What to run; its duration counts no more.
        link: Index of the link.
        seed: Seed of the run.
        duration_s: Longest time of the run, s.
        packets: The first buffer.
        control: If given, the run continues in the calling thread, and this cancels it: for runs that are
            tasks of a batch themselves.

    Raises:
        InputError: If the engine refuses the plan.
    """

    def __init__(
        self,
        scenario: Scenario,
        link: int,
        seed: int,
        *,
        duration_s: float,
        packets: int,
        control: _core.Control | None = None,
    ) -> None:
        self._link = link
        self._control = control
        self._cpu_s = 0.0
        lasting = prepare(scenario, {"run.duration": f"{duration_s:.6f} s", "run.warmup": "0 s"})
        try:
            text = plan_json(lower(with_buffer(lasting, link, f"{packets} packets"), seed))
            self._session = _core.Session(text)
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise InputError(str(error), file=scenario.file) from error

    @property
    def now_s(self) -> float:
        """The moment reached, s."""
        return self._session.now_ps / PS_PER_S

    def set_buffer(self, packets: int) -> None:
        """Change the buffer."""
        self._session.set_limit(self._link, json.dumps({"packets": packets}))

    def advance(self, until_s: float) -> None:
        """Run up to a moment; without a control in a thread of its own, so that Ctrl-C is heard.

        Raises:
            KeyboardInterrupt: At Ctrl-C.
            CanceledError: The control canceled it.
        """
        until_ps = round(until_s * PS_PER_S)

        def work(control: _core.Control) -> float | None:
            began_s = time.thread_time()
            done = self._session.advance(until_ps, control)
            return time.thread_time() - began_s if done else None

        spent_s = interruptible(work) if self._control is None else work(self._control)
        if spent_s is None:
            raise CanceledError
        self._cpu_s += spent_s

    def counters(self) -> Counters:
        """What was counted by now."""
        read = self._session.counters(self._link)
        return Counters(
            departed_bytes=read.departed_bytes,
            arrived_packets=read.arrived_packets,
            dropped_packets=read.dropped_packets,
            served_packets=read.served_packets,
            waited_s=read.waited_ps / PS_PER_S,
            cpu_s=self._cpu_s,
        )


def measure(engine: Engine, packets: int, timing: Timing) -> Sample:
    """Set a buffer, let the flows settle, and read.

    Raises:
        KeyboardInterrupt: At Ctrl-C.
    """
    began_s, cpu_s = engine.now_s, engine.counters().cpu_s
    engine.set_buffer(packets)
    engine.advance(began_s + timing.settle_s)
    first = last = engine.counters()
    rates = []
    for index in range(timing.readings):
        engine.advance(began_s + timing.settle_s + (index + 1) * timing.reading_s)
        now = engine.counters()
        rates.append((now.departed_bytes - last.departed_bytes) * 8 / timing.reading_s)
        last = now
    arrived = last.arrived_packets - first.arrived_packets
    served = last.served_packets - first.served_packets
    return Sample(
        rate_bps=median(rates),
        loss=(last.dropped_packets - first.dropped_packets) / arrived if arrived else 0.0,
        wait_mean_ms=(last.waited_s - first.waited_s) / served * 1e3 if served else 0.0,
        simulated_s=engine.now_s - began_s,
        cpu_s=last.cpu_s - cpu_s,
        began_s=began_s,
        readings_bps=tuple(rates),
        reading_s=timing.reading_s,
    )
