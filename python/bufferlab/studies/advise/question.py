"""What is asked: a scenario's link, and what it shall do."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.configure import Allowed, find_platform
from bufferlab.errors import InputError
from bufferlab.experiment.simulation import ScenarioLike
from bufferlab.results.links import choose_link, packet_bytes
from bufferlab.scenario import Scenario, Seeded
from bufferlab.studies.advise.entry import Site, Users
from bufferlab.studies.advise.floor import has_endless, relaxed
from bufferlab.studies.advise.queues import AMPLE, Queue
from bufferlab.studies.bounds import parse_bounds
from bufferlab.studies.buffers import prepare_open
from bufferlab.studies.settling import PER_BUFFER, measured_packets, refuse_too_few
from bufferlab.studies.targets import Target
from bufferlab.studies.traffic import demand_of, expected_rtt_s, rtt_range_s
from bufferlab.theory.rules import all_rules
from bufferlab.theory.targets import Targets

LARGEST: Final = 2.0
"""Largest buffer that is tried, in bandwidth-delay products."""

RAISED: Final = 8
"""The largest buffer is up to this many times that if larger ones come nearer to a target that all miss."""

LEAST_UPPER: Final = 64
"""The largest buffer that is tried is at least this, packets."""

ETHERNET_BYTES: Final = 1500
"""A limit in bytes holds at least this, the largest payload of an Ethernet frame (IEEE 802.3, 3.2.7): with
less, no full packet of traffic that the scenario does not have could wait."""

_ROOM: Final = 1 << 20
"""No buffer is ample beyond this, packets: 1.6 GB, 126 ms of 100 Gbps."""


@dataclass(frozen=True)
class Question:
    """A scenario's link and what it shall do.

    Attributes:
        base: The scenario.
        index: Index of the link.
        site: Where the answer is for.
        targets: What shall be met.
        upper: Largest buffer that is tried, packets.
        lower: Least buffer that is tried, packets.
        ample: Buffer of disciplines that aim at a delay, packets.
        room: What that may become where it holds too few of the delays that are aimed at, packets; `None` no
            more.
        most: Up to which `upper` is raised if all miss and larger buffers come nearer; `None` leaves it.
        floor: Of the targets the one that nobody has asked for; `None` if all were.
        eased: Queues and their settings of which less of that is asked, since users gain nothing by the rest.
    """

    base: Scenario
    index: int
    site: Site
    targets: tuple[Target, ...]
    upper: int
    lower: int = 1
    ample: int = AMPLE
    room: int | None = None
    most: int | None = None
    floor: Target | None = None
    eased: frozenset[tuple[str, int]] = frozenset()

    @classmethod
    def of(
        cls,
        base: Scenario,
        index: int,
        targets: tuple[Target, ...],
        floor: Target | None = None,
        *,
        bounds: str | None = None,
        platform: str | None = None,
    ) -> Question:
        """Take what the question needs from a scenario.

        Args:
            base: The scenario.
            index: Index of the link.
            targets: What shall be met.
            floor: Of the targets the one that nobody has asked for.
            bounds: Where to search: two buffers with ".." between them.
            platform: On what it shall run; the search ends where that takes no more.

        Raises:
            InputError: The bounds are none, or the platform takes nothing within them.
        """
        site = _site(base, index, targets)
        refuse_too_few(base, site.link, site.rate_bps, site.packet_bytes)
        least = 1
        if platform is not None:
            site = _on(platform, site)
            least = -(-ETHERNET_BYTES // site.packet_bytes) if site.counts_bytes else 1
        most = None
        if bounds is None:
            low, high = min(least, site.largest), site.largest
            seen = int(measured_packets(base, site.rate_bps, site.packet_bytes) / PER_BUFFER)
            most = max(high, min(RAISED * high, seen))
            most = most if site.allowed is None else min(most, site.allowed.most)
        else:
            low, high = parse_bounds(bounds, base, index, site.packet_bytes)
        low, high = _within_allowed(site.allowed, low, high, bounds)
        ample, room = (high, None) if bounds is not None else (max(high, AMPLE), _ROOM)
        if site.allowed is not None:
            ample = min(ample, site.allowed.most)
            room = None if room is None else min(room, site.allowed.most)
        site = dataclasses.replace(site, largest=high)
        return cls(base, index, site, targets, high, low, ample, room, most, floor)

    @property
    def is_filled(self) -> bool:
        """Whether flows cross the link that always have something to send."""
        return has_endless(self.base, self.index)

    def targets_at(self, queue: Queue, setting: int) -> tuple[Target, ...]:
        """What shall be met by a queue with a setting: less of what nobody asked for, if it is usual."""
        is_eased = (queue.name, setting) in self.eased or (queue.knob == "target" and setting == queue.usual)
        return self.usual_targets if is_eased else self.targets

    @property
    def usual_targets(self) -> tuple[Target, ...]:
        """What shall be met by a usual setting, and by what runs today: less of what nobody asked for."""
        return self.targets if self.floor is None else relaxed(self.targets, self.floor)


def _on(platform: str, site: Site) -> Site:
    """The link at a router of a platform."""
    found = find_platform(platform)
    return dataclasses.replace(
        site, allowed=found.allowed(site.rate_bps, site.packet_bytes), counts_bytes=found.counts_bytes
    )


def _within_allowed(allowed: Allowed | None, low: int, high: int, bounds: str | None) -> tuple[int, int]:
    """What of a range of buffers a platform takes.

    Raises:
        InputError: Nothing of bounds that were asked for.
    """
    if allowed is None:
        return low, high
    least, most = max(low, allowed.least), min(high, allowed.most)
    if least <= most:
        return least, most
    if bounds is None:  # the least that it takes is more than is tried
        return allowed.least, allowed.most
    raise InputError(
        f"is not what {allowed.title} takes on this link",
        key="bounds",
        value=bounds,
        accepted=f"within {allowed.least}..{allowed.most} packets ({allowed.bound.source})",
    )


def link_index(base: Scenario, link: str | None) -> int:
    """Index of a link; default the slowest that data crosses.

    Raises:
        InputError: There is no such link.
    """
    return 0 if link is None and len(base.links) == 1 else choose_link(base.resolved, link)


def prepared(scenario: ScenarioLike, overrides: Mapping[str, Any] | None) -> Scenario:
    """The scenario without probes, which nobody looks at; a file may leave its one buffer open."""
    base = prepare_open(scenario, overrides)
    return base if base.probes is None else base.with_overrides({"probes": None})


def _site(base: Scenario, index: int, targets: Sequence[Target]) -> Site:
    seeded = base.seeded()
    link = seeded.resolved["links"][index]
    site = Site(
        name=base.title,
        link=link["name"],
        rate_bps=link["rate_bps"],
        packet_bytes=packet_bytes(seeded.resolved, index),  # says if no flow crosses it
        rtt_ms=expected_rtt_s(base, index) * 1e3,
        rtts_ms=_rtts_ms(base, index),
        users=tuple(
            Users(
                flow["name"],
                flow["application"]["kind"],
                flow["count"],
                None if flow["tcp"] is None else flow["tcp"]["congestion"],
            )
            for flow in seeded.resolved["flows"]
        ),
        rules=_rules(seeded, index, targets),
    )
    least = LEAST_UPPER if has_endless(base, index) else AMPLE  # bursts fill a buffer whatever the round trip
    return dataclasses.replace(site, largest=max(round(LARGEST * site.bdp_packets), least))


def _rtts_ms(base: Scenario, index: int) -> tuple[float, float] | None:
    between = rtt_range_s(base, index)
    return None if between is None else (between[0] * 1e3, between[1] * 1e3)


def _rules(seeded: Seeded, index: int, targets: Sequence[Target]) -> dict[str, int]:
    """Buffers by published rules, packets; none where no rule applies."""
    share = next((each.bound for each in targets if each.name == "utilization" and each.at_least), None)
    asked = Targets() if share is None or not 0 < share < 1 else Targets(utilization=share)
    try:
        demand = demand_of(seeded, index, targets=asked)
    except InputError:  # no TCP, or a control without a model
        return {}
    found = {}
    for rule in all_rules():
        with suppress(InputError, ValueError):  # no buffer is enough by this rule
            if rule.applies(demand):
                found[rule.name] = int(rule.buffer_packets(demand))
    return found
