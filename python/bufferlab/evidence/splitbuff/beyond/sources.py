"""Where a router has round-trip times from: how wrong they are, what they cost, what comes of them."""

from __future__ import annotations

import math
from typing import Final

import polars as pl

from bufferlab.evidence.splitbuff.beyond.cases import (
    COLUMNS,
    WEIGHTED,
    Case,
    Effort,
    Row,
    group,
    measure,
    scenario,
)
from bufferlab.evidence.splitbuff.beyond.figure import draw_bars
from bufferlab.evidence.splitbuff.beyond.study import Study, register, tabulate
from bufferlab.results.result import Result

SOURCES: Final = (
    "oracle", "header", "header(8 bits)", "header(4 bits)", "header(2 bits)", "timestamps(1024 flows)",
    "timestamps(64 flows)", "handshake(1024 flows)", "handshake(64 flows)",
)  # fmt: skip
"""As a scenario writes them."""

FLOWS: Final = 50
"""Of each kind."""

_USED: Final = 0.01
"""A sub-buffer with less of the packets is not in use: the gaps need fewer than there may be."""

ESTIMATE: Final = ("error_percent", "error_short_percent", "error_long_percent", "state_bytes")
"""Root mean square over time of the distance of the router's mean propagation delay from the flows', in parts
of that, for all packets and for those of both ends; what the router keeps."""


def sources_cases(effort: Effort) -> list[Case]:
    """Both kinds of SplitBuff with each source."""
    flows = [group("short", FLOWS, "10 ms"), group("long", FLOWS, "100 ms")]
    cases = []
    for source in SOURCES:
        for title, keys in (
            ("SplitBuff", {}),
            ("SplitBuff, weighted", WEIGHTED),
        ):
            queue = {"discipline": "splitbuff", **keys, "rtt": source}
            document = scenario({"queue": queue}, flows, effort)
            document["probes"] = {"interval": "500 ms", "links": ["bottleneck"], "per_group": 1}
            cases.append(Case({"source": source, "queue": title}, document))
    return cases


def measure_source(result: Result) -> Row:
    """`COLUMNS` and `ESTIMATE` of a run."""
    means = dict(result.flows.group_by("group").agg(pl.col("propagation_ms").mean()).iter_rows())
    samples = result.class_samples.filter(pl.col("time_s") >= result.warmup_s)
    whole = samples.filter(pl.col("class").is_null())
    busy = result.classes.filter(pl.col("departed_packets") > _USED * pl.col("departed_packets").sum())
    first, last = (
        samples.filter(pl.col("class") == end) for end in (busy["class"].min(), busy["class"].max())
    )
    return measure(result) | {
        "error_percent": _error_percent(whole, float(result.flows["propagation_ms"].to_numpy().mean())),
        "error_short_percent": _error_percent(first, means["short"]),
        "error_long_percent": _error_percent(last, means["long"]),
        "state_bytes": whole["state_bytes"].max(),
    }


def _error_percent(samples: pl.DataFrame, true_ms: float) -> float | None:
    known = samples["rtt_ms"].drop_nulls().to_numpy()
    return 100.0 * math.sqrt(float(((known / true_ms - 1.0) ** 2).mean())) if len(known) else None


def compare(points: pl.DataFrame) -> pl.DataFrame:
    """One row a source and kind of SplitBuff; nothing is published."""
    return tabulate(
        points,
        ("source", "queue"),
        pl.col("state_bytes").cast(pl.Int64).alias("state, bytes"),
        pl.col("error_percent").alias("error %"),
        pl.col("error_short_percent").alias("short, error %"),
        pl.col("error_long_percent").alias("long, error %"),
        "fairness",
        "goodput_short_mbps",
        "goodput_long_mbps",
        "wait_short_ms",
        "wait_long_ms",
        "utilization",
    )


register(
    Study(
        name="sources",
        title="Where round-trip times come from: error, state, and SplitBuff's results under each",
        cases=sources_cases,
        draw=lambda points: draw_bars(points, "source"),
        compare=compare,
        notes=(
            f"{FLOWS} flows of 10 ms and {FLOWS} of 100 ms, each ± 20 %, with handshakes and timestamps.",
            "Errors: root mean square over time, in parts of the flows' true mean; of all packets' mean, and "
            "of the first and the last sub-buffer's against the short and the long flows'.",
        ),
        measured=measure_source,
        columns=(*ESTIMATE, *COLUMNS),
    )
)
