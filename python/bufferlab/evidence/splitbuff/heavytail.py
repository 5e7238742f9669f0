"""SplitBuff and heavy-tailed round-trip times: flows below and above the mean, and the picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.documents import Work
from bufferlab.experiment.simulation import prepare
from bufferlab.render.plots.style import COLORS, new_figure_row
from bufferlab.resolved import full_packet_bytes, payload_bytes
from bufferlab.results.result import Result
from bufferlab.stats import jain_index

_ONE_GROUP: Final = prepare(Path(__file__).parent / "scenarios" / "one-group.toml").resolved
_RATE_BPS: Final = float(_ONE_GROUP["links"][0]["rate_bps"])
_FLOWS: Final = _ONE_GROUP["flows"][0]["count"]
_PAYLOAD_SHARE: Final = payload_bytes(_ONE_GROUP["flows"][0]) / full_packet_bytes(_ONE_GROUP["flows"][0])


def flows(result: Result, keys: Mapping[str, Any]) -> pl.DataFrame:
    """One row a flow: its propagation delay and goodput."""
    return result.flows.select(
        pl.lit(keys["queue"]).alias("queue"), "seed", "flow", "propagation_ms", "goodput_bps"
    )


def by_round_trip(result: Result, _keys: Mapping[str, Any]) -> dict[str, float | None]:
    """Throughput and wait of flows below ("short") and above the mean propagation delay, and of all."""
    flows = result.flows
    mean_ms = float(flows["propagation_ms"].to_numpy().mean())
    kinds = {
        "short": flows.filter(pl.col("propagation_ms") < mean_ms),
        "long": flows.filter(pl.col("propagation_ms") >= mean_ms),
    }
    queue = result.queues.filter(pl.col("link") == "bottleneck", pl.col("group") == "all").row(0, named=True)
    row: dict[str, float | None] = {}
    for kind, own in kinds.items():
        row[f"throughput_{kind}"] = float(own["goodput_bps"].to_numpy().mean()) / _RATE_BPS
        row[f"wait_{kind}_ms"] = _mean_wait_ms(own)
    return row | {
        "fairness": jain_index(flows["goodput_bps"].to_list()),
        "wait_ms": queue["wait_mean_ms"],
        "loss_percent": queue["loss"] * 100.0,
        "utilization": queue["utilization"],
        "timeouts_flow_s": float(flows["timeouts"].sum()) / flows.height / result.measured_s,
    }


def _mean_wait_ms(flows: pl.DataFrame) -> float:
    """Round-trip time beyond propagation, mean over packets."""
    known = flows.filter(pl.col("rtt_ms").is_not_null())
    waits = (known["rtt_ms"] - known["propagation_ms"]).to_numpy()
    return float(np.average(waits, weights=known["delivered_bytes"].to_numpy().astype(np.float64)))


def draw_heavytail(work: Work) -> Figure:
    """A panel a queue: each flow's throughput against its propagation delay."""
    flows = work.tables["flows"]
    queues = work.points["queue"].to_list()
    figure, panels = new_figure_row(len(queues))
    for index, (panel, title) in enumerate(zip(panels, queues, strict=True)):
        own = flows.filter(pl.col("queue") == title)
        panel.plot(
            own["propagation_ms"].to_numpy(),
            np.maximum(own["goodput_bps"].to_numpy() / _RATE_BPS, 1e-6),
            color=COLORS[index],
            linestyle="none",
            marker=".",
            markersize=3,
        )
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_ylim(1e-4, 1)
        panel.axhline(_PAYLOAD_SHARE / _FLOWS, color="black", linewidth=1)
        panel.set_title(title, loc="left")
        panel.set_xlabel("propagation delay (ms)")
    panels[0].set_ylabel("flow's throughput / link's rate")
    return figure
