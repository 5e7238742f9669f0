"""From a few numbers to a scenario, for those who have no file."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final

from bufferlab.results.links import choose_link
from bufferlab.scenario import Scenario
from bufferlab.studies.internet import SPREAD, STACK
from bufferlab.studies.traffic import demand_of

MANY_PACKETS: Final = 10_000_000
"""Packets in a minute from which on runs may be shorter: with windows of a few packets, those of 20 s
give what long ones give within 2 % (docs/capacity.md)."""


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
        duration: Simulated time; default long enough for several sawteeth of a flow, 60 s … 600 s; on a link
            that takes more than `MANY_PACKETS` in that minute, 30 s … 600 s, of which the first 10 s are the
            warm-up.
    """
    flows = [
        {
            "name": name,
            "count": count,
            "rtt": rtt,
            **({"segment": segment} if segment else {}),
            "start": "uniform(0 s, 5 s)",
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
    return scenario


def _long_enough(scenario: dict[str, Any]) -> dict[str, str]:
    """Ten sawteeth of a flow with its share W of the pipe and a buffer of a BDP: 3/8·(2W)²/(W/T) each."""
    loaded = Scenario.from_dict(scenario)
    demand = demand_of(loaded.seeded(), choose_link(loaded.resolved))
    share = demand.bdp_packets / float(demand.flow_count)
    sawteeth_s = math.ceil(min(10 * 1.5 * share * demand.rtt_s, 600.0))
    if 60 * demand.bdp_packets / demand.rtt_s <= MANY_PACKETS or sawteeth_s >= 60:
        return {"duration": f"{max(sawteeth_s, 60)} s"}
    return {"duration": f"{max(sawteeth_s + 10, 30)} s", "warmup": "10 s"}


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
