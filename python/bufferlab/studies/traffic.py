"""The demand of a scenario, which is the input of the sizing rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from bufferlab.errors import InputError
from bufferlab.resolved import lasts
from bufferlab.results.links import packet_bytes
from bufferlab.scenario import Scenario, Seeded
from bufferlab.theory.bscl import effective_rtt_s
from bufferlab.theory.demand import Demand
from bufferlab.theory.protocols import get_protocol
from bufferlab.theory.targets import Targets
from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedLink

_ALWAYS_MARK: Final = frozenset({"step", "dualpi2"})
"""Disciplines that mark whatever their parameters."""


def demand_of(
    seeded: Seeded,
    link: int,
    *,
    targets: Targets | None = None,
    measured: Mapping[str, float] | None = None,
) -> Demand:
    """The demand of a scenario's long-lived TCP flows on a link.

    The round-trip time is that of `mean_rtt_s`, the packet size that of the largest full packet of data that
    crosses the link, as for the words "bdp" and "stanford" of scenarios.

    Args:
        seeded: The scenario under a seed.
        link: Index of the link.
        targets: Targets for the link.
        measured: Measured characteristic values by protocol, used in place of the model's.

    Raises:
        InputError: No TCP flow crosses the link, one has no round-trip time, or a protocol has neither model
            nor measured value.
    """
    sized, groups = seeded.resolved["links"][link], seeded.resolved["flows"]
    chosen = [i for i in _sizing_groups(seeded, link) if groups[i]["tcp"] is not None]
    if not chosen:
        name = sized["name"]
        raise InputError("no TCP flow crosses this link, so no rule applies", key="flows", value=name)
    mix = _mix(seeded, chosen, marks=_marks(sized))
    if targets is None or targets.characteristics == "derived":  # a published table has others, too
        _check_measured(measured or {}, mix)
    rtt_s = _rtts_s(seeded, chosen)
    if not rtt_s.all():
        raise InputError(
            "leaves flows without a round-trip time, so no rule applies",
            key="rtt",
            value=0,
            accepted="more than 0 s",
        )
    return Demand(
        rate_bps=float(sized["rate_bps"]),
        rtt_s=float(rtt_s.mean()),
        flows=rtt_s.size,
        packet_bytes=packet_bytes(seeded.resolved, link),
        mix=mix,
        harmonic_rtt_s=effective_rtt_s(rtt_s),
        targets=targets or Targets(),
        measured=measured or {},
    )


def mean_rtt_s(seeded: Seeded, link: int) -> float:
    """Mean round-trip time without waiting of the flows that a link's buffer is sized for, s.

    It is the one of which the bandwidth-delay product is made, everywhere: the arithmetic mean over the
    long-lived TCP flows that cross the link. Flows that end (transfers) count only if there are no others,
    datagrams only without any TCP: no window of theirs has to fill the link. A group of short flows, of which
    few are there at a time, counts for one.

    Args:
        seeded: The scenario under a seed.
        link: Index of the link.
    """
    return float(_rtts_s(seeded, _sizing_groups(seeded, link)).mean())


DRAWS: Final = 100
"""Seeds over which round-trip times that are drawn are averaged."""


def expected_rtt_s(scenario: Scenario, link: int) -> float:
    """The same over seeds, where round-trip times are drawn: no single draw tells what runs will have.

    Args:
        scenario: The scenario.
        link: Index of the link.
    """
    first, second = (mean_rtt_s(scenario.seeded(seed), link) for seed in (1, 2))
    if first == second:
        return first
    rest = (mean_rtt_s(scenario.seeded(seed), link) for seed in range(3, DRAWS + 1))
    return (first + second + sum(rest)) / DRAWS


def rtt_range_s(scenario: Scenario, link: int) -> tuple[float, float] | None:
    """Between which round-trip times those flows are, s; `None` where seeds draw others.

    Args:
        scenario: The scenario.
        link: Index of the link.
    """
    drawn = (_rtts_s(seeded, _sizing_groups(seeded, link)) for seeded in map(scenario.seeded, (1, 2)))
    first, second = ((float(each.min()), float(each.max())) for each in drawn)
    return first if first == second else None


def _sizing_groups(seeded: Seeded, link: int) -> list[int]:
    """The groups that a link's buffer is sized for."""
    name, groups = seeded.resolved["links"][link]["name"], seeded.resolved["flows"]
    crossing = [i for i, flow in enumerate(groups) if name in flow["path"]]
    tcp = [i for i in crossing if groups[i]["tcp"] is not None]
    return [i for i in tcp if lasts(groups[i])] or tcp or crossing


def _rtts_s(seeded: Seeded, chosen: list[int]) -> npt.NDArray[np.float64]:
    """The round-trip times of groups' flows, s; short flows count for one, as few are there at a time."""
    return np.concatenate([_counted_ps(seeded, i) for i in chosen]) / PS_PER_S


def _counted_ps(seeded: Seeded, group: int) -> npt.NDArray[np.float64]:
    """The round-trip times of a group, ps, one for each flow that counts for a buffer."""
    flow, drawn_ps = seeded.resolved["flows"][group], np.asarray(seeded.draws[group]["rtt_ps"], dtype=float)
    return (
        np.full(flow["count"], drawn_ps.mean()) if flow["application"]["kind"] == "short-flows" else drawn_ps
    )


def _marks(link: ResolvedLink) -> bool:
    """Whether a queue marks ECN-capable packets."""
    queue = link["queue"]
    thresholds = (link["mark_above"], queue.get("ce_threshold_ps"))
    return (
        bool(queue.get("ecn"))
        or queue["discipline"] in _ALWAYS_MARK
        or any(threshold is not None for threshold in thresholds)
    )


def protocol_of(congestion: str, *, marks: bool = False) -> str:
    """Name of the theory's protocol for a congestion control.

    Args:
        congestion: As scenarios write it.
        marks: Whether the link marks packets: DCTCP is Reno where it does not.
    """
    return "dctcp-unmarked" if congestion == "dctcp" and not marks else get_protocol(congestion).name


def _mix(seeded: Seeded, chosen: list[int], *, marks: bool) -> tuple[tuple[str, float], ...]:
    """Flows of each protocol, in order of the groups."""
    mix: dict[str, float] = {}
    for index in chosen:
        tcp = seeded.resolved["flows"][index]["tcp"]
        if tcp is not None:
            name = protocol_of(tcp["congestion"], marks=marks)
            mix[name] = mix.get(name, 0.0) + len(_counted_ps(seeded, index))
    return tuple(mix.items())


def _check_measured(measured: Mapping[str, float], mix: tuple[tuple[str, float], ...]) -> None:
    names = [name for name, _ in mix]
    for name in measured:
        if get_protocol(name).name not in names:
            raise InputError(
                "is the protocol of no flow", key="measured", value=name, accepted=", ".join(names)
            )


def likely_packets(rules: Mapping[str, int]) -> int | None:
    """Where the least buffer may be, packets: a rule's buffer; searches look there, too.

    Args:
        rules: Buffers by published rules, packets, by the rules' names.
    """
    return rules.get("delay") or rules.get("stanford")
