"""Reading a run on its way: queues, windows, round-trip times, goodput."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bufferlab import _core
from bufferlab.results.tables import BITS_PER_BYTE
from bufferlab.scenario import Seeded
from bufferlab.units import PS_PER_MS, PS_PER_S

SPAN_S: Final = 120.0
"""So much simulated time is shown, the last, s."""

MOST_LINKS: Final = 4
MOST_GROUPS: Final = 5
MOST_FLOWS: Final = 20
"""Links, groups, and flows of a group that are read, the first ones."""

_READINGS: Final = 2000
_LEAST_STEP_PS: Final = PS_PER_S // 100
_LONGEST_STEP_PS: Final = PS_PER_S
_NAP_S: Final = 0.05
_LEAST_NAP_S: Final = 0.001


@dataclass(frozen=True)
class LinkReading:
    """A link: what waits, and what it sent since the last reading."""

    backlog_packets: int
    rate_bps: float


@dataclass(frozen=True)
class GroupReading:
    """The flows of a group: mean window and smoothed round-trip time, and what was acknowledged in all."""

    cwnd_segments: float
    rtt_ms: float | None
    goodput_bps: float


@dataclass(frozen=True)
class Reading:
    """All that is read at a moment, s."""

    time_s: float
    links: Sequence[LinkReading]
    groups: Sequence[GroupReading]


@dataclass(frozen=True)
class Group:
    """A group of TCP flows that is read.

    Attributes:
        name: Its name.
        count: Its flows in all.
        flows: Those that are read, by their place in the plan.
        segment_bytes: Payload of a segment.
    """

    name: str
    count: int
    flows: Sequence[int]
    segment_bytes: int


class Watch:
    """Stands in for the engine: runs a plan in steps, keeps readings for the view, and keeps a pace.

    Args:
        seeded: The scenario under the seed that will run.
        speed: Simulated seconds a second; as fast as it goes by default.
        clock: Tells the time, s.
        sleep: Lets it pass.
    """

    def __init__(
        self,
        seeded: Seeded,
        speed: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._speed = speed
        self._clock, self._sleep = clock, sleep
        self._began_s = clock()
        self._plan = seeded.plan_json()
        self.resolved = seeded.resolved
        self.groups = _groups(seeded)
        self._step_ps = _step_ps(self._duration_ps, speed)
        self.readings: deque[Reading] = deque(maxlen=math.ceil(SPAN_S * PS_PER_S / self._step_ps))

    @property
    def duration_s(self) -> float:
        """Length of the run, s."""
        return self._duration_ps / PS_PER_S

    @property
    def _duration_ps(self) -> int:
        return self.resolved["run"]["duration_ps"]

    @property
    def elapsed_s(self) -> float:
        """Time since the run's start, s."""
        return self._clock() - self._began_s

    def engine(self, text: str, control: _core.Control | None, record: str | None = None) -> _core.Outcome:
        """Run the scenario's plan, given as JSON, as `bufferlab._core.simulate` does.

        Raises:
            ValueError: If it is another plan, or something is to be recorded.
            RuntimeError: If the engine has a bug.
        """
        if record is not None:
            raise ValueError("a watched run records nothing: capture and trace need a run of their own")
        if text != self._plan:
            raise ValueError("a watched run is of the scenario and the seed that its view is for")
        session = _core.Session(text)
        self._began_s = self._clock()
        links = min(len(self.resolved["links"]), MOST_LINKS)
        last = _counts(session, links, self.groups)
        going = True
        while going and session.now_ps < self._duration_ps:
            going = session.advance(session.now_ps + self._step_ps, control)
            counts = _counts(session, links, self.groups)
            self.readings.append(_reading(last, counts, self.groups))
            last = counts
            going = going and self._keep_pace(session, control)
        return session.finish(control)

    def _keep_pace(self, session: _core.Session, control: _core.Control | None) -> bool:
        """Wait until it is time; false if the run is canceled meanwhile."""
        if self._speed is None:
            return True
        due_s = session.now_ps / PS_PER_S / self._speed
        while (left_s := due_s - self.elapsed_s) > _LEAST_NAP_S:
            self._sleep(min(left_s, _NAP_S))
            if not session.advance(session.now_ps, control):
                return False
        return True


@dataclass(frozen=True)
class _Counts:
    """What the engine tells at a moment."""

    time_s: float
    links: Sequence[_core.LinkCounters]
    flows: Sequence[Sequence[_core.FlowState]]


def _step_ps(duration_ps: int, speed: float | None) -> int:
    """Simulated time between two readings."""
    step_ps = max(duration_ps // _READINGS, _LEAST_STEP_PS)
    if speed is not None:  # the view moves at least so often
        step_ps = min(step_ps, max(round(speed * _NAP_S * PS_PER_S), 1))
    return min(step_ps, _LONGEST_STEP_PS)


def _counts(session: _core.Session, links: int, groups: Sequence[Group]) -> _Counts:
    return _Counts(
        session.now_ps / PS_PER_S,
        [session.counters(link) for link in range(links)],
        [[session.flow(flow) for flow in group.flows] for group in groups],
    )


def _groups(seeded: Seeded) -> Sequence[Group]:
    """The groups of TCP flows that are there for long: of short flows the first ones tell little."""
    found: list[Group] = []
    first = 0
    for flow, draws in zip(seeded.resolved["flows"], seeded.draws, strict=True):
        count, tcp = len(draws["rtt_ps"]), flow["tcp"]
        if tcp is not None and flow["application"]["kind"] != "short-flows" and len(found) < MOST_GROUPS:
            flows = range(first, first + min(count, MOST_FLOWS))
            found.append(Group(flow["name"], count, flows, tcp["segment_bytes"]))
        first += count
    return found


def _reading(last: _Counts, now: _Counts, groups: Sequence[Group]) -> Reading:
    passed_s = now.time_s - last.time_s
    links = [
        LinkReading(
            after.backlog_packets,
            _per_s(after.departed_bytes - before.departed_bytes, passed_s) * BITS_PER_BYTE,
        )
        for before, after in zip(last.links, now.links, strict=True)
    ]
    return Reading(
        now.time_s,
        links,
        [
            _group_reading(group, before, after, passed_s)
            for group, before, after in zip(groups, last.flows, now.flows, strict=True)
        ],
    )


def _group_reading(
    group: Group, before: Sequence[_core.FlowState], after: Sequence[_core.FlowState], passed_s: float
) -> GroupReading:
    rtts_ms = [state.srtt_ps / PS_PER_MS for state in after if state.srtt_ps]
    acknowledged = sum(
        max(now.acknowledged_segments - then.acknowledged_segments, 0)
        for then, now in zip(before, after, strict=True)
    )
    return GroupReading(
        cwnd_segments=sum(state.cwnd_segments for state in after) / len(after),
        rtt_ms=sum(rtts_ms) / len(rtts_ms) if rtts_ms else None,
        goodput_bps=_per_s(acknowledged * group.segment_bytes, passed_s) * BITS_PER_BYTE,
    )


def _per_s(amount: float, passed_s: float) -> float:
    return amount / passed_s if passed_s > 0 else 0.0
