"""From a few numbers to a scenario, for those who have no file."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.results.links import choose_link
from bufferlab.scenario import Scenario
from bufferlab.studies.internet import CALL, SPREAD, STACK
from bufferlab.studies.settling import (
    ENOUGH_PACKETS,
    LONGEST_S,
    Waiting,
    has_start_measured,
    lengthened,
)
from bufferlab.studies.traffic import demand_of
from bufferlab.units import PS_PER_S

ROUND_TRIPS: Final = 5000
"""This many round trips are enough of a run, where they take less than 60 s. Our choice."""

START_PS: Final = 5 * PS_PER_S
"""Flows start within this at most, ps."""

MANY_PACKETS: Final = 10_000_000
"""Packets in a minute from which on runs may be shorter: with windows of a few packets, those of 20 s
give what long ones give within 2 % (docs/capacity.md)."""


LARGE_BDP: Final = 4.0
"""Up to this many bandwidth-delay products the queue that BBR makes at its start is not measured. Our choice:
`advise` mostly takes no larger buffers, and says where it makes runs longer for one."""


def quick_scenario(
    rate: str,
    rtt: str,
    groups: Sequence[tuple[str | None, int]],
    *,
    segment: str | None = None,
    spread: float = SPREAD,
    stack: str = STACK,
    duration: str | None = None,
    name: str | None = None,
    calls: int | None = None,
    call_dscp: str | None = None,
) -> dict[str, Any]:
    """A dumbbell for those who have a few numbers and no scenario file.

    Args:
        rate: Rate of the bottleneck, with its unit.
        rtt: Mean two-way propagation delay, with its unit.
        groups: Congestion control (`None` for the stack's own) and number of flows of each group.
        segment: Payload of a full segment, with its unit; `None` for the stack's own.
        spread: The round-trip times are spaced evenly over rtt·(1 ± spread).
        stack: Preset of the TCP keys.
        name: Title of the scenario; default the number of flows.
        calls: How many calls there are beside the flows, with their mean round-trip time; default none.
        call_dscp: What calls are marked with, such as "EF"; default nothing.
        duration: Simulated time; default long enough for several sawteeth of a flow, 60 s … 600 s, and up to
            an hour where a slow link sends fewer than `ENOUGH_PACKETS` in that. On a link
            that takes more than `MANY_PACKETS` in that minute, 30 s … 600 s, of which the first 10 s are the
            warm-up; on a short path from 5 s on, where that is `ROUND_TRIPS` round trips. Flows start in
            half of the warm-up, in 5 s at most. With BBR the warm-up is long enough for a buffer of
            `LARGE_BDP` bandwidth-delay products, which its start fills.
    """
    flows = [
        {
            "name": name,
            "count": count,
            "rtt": rtt,
            **({"segment": segment} if segment else {}),
            **({"rtt_spread": spread} if count > 1 else {}),
            **({"congestion": congestion} if congestion else {}),
        }
        for name, (congestion, count) in zip(_names([each for each, _ in groups]), groups, strict=True)
    ]
    scenario = {
        "run": {"name": name or _title(groups), "duration": duration or "60 s", "stack": stack},
        "bottleneck": {"rate": rate, "buffer": "1 bdp"},
        "flows": flows,
    }
    if duration is None:
        scenario["run"] |= _long_enough(scenario)  # type: ignore[operator]
    start = _start(scenario["run"])  # type: ignore[arg-type]
    if calls:
        codepoint = {"dscp": call_dscp} if call_dscp else {}
        flows.append({"name": "call", "count": calls, "rtt": rtt, **codepoint, "application": dict(CALL)})
    return scenario | {"flows": [flow | {"start": start} for flow in flows]}


def _start(run: dict[str, str]) -> str:
    """When flows start: within half of the warm-up, a fifth of the duration if none is given, 5 s at most."""
    try:
        warmup_ps = _core.parse_quantity("time", run.get("warmup", run["duration"]), 1)
    except InputError:  # who reads the scenario says so
        return f"uniform(0 s, {START_PS // PS_PER_S} s)"
    latest_ps = min(warmup_ps // (2 if "warmup" in run else 10), START_PS)
    shown = f"{latest_ps // PS_PER_S} s" if latest_ps == START_PS else f"{latest_ps * 1000 // PS_PER_S} ms"
    return f"uniform(0 s, {shown})"


def _long_enough(scenario: dict[str, Any]) -> dict[str, str]:
    """Ten sawteeth of a flow with its share W of the pipe and a buffer of a BDP: 3/8·(2W)²/(W/T) each."""
    loaded = Scenario.from_dict(scenario)
    demand = demand_of(loaded.seeded(), choose_link(loaded.resolved))
    share = demand.bdp_packets / float(demand.flow_count)
    sawteeth_s = math.ceil(min(10 * 1.5 * share * demand.rtt_s, 600.0))
    least_s = math.ceil(min(max(ROUND_TRIPS * demand.rtt_s, 5.0), 60.0))
    packets_s = math.ceil(min(1.25 * ENOUGH_PACKETS * demand.rtt_s / demand.bdp_packets, LONGEST_S))
    enough_s = max(sawteeth_s, least_s, packets_s)  # a fifth is warm-up
    shorter_s = max(sawteeth_s + 10, 30)
    many = 60 * demand.bdp_packets / demand.rtt_s > MANY_PACKETS and sawteeth_s < 60
    run = {"duration": f"{enough_s} s"}
    if many and shorter_s < enough_s:
        run = {"duration": f"{shorter_s} s", "warmup": "10 s"}
    return _after_the_start(loaded.with_overrides({f"run.{key}": value for key, value in run.items()})) or run


def _after_the_start(loaded: Scenario) -> dict[str, str] | None:
    """Longer times where BBR's start would be measured in the largest buffers that searches begin with."""
    link = choose_link(loaded.resolved)
    demand = demand_of(loaded.seeded(), link)
    waiting = Waiting(math.ceil(LARGE_BDP * demand.bdp_packets), demand.packet_bytes)
    longer = lengthened(loaded, link, waiting) if has_start_measured(loaded, link, waiting) else None
    if longer is None:
        return None
    duration_s, warmup_s = longer.run["duration_ps"] // PS_PER_S, longer.run["warmup_ps"] // PS_PER_S
    return {"duration": f"{duration_s} s", "warmup": f"{warmup_s} s"}


def _title(groups: Sequence[tuple[str | None, int]]) -> str:
    flows = sum(count for _, count in groups)
    return "1 flow" if flows == 1 else f"{flows} flows"


def _names(controls: Sequence[str | None]) -> list[str]:
    """Names of groups: their controls' families; in full where two are the same, then numbered."""
    families, words = (
        [re.sub(r"[^A-Za-z0-9-]+", "_", re.split(end, each or "flows")[0]) for each in controls]
        for end in (r"[-(]", r"\(")
    )
    names = [
        family if families.count(family) == 1 else word for family, word in zip(families, words, strict=True)
    ]
    return [name if names.count(name) == 1 else f"{name}-{index}" for index, name in enumerate(names)]
