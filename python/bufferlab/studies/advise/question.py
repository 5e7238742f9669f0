"""What is asked: a scenario's link, and what it shall do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bufferlab.experiment.simulation import ScenarioLike, prepare
from bufferlab.results.links import choose_link, packet_bytes
from bufferlab.scenario import Scenario, Seeded
from bufferlab.studies.advise.advice import Site
from bufferlab.studies.targets import Target

LARGEST: Final = 2.0
"""Largest buffer that is tried, in bandwidth-delay products."""

LEAST_UPPER: Final = 64
"""The largest buffer that is tried is at least this, packets."""


@dataclass(frozen=True)
class Question:
    """A scenario's link and what it shall do.

    Attributes:
        base: The scenario.
        index: Index of the link.
        site: Where the answer is for.
        targets: What shall be met.
        upper: Largest buffer that is tried, packets.
    """

    base: Scenario
    index: int
    site: Site
    targets: tuple[Target, ...]
    upper: int

    @classmethod
    def of(cls, base: Scenario, link: str | None, targets: tuple[Target, ...]) -> Question:
        """Take what the question needs from a scenario."""
        seeded = base.seeded()
        index = 0 if link is None and len(base.links) == 1 else choose_link(base.resolved, link)
        site = _site(base.title, seeded, index)
        bdp = site.rate_bps * site.rtt_ms / 8e3 / site.packet_bytes
        return cls(base, index, site, targets, max(round(LARGEST * bdp), LEAST_UPPER))


def prepared(scenario: ScenarioLike, overrides: Mapping[str, Any] | None) -> Scenario:
    """The scenario without probes, which nobody looks at, and with calls recorded, to rate them."""
    base = prepare(scenario, overrides)
    changes: dict[str, object] = {} if base.probes is None else {"probes": None}
    for index, flow in enumerate(base.flows):
        application = flow["application"]
        if application["kind"] == "udp" and not application.get("record") and _is_regular(application):
            changes[f"flows[{index}].application.record"] = True
    return base.with_overrides(changes) if changes else base


def _is_regular(application: Mapping[str, Any]) -> bool:
    """Whether datagrams come as a codec sends them."""
    return bool(application["arrivals"] == application["sizes"] == "constant")


def _site(name: str, seeded: Seeded, index: int) -> Site:
    link = seeded.resolved["links"][index]
    return Site(
        name=name,
        link=link["name"],
        rate_bps=link["rate_bps"],
        packet_bytes=packet_bytes(seeded.resolved, index),  # says if no flow crosses it
        rtt_ms=_mean_rtt_ms(seeded, link["name"]),
    )


def _mean_rtt_ms(seeded: Seeded, link: str) -> float:
    """Mean round-trip time without waiting over the flows whose data crosses a link."""
    pairs = zip(seeded.resolved["flows"], seeded.draws, strict=True)
    rtts_ps = [np.asarray(drawn["rtt_ps"], dtype=np.float64) for flow, drawn in pairs if link in flow["path"]]
    return float(np.concatenate(rtts_ps).mean()) / 1e9
