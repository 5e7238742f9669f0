"""DualPI2 and Prague against closed forms.

With the base chance p', classic packets are dropped with p'^2 and L4S packets marked with k p' (RFC 9332,
equation 1).

Reno's window is sqrt(3/2) / sqrt(p_C) (M. Mathis and others, CCR 27(3), 1997). Prague's, our derivation: it
shrinks by W p / 2 when a mark comes and then not for a round trip, so after each round trip it waits for a
mark, which takes 1 / (p W) of one; it grows by 1 - p a round trip meanwhile. With x = p W, x / 2 is
(1 - p) (1 + 1 / x).

Rates are windows over round trips. Those of classic flows have the queue in them, Prague's are 25 ms at least
(draft-briscoe-iccrg-prague-congestion-control-04, section 2.4.4).
"""

from __future__ import annotations

from math import sqrt
from typing import Any, Final

import polars as pl
import pytest

import bufferlab

FLOWS: Final = 10
WINDOW_RENO: Final = sqrt(1.5)
VIRTUAL_RTT_MS: Final = 25.0


def shared(rate: str, rtt_ms: float, queue: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Ten Prague flows and ten of Reno: each group's row of the queue, and its goodput."""
    words = {"classic": "reno", "l4s": "prague"}
    flows = [
        {
            "name": name,
            "count": FLOWS,
            "rtt": f"{rtt_ms} ms",
            "congestion": word,
            "start": "uniform(0 s, 1 s)",
        }
        for name, word in words.items()
    ]
    scenario = {
        "run": {"duration": "80 s", "warmup": "20 s", "stack": "linux"},
        "bottleneck": {"rate": rate, "buffer": "10000 packets", "queue": {"discipline": "dualpi2", **queue}},
        "flows": flows,
    }
    runs = bufferlab.run(scenario, seeds=1)
    goodputs = dict(runs.flows.group_by("group").agg(pl.col("goodput_bps").mean()).iter_rows())
    return {
        row["group"]: {**row, "goodput_bps": goodputs.get(row["group"])} for row in runs.queues.to_dicts()
    }


def prague_window(marked: float) -> float:
    """The positive solution for x, over p."""
    grown = 1.0 - marked
    return (grown + sqrt(grown * grown + 2.0 * grown)) / marked


@pytest.mark.parametrize(
    ("rate", "rtt_ms", "k"),
    [("200 Mbps", 40, 2), ("100 Mbps", 40, 1), ("200 Mbps", 10, 2), ("100 Mbps", 20, 2)],
)
def test_shares_are_those_that_the_coupling_promises(rate: str, rtt_ms: float, k: int) -> None:
    """Within a fifth.

    Some hundred drops are known within a tenth, and the chance swings: the mean of its square is above the
    square of its mean.
    """
    rows = shared(rate, rtt_ms, {"coupling_factor": k})
    classic, l4s = rows["classic"], rows["l4s"]
    dropped, marked = classic["loss"], l4s["marked_packets"] / l4s["departed_packets"]
    assert dropped == pytest.approx((marked / k) ** 2, rel=0.2)
    assert l4s["dropped_packets"] == 0
    expected = prague_window(marked) / max(rtt_ms + l4s["wait_mean_ms"], VIRTUAL_RTT_MS)
    expected /= WINDOW_RENO / sqrt(dropped) / (rtt_ms + classic["wait_mean_ms"])
    assert l4s["goodput_bps"] / classic["goodput_bps"] == pytest.approx(expected, rel=0.2)


def test_both_queues_keep_their_waits() -> None:
    rows = shared("200 Mbps", 20, {})
    assert rows["classic"]["wait_mean_ms"] == pytest.approx(15.0, rel=0.05)
    assert rows["l4s"]["wait_p99_ms"] < 1.0
    assert rows["all"]["utilization"] > 0.99
