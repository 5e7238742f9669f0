"""A setting that ns-3's program takes, run here and measured as there."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from bufferlab import _core
from bufferlab.evidence.ns2.measure import measurements
from bufferlab.evidence.ns2.reference import Setting
from bufferlab.plan import lower
from bufferlab.scenario import Scenario

_HEADER_BYTES = 54
"""PPP 2, IP 20, TCP 20, timestamps 12."""

_CONTROLS = {"linuxreno": "reno", "cubic": "cubic-linux(hystart)", "bbr": "bbr", "dctcp": "dctcp"}


def simulate(setting: Setting, seed: int, control: _core.Control | None = None) -> dict[str, float] | None:
    """Run a setting once and measure what ns-3's program measures; `None` if `control` canceled the run."""
    plan = lower(Scenario.from_dict(scenario_of(setting)), seed)
    outcome = _core.simulate(json.dumps(plan), control)
    if outcome.canceled:
        return None
    queues = pl.DataFrame(outcome.queues())
    values = measurements(setting, plan, pl.DataFrame(outcome.flows()), queues)
    bottleneck = queues.filter(pl.col("link") == 0)
    kinds = [kind for kind in (1, 2) if setting.flow_counts[kind - 1]]
    return values | {
        f"marks{kind}": float(bottleneck.filter(pl.col("group") == kind - 1)["marked_packets"].sum())
        for kind in kinds
    }


def scenario_of(setting: Setting) -> dict[str, Any]:
    """The scenario document of a setting."""
    rate = f"{setting.rate_bps:.10g} bps"
    return {
        "run": {
            "name": setting.title,
            "duration": f"{setting.duration_s:g} s",
            "warmup": f"{setting.warmup_s:g} s",
            "stack": "rfc",
        },
        "links": [
            {
                "name": "bottleneck",
                "rate": rate,
                "delay": "1 ms",
                "buffer": f"{setting.buffer_packets} packets",
                "queue": _queue(setting),
            },
            {"name": "back", "rate": rate, "delay": "1 ms", "buffer": "unlimited"},
        ],
        "flows": [_group(setting, kind) for kind in (0, 1) if setting.flow_counts[kind]],
    }


def _queue(setting: Setting) -> dict[str, Any] | str:
    queue = setting.option("queue")
    if queue == "fifo":
        return "fifo"
    table: dict[str, Any] = {"discipline": queue, "ecn": setting.option("ecn") == "1"}
    if queue == "red":
        table |= {
            "min_threshold": f"{setting.option('minth')} packets",
            "max_threshold": f"{setting.option('maxth')} packets",
            "weight": 0.002,
            "max_p": 0.1,
            "gentle": True,
            "adaptive": False,
            "mean_packet": f"{setting.wire_bytes} B",
        }
    else:
        table["target"] = f"{setting.option('target')} ms"
    if queue in {"codel", "fq_codel"}:
        table["control_law"] = "linux"
    if queue == "fq_codel":
        table["quantum"] = f"{setting.wire_bytes} B"
    if setting.option("cethresh"):
        table["ce_threshold"] = f"{setting.option('cethresh')} ms"
    return table


def _group(setting: Setting, kind: int) -> dict[str, Any]:
    # a packet is stored and forwarded by two access links of 10 Gbps, its acknowledgment as well
    access_us = 2 * (setting.wire_bytes + _HEADER_BYTES) * 8 / 10_000
    group = {
        "name": f"type{kind + 1}",
        "count": setting.flow_counts[kind],
        "rtt": f"{setting.rtt_ms[kind] * 1e3 + access_us:.6f} us",
        "path": ["bottleneck"],
        "reverse_path": ["back"],
        "access_rate": "10 Gbps",
        "start": "uniform(0 s, 5 s)",
        "congestion": _CONTROLS[setting.stack],
        "recovery": "linux",
        "segment": f"{setting.wire_bytes - _HEADER_BYTES} B",
        "header": f"{_HEADER_BYTES} B",
        "ack": f"{_HEADER_BYTES} B",
        "min_rto": "200 ms",
        "ack_delay": "40 ms",
        "jitter": f"uniform(0 s, {float(setting.option('noise', '0')) * 1e3:g} us)",
    }
    if setting.option("ecn") == "1" and setting.stack != "dctcp":
        group["ecn"] = "classic"
    return group
