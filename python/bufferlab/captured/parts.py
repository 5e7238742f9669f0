"""The long flows of a captured link: each where they are few, else groups of like round-trip times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from bufferlab.captured.flows import loss_of, rtt_quantile_ms, timed
from bufferlab.captured.link import CapturedLink
from bufferlab.captured.observation import NS_PER_MS
from bufferlab.captured.scenario import long_modes
from bufferlab.captured.shared import weighted_median

MOST: Final = 5
"""Parts that are named at most: the screen has room for these. Our choice."""


@dataclass(frozen=True)
class Part:
    """A long flow, or a group of them.

    Attributes:
        name: The flow's connection, as the tables number it; or the group's, as a scenario names it.
        flows: How many were seen.
        rtt_ms: The round-trip time without waiting, in the median, ms.
        wait_ms: What their packets wait in the median, ms; `None` where waits are not known.
        goodput_bps: New payload of a flow over its time, in the mean, bit/s.
        loss: Segments sent again over segments, 0 to 1; `None` without TCP.
    """

    name: str
    flows: int
    rtt_ms: float
    wait_ms: float | None
    goodput_bps: float
    loss: float | None


def parts_of(link: CapturedLink) -> list[Part]:
    """The parts with most bytes, by round-trip time; none where no round trip is known.

    Args:
        link: What was captured.
    """
    named = sorted(_named(link), key=lambda each: -int(each[1]["ip_bytes"].sum()))[:MOST]
    return sorted((_part(link, name, flows) for name, flows in named), key=lambda part: part.rtt_ms)


def _named(link: CapturedLink) -> Iterator[tuple[str, pl.DataFrame]]:
    flows = timed(link.long)
    if len(flows) > MOST:
        yield from ((str(each.group["name"]), each.flows) for each in long_modes(link))
        return
    yield from ((f"connection {flow['connection'][0]}", flow) for flow in flows.iter_slices(1))


def _part(link: CapturedLink, name: str, flows: pl.DataFrame) -> Part:
    return Part(
        name=name,
        flows=len(flows),
        rtt_ms=rtt_quantile_ms(timed(flows), 0.5) or 0.0,
        wait_ms=_wait_ms(link, flows),
        goodput_bps=8 * float(flows["new_bytes"].sum()) / float(flows["seconds"].sum()),
        loss=loss_of(flows),
    )


def _wait_ms(link: CapturedLink, flows: pl.DataFrame) -> float | None:
    """Median round trips beyond those without waiting, in the median over flows by their samples."""
    waits = link.waits
    if waits is None or link.is_paced:
        return None
    sides = pl.col("sender") if waits["is_ahead"] else 1 - pl.col("sender")
    beyond_ns = pl.col("rtt_median_ns") - pl.col("rtt_min_ns")
    legs = link.observation.directions.select(
        "connection", sides.cast(pl.UInt32).alias("sender"), beyond_ns=beyond_ns, of="rtt_samples"
    )
    hides_ns = pl.col("path_rtt_ns") - NS_PER_MS * pl.col("rtt_ms")
    known = flows.join(legs, on=["connection", "sender"]).with_columns(
        wait_ms=(pl.col("beyond_ns") + hides_ns) / NS_PER_MS
    )
    known = known.filter(pl.col("wait_ms").is_finite() & (pl.col("of") > 0))
    if known.is_empty():
        return None
    waited_ms = np.maximum(known["wait_ms"].to_numpy(), 0.0)
    return weighted_median(waited_ms, known["of"].to_numpy())
