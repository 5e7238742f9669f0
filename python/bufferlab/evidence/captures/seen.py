"""What a capture says, beside what the run that it is of has counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import polars as pl

from bufferlab.captured.findings import Findings, observe
from bufferlab.captured.flows import rtt_quantile_ms, timed
from bufferlab.experiment.run import run
from bufferlab.results.result import Result

PLACES: Final = ("senders", "receivers")
"""Where captures are made: before the queue and behind it. They are the interfaces 0 and 1 of one file."""

_DEVIATIONS: Final = 2.0
_MS: Final = 1e6


@dataclass(frozen=True)
class Seen:
    """One estimate.

    Attributes:
        quantity: What is estimated.
        truth: What it is.
        estimate: What the capture says; none if it says that it cannot know.
        low: Lower end of the interval, if it has one: two standard deviations, or the 10th percentile.
        high: Upper end.
    """

    quantity: str
    truth: float
    estimate: float | None
    low: float | None = None
    high: float | None = None


def captured(table: dict[str, Any]) -> tuple[Result, dict[str, Findings]]:
    """A run, and what captures at each place say of it."""
    with TemporaryDirectory(prefix="bufferlab-") as folder:
        path = Path(folder, "link.pcapng")
        result = run(table, progress=False, pcap=path, pcap_at=PLACES)[0]
        return result, {place: observe(path, interface=index) for index, place in enumerate(PLACES)}


def estimates(table: dict[str, Any], result: Result, found: Findings) -> Iterator[Seen]:
    """Every estimate of a capture that has a truth in the run."""
    link = result.queues.filter(pl.col("group") == "all").row(0, named=True)
    long = result.flows.filter(pl.col("group").str.starts_with("long-"))
    ends_s = result.duration_s
    error = found.rate_error_bps or 0.0
    yield _with_error("rate", link["rate_bps"], found.rate_bps, _DEVIATIONS * error)
    yield Seen("long flows at a time", float((ends_s - long["start_s"]).sum()) / ends_s, found.long_flows)
    known = timed(found.long)
    for part in (0.1, 0.5, 0.9):
        truth = _quantile(long["propagation_ms"], ends_s - long["start_s"], part)
        yield Seen(f"round trip of long flows, {part:.0%}", truth, rtt_quantile_ms(known, part))
    yield from _short(table, result, found)
    yield from _waits(result, link, found)
    tcp = result.flows.filter(pl.col("group") != "datagrams")
    again, spurious = (
        int(tcp[f"whole_{name}"].sum()) for name in ("retransmissions", "spurious_retransmissions")
    )
    losses = again - spurious
    if losses >= _FEWEST_LOSSES:
        yield Seen("loss", losses / int(tcp["whole_sent_packets"].sum()), found.losses)


_FEWEST_LOSSES: Final = 20


def _with_error(quantity: str, truth: float, estimate: float | None, error: float) -> Seen:
    if estimate is None:
        return Seen(quantity, truth, None)
    return Seen(quantity, truth, estimate, estimate - error, estimate + error)


def _quantile(values: pl.Series, weights: pl.Series, part: float) -> float:
    table = pl.DataFrame({"value": values, "weight": weights}).sort("value")
    reached = table["weight"].cum_sum() / table["weight"].sum()
    return float(table["value"][min(int((reached < part).sum()), len(table) - 1)])


def _short(table: dict[str, Any], result: Result, found: Findings) -> Iterator[Seen]:
    group = next((each for each in table["flows"] if each["name"] == "short"), None)
    own = result.flows.filter((pl.col("group") == "short") & (pl.col("whole_sent_packets") > 0))
    if group is None or own.is_empty():
        return
    yield Seen("short flows a second", len(own) / result.duration_s, len(found.short) / result.duration_s)
    known = timed(found.short)
    rtt_ms = float(own["propagation_ms"].median())  # type: ignore[arg-type]
    yield Seen("round trip of short flows, median", rtt_ms, _median(known["rtt_ms"]))
    yield Seen(
        "size of short flows, median",
        _median(own["transfer_bytes"]) or 0.0,
        _median(found.short["new_bytes"]),
    )


def _median(values: pl.Series) -> float | None:
    return None if values.is_empty() else float(np.median(values.to_numpy()))


def _waits(result: Result, link: dict[str, Any], found: Findings) -> Iterator[Seen]:
    waits = found.waits or {}
    for name, column in (("median", "wait_p50_ms"), ("p95", "wait_p95_ms")):
        if link[column] > _LEAST_WAIT_MS:
            estimate = waits[f"{name}_ns"] / _MS if waits else None
            yield Seen(f"wait, {_WORDS[name]}", link[column], estimate)
    discipline = result.plan["links"][0]["discipline"]
    if discipline["kind"] == "fifo" and link["whole_dropped_packets"] >= _FEWEST_LOSSES:
        bytes_a_packet = link["departed_bytes"] / link["departed_packets"]
        depth_ms = discipline["limit"]["packets"] * bytes_a_packet * 8e3 / link["rate_bps"]
        ends = [
            waits[f"depth{end}_ns"] / _MS if waits.get("is_filled") else None for end in ("", "_low", "_high")
        ]
        yield Seen("buffer", depth_ms, *ends)


_LEAST_WAIT_MS: Final = 0.5
"""Shorter waits are of no concern, and their errors as parts of them say nothing."""

_WORDS: Final = {"median": "median", "p95": "95th percentile"}
