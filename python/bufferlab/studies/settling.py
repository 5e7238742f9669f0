"""How long a link takes to settle after its buffer changed, and how long its traffic's cycle is.

The lesson of "Sizing Router Buffers" on Mininet-HiFi (V. Jeyakumar, N. Handigol, B. Heller and B. Lantz,
2012): most flows notice a new buffer within a round trip, but one that loses its whole window waits for its
retransmission timeout and then many round trips until it is in its steady state again, over a second in all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from bufferlab.errors import InputError
from bufferlab.scenario import Scenario, Seeded
from bufferlab.studies.traffic import mean_rtt_s, protocol_of
from bufferlab.theory.protocols import get_protocol
from bufferlab.units import PS_PER_S, format_rate, format_time

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedQueue, ResolvedStack

ROUND_TRIPS: Final = 20
""""Many": slow start to 1000 packets takes 10, with an acknowledgment for every second segment 18."""

LONGEST_CYCLE_S: Final = 60.0
"""Upper bound of a cycle, s: that of a single flow on a fast link may last for hours."""

PROBE_INTERVAL_S: Final = 10.0
"""Time after which BBR measures its round-trip time anew, with few packets under way, s
(`bbr_min_rtt_win_sec` in net/ipv4/tcp_bbr.c of Linux 5.10)."""

STAYS_FULL: Final = 1.1
"""Up to this many bandwidth-delay products BBR keeps a buffer full while its flows last: one, and what
rounding to packets adds. Our choice; docs/sizing.md has what was measured with one and with two."""

LEAST_AFTER_START_S: Final = 30.0
"""What is measured at least once BBR's start is over, s: three of its probes. Our choice."""

LONGEST_S: Final = 3600.0
"""Runs are not made longer than this by themselves, s: a packet of a slow link takes minutes. Our choice."""

LEAST_PACKETS: Final = 100
"""Full packets that a link must be able to send while runs are measured: of fewer, each is more than 1 % of
its use. Our choice."""

ENOUGH_PACKETS: Final = 1000
"""This many are measured where nobody says how long runs are, in `LONGEST_S` at most. Our choice."""

PER_BUFFER: Final = 10
"""Searches go on to buffers of this part of what the link sends while runs are measured: what waits in larger
ones as measuring begins is more than a tenth of what groups are seen to receive then. Our choice."""

MOST_LENGTHENED: Final = 2
"""How often an answer is sought again with longer runs; what then still is too short is said."""


@dataclass(frozen=True)
class Settling:
    """Times of the TCP flows that cross a link, with a full buffer.

    Attributes:
        rtt_s: Longest round-trip time, waiting included, s.
        rto_s: Their retransmission timeout at that round-trip time, s.
        cycle_s: Longest time between two congestion events of a flow, by the sizing theory's models and at
            most `LONGEST_CYCLE_S`, s; 0 where there is no model.
    """

    rtt_s: float
    rto_s: float
    cycle_s: float

    @property
    def settle_s(self) -> float:
        """A timeout and `ROUND_TRIPS` round trips, s."""
        return self.rto_s + ROUND_TRIPS * self.rtt_s


def settling(seeded: Seeded, link: int, packets: int, packet_bytes: int) -> Settling:
    """Derive the times from a scenario under a seed.

    Args:
        seeded: The scenario under a seed.
        link: Index of the link whose buffer is searched.
        packets: The largest buffer, packets.
        packet_bytes: Size of a full packet, bytes.
    """
    name, rate_bps = seeded.resolved["links"][link]["name"], seeded.resolved["links"][link]["rate_bps"]
    crossing = [
        (flow["tcp"], drawn["rtt_ps"])
        for flow, drawn in zip(seeded.resolved["flows"], seeded.draws, strict=True)
        if name in flow["path"]
    ]
    longest_ps = max((max(rtt_ps) for _, rtt_ps in crossing), default=0)
    rtt_s = longest_ps / PS_PER_S + packets * packet_bytes * 8 / rate_bps
    windows = rate_bps * rtt_s / 8 / packet_bytes
    stacks = [tcp for tcp, _ in crossing if tcp is not None]
    flows = sum(len(rtt_ps) for tcp, rtt_ps in crossing if tcp is not None)
    return Settling(
        rtt_s=rtt_s,
        rto_s=max((_timeout_s(tcp, rtt_s) for tcp in stacks), default=0.0),
        cycle_s=max((_cycle_s(tcp, windows / flows, rtt_s) for tcp in stacks), default=0.0),
    )


class Waiting(NamedTuple):
    """What waits at a link at most.

    Attributes:
        packets: How much, packets.
        packet_bytes: Size of a full packet, bytes.
        is_held: Whether the queue aims at a delay, so that BBR's start does not fill the buffer: runs from 12
            and from 50 s on gave the same (docs/sizing.md).
    """

    packets: int
    packet_bytes: int
    is_held: bool = False


