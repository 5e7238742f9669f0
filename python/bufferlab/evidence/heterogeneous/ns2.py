"""ns-2's runs of the evaluation, as points beside ours.

ns2.csv has 42 RENO, 51 BIC, 71 CUBIC' and 34 CTCP flows of Agent/TCP/Linux over an OC-12. `rule` says whether
the buffer is that of (7) or of (14), as published. Round-trip times are rtt·(1 ± spread), on twenty pairs of
hosts. `limit_packets` counts the packet in transmission, so one less may wait. Utilization and all that
follows are of 90 s, from 30 s on.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import polars as pl

from bufferlab.evidence.heterogeneous.settings import AS_PUBLISHED, bdp_packets
from bufferlab.evidence.heterogeneous.windows import bounds
from bufferlab.evidence.points import means_of_points

_HOSTS: Final = {0.0: "ns-2's, synchronized", 0.2: "ns-2's, spread"}
_KEYS: Final = ("hosts", "variant", "rtt_ms", "buffer_packets")


@cache
def ns2_runs() -> pl.DataFrame:
    """All runs, in the order of the data file."""
    return pl.read_csv(
        Path(__file__).parent / "ns2.csv", comment_prefix="#", schema_overrides={"rtt_ms": pl.Float64}
    )


def ns2_utilization() -> pl.DataFrame:
    """ns-2's points with the buffers of (7)."""
    return _points("utilization")


def ns2_both() -> pl.DataFrame:
    """ns-2's points with the buffers of (14)."""
    return _points("both")


def _points(rule: str) -> pl.DataFrame:
    rows = []
    for run in ns2_runs().filter(pl.col("rule") == rule).iter_rows(named=True):
        moments = {"mean_windows": run["cwnd_sum_mean"], "deviation": run["cwnd_sum_sd"]}
        rows.append(
            {
                "hosts": _HOSTS[run["spread"]],
                "variant": AS_PUBLISHED.name,
                "rtt_ms": run["rtt_ms"],
                "buffer_packets": run["limit_packets"] - 1,
                "utilization": run["utilization"],
                "loss": run["drops"] / run["arrivals"],
                **moments,
                **bounds(moments, bdp_packets(run["rtt_ms"]), AS_PUBLISHED.z),
            }
        )
    frame = pl.DataFrame(rows)
    return means_of_points(frame, _KEYS, [name for name in frame.columns if name not in _KEYS])