def is_held(queue: ResolvedQueue) -> bool:
    """Whether a queue aims at a delay."""
    return "target_ps" in queue


def has_start_measured(base: Scenario, link: int, waiting: Waiting) -> bool:
    """Whether the queue that BBR makes when it starts may last beyond the warm-up.

    What is lost then may decide whether a target is met.

    Args:
        base: The scenario.
        link: Index of the link.
        waiting: What waits there at most.
    """
    return base.run["warmup_ps"] / PS_PER_S < _emptied_s(base.seeded(), link, waiting)


class Shortage(NamedTuple):
    """Why runs are too short to judge a buffer, and how long they should be.

    Attributes:
        text: Why.
        warmup_s: The least warm-up that is long enough, s; 0 where it is.
        measured_s: The least time to measure after it, s.
    """

    text: str
    warmup_s: float
    measured_s: float


class ShortRuns(NamedTuple):
    """Why runs may be too short to judge a buffer, and what would be long enough.

    Attributes:
        reasons: Why, as clauses.
        warmup_s: A warm-up that is long enough, whole s.
        duration_s: A duration with that warm-up, whole s.
        under: Of several queues the one in which most waits that they are too short for; else empty.
    """

    reasons: tuple[str, ...]
    warmup_s: int
    duration_s: int
    under: str = ""

    @property
    def longer(self) -> str:
        """What to set, as options."""
        times = {"warmup": self.warmup_s, "duration": self.duration_s}
        options = [f"--set run.{key}='{time_s} s'" for key, time_s in times.items()]
        return f"{' '.join(options)} (docs/sizing.md)"

    def __str__(self) -> str:
        """All of it, as a clause."""
        under = f"under {self.under}, " if self.under else ""
        return f"{under}{'; '.join(self.reasons)}: use {self.longer}"


def short_runs(base: Scenario, link: int, waiting: Waiting) -> ShortRuns | None:
    """Why runs may be too short to judge a buffer, and what to set; `None` if they are long enough.

    Args:
        base: The scenario.
        link: Index of the link.
        waiting: What waits there at most.
    """
    found = list(_shortages(base, link, waiting))
    if not found:
        return None
    warmup_s, measured_s = _enough(base, found)
    return ShortRuns(tuple(each.text for each in found), warmup_s, warmup_s + measured_s)


def short_for_any(base: Scenario, link: int, waits: Mapping[str, Waiting]) -> ShortRuns | None:
    """Why runs may be too short for one of several queues, of those in which most waits the first.

    Args:
        base: The scenario.
        link: Index of the link.
        waits: What waits in each queue at most, by what it is called.
    """
    for name in sorted(waits, key=lambda each: -waits[each].packets):
        if (found := short_runs(base, link, waits[name])) is not None:
            return found._replace(under=name)
    return None


def _enough(base: Scenario, found: Sequence[Shortage]) -> tuple[int, int]:
    """The warm-up and the time to measure after it, whole seconds, that are long enough for all reasons."""
    warmup_s = math.ceil(max(base.run["warmup_ps"] / PS_PER_S, *(each.warmup_s for each in found), 1.0))
    return warmup_s, math.ceil(max(_measured_s(base), *(each.measured_s for each in found)))


def lengthened(base: Scenario, link: int, waiting: Waiting) -> Scenario | None:
    """The scenario with runs that are long enough to judge a buffer; `None` if its own are, or none would be.

    Args:
        base: The scenario.
        link: Index of the link.
        waiting: What waits there at most.
    """
    found = list(_shortages(base, link, waiting))
    if not found:
        return None
    warmup_s, measured_s = _enough(base, found)
    if warmup_s + measured_s > LONGEST_S:
        return None
    times = {"run.warmup": f"{warmup_s} s", "run.duration": f"{warmup_s + measured_s} s"}
    return base.with_overrides(times)


def measured_packets(base: Scenario, rate_bps: float, packet_bytes: int) -> float:
    """Full packets that a link can send while runs of a scenario are measured."""
    return _measured_s(base) * rate_bps / 8 / packet_bytes


def refuse_too_few(base: Scenario, link: str, rate_bps: float, packet_bytes: int) -> None:
    """Refuse runs in which a link sends too few packets to say anything of it.

    Args:
        base: The scenario.
        link: Name of the link.
        rate_bps: Its rate, bit/s.
        packet_bytes: Size of a full packet, bytes.

    Raises:
        InputError: It sends less than `LEAST_PACKETS`.
    """
    packets = measured_packets(base, rate_bps, packet_bytes)
    if packets >= LEAST_PACKETS:
        return
    measured_s, duration_s = _measured_s(base), base.run["duration_ps"] / PS_PER_S
    longer_s = math.ceil(duration_s + (LEAST_PACKETS / packets - 1) * measured_s * 1.25)  # a fifth is warm-up
    problem = (
        f"lets {link} send {packets:.3g} full packets in the {measured_s:g} s measured, too few to judge by"
    )
    accepted = f"{longer_s} s or more, for {LEAST_PACKETS} packets"
    numbers = base.file or ""
    if numbers.startswith("-"):  # options that stand for a scenario
        accepted = f"--set run.duration='{longer_s} s' or more, for {LEAST_PACKETS} packets; or a faster link"
        key, value = numbers.partition("/")[0], format_rate(rate_bps)
        raise InputError(problem, key=key, value=value, accepted=accepted)
    duration = format_time(base.run["duration_ps"])
    raise InputError(problem, file=base.file, key="run.duration", value=duration, accepted=accepted)


def about_longer(first: Scenario, longer: Scenario) -> str:
    """That runs were made longer: a sentence.

    Args:
        first: The scenario as it was.
        longer: What it has become.
    """
    was_s, duration_s, warmup_s = (
        each / PS_PER_S
        for each in (first.run["duration_ps"], longer.run["duration_ps"], longer.run["warmup_ps"])
    )
    return (
        f"runs of {duration_s:g} s, measured from {warmup_s:g} s on, as those of {was_s:g} s were too short "
        "for these buffers; --set run.duration and run.warmup set others"
    )


def _measured_s(base: Scenario) -> float:
    return float(base.run["duration_ps"] - base.run["warmup_ps"]) / PS_PER_S


def _shortages(base: Scenario, link: int, waiting: Waiting) -> Iterator[Shortage]:
    seeded = base.seeded()
    times = settling(seeded, link, waiting.packets, waiting.packet_bytes)
    warmup_s, measured_s = base.run["warmup_ps"] / PS_PER_S, _measured_s(base)
    emptied_s = _emptied_s(seeded, link, waiting)
    if warmup_s < emptied_s:
        yield Shortage(
            f"BBR fills this buffer when it starts, loses 10 to 30 % then, and may take {emptied_s:.0f} s to "
            f"empty it, but the warm-up is {warmup_s:g} s, and larger buffers may lose more for that",
            emptied_s + 10,
            max(measured_s, LEAST_AFTER_START_S),
        )
    if warmup_s < times.settle_s:
        yield Shortage(
            f"the warm-up of {warmup_s:g} s is shorter than a timeout and {ROUND_TRIPS} round trips, "
            f"{times.settle_s:.3g} s",
            times.settle_s * 2,
            0.0,
        )
    if measured_s < 2 * times.cycle_s:
        yield Shortage(
            f"only {measured_s:g} s are measured, but a flow takes up to {times.cycle_s:.3g} s from loss to "
            "loss",
            0.0,
            2 * times.cycle_s,
        )


def _emptied_s(seeded: Seeded, link: int, waiting: Waiting) -> float:
    """How long flows of BBR 1 may take to empty the queue that they make when they start, s; 0 without one.

    A flow that measures its least round-trip time while others' packets wait takes that wait for the path's,
    and keeps twice as much under way. Every `PROBE_INTERVAL_S` it measures anew, and the queue shrinks. One
    interval for each halving down to the bandwidth-delay product, and one more, is longer than what we
    measured at 20 to 100 Mbps, 40 to 200 ms, 3 to 30 flows (docs/sizing.md). Smaller buffers stay full while
    the flows last: there is nothing to wait for.
    """
    chosen = seeded.resolved["links"][link]
    crossing = [flow["tcp"] for flow in seeded.resolved["flows"] if chosen["name"] in flow["path"]]
    if not any(tcp is not None and tcp["congestion"] == "bbr" for tcp in crossing):
        return 0.0
    if waiting.is_held:
        return 0.0
    packet_s = waiting.packet_bytes * 8 / chosen["rate_bps"]
    times = waiting.packets * packet_s / max(mean_rtt_s(seeded, link), packet_s)
    return PROBE_INTERVAL_S * (1.0 + math.log2(1.0 + times)) if times > STAYS_FULL else 0.0


def _timeout_s(tcp: ResolvedStack, rtt_s: float) -> float:
    """RFC 6298 rules (2.3) and (2.4) once the round-trip time varies little."""
    return float(max(tcp["min_rto_ps"] / PS_PER_S, rtt_s + tcp["rto_margin_ps"] / PS_PER_S))


def _cycle_s(tcp: ResolvedStack, window_packets: float, rtt_s: float) -> float:
    """Length of an epoch that ends with link and buffer full."""
    try:
        epoch = get_protocol(protocol_of(tcp["congestion"])).epoch(max(window_packets, 2.0), rtt_s)
    except InputError:
        return 0.0
    return min(float(epoch.duration_s), LONGEST_CYCLE_S)
