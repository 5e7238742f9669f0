"""Other traffic than long SACK Reno flows: which controls and flow kinds SplitBuff helps, and which not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import polars as pl

from bufferlab.evidence.splitbuff.beyond.cases import (
    ASIDE,
    COLUMNS,
    QUEUES,
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
from bufferlab.results.summary import flow_values

FLOWS: Final = 20
"""Of each kind."""

SHORT: Final = "10 ms"
LONG: Final = "100 ms"
LONGER: Final = "300 ms"

ON_TIME: Final = "2 s"
OFF_TIME: Final = "2 s"
TRANSFERS: Final = "transfers"
TIMES: Final = ("transfer_p50_s", "transfer_p95_s")
"""How long short transfers take; `None` where there are none."""

COMPARED: Final = ("BDP rule", "SplitBuff", "SplitBuff, weighted", "CoDel", "FQ-CoDel")


def _both(**keys: object) -> list[Row]:
    return [group("short", FLOWS, SHORT, **keys), group("long", FLOWS, LONG, **keys)]


def _mixed(_effort: Effort) -> list[Row]:
    """Half of each kind CUBIC, half BBR."""
    return [
        group(f"{name}-{control}", FLOWS // 2, rtt, congestion=control)
        for name, rtt in (("short", SHORT), ("long", LONG))
        for control in ("cubic", "bbr")
    ]


def _changing(effort: Effort) -> list[Row]:
    """As measuring begins the long flows end, and longer ones start."""
    change = f"{effort.warmup_s:g} s"
    return [
        group("short", FLOWS, SHORT),
        group(f"{ASIDE}-earlier", FLOWS, LONG, stop=change),
        group("long", FLOWS, LONGER, start=change),
    ]


def _on_and_off(_effort: Effort) -> list[Row]:
    """Twice as many flows, of which half have data at a time."""
    turns = {"kind": "on-off", "on": f"exponential(mean={ON_TIME})", "off": f"exponential(mean={OFF_TIME})"}
    return [
        group("short", 2 * FLOWS, SHORT, application=turns, after_idle="decay"),
        group("long", 2 * FLOWS, LONG, application=turns, after_idle="decay"),
    ]


def _short_flows(_effort: Effort) -> list[Row]:
    """A fifth of the link for transfers of 30 KB on average, with round-trip times between the others'."""
    pages = {"kind": "short-flows", "size": "pareto(mean=30 KB, shape=1.2, max=20 MB)", "interval": "12 ms"}
    return [
        *_both(),
        {"name": f"{ASIDE}-{TRANSFERS}", "rtt": "uniform(10 ms, 100 ms)", "application": pages},
    ]


TRAFFIC: Final[Mapping[str, Callable[[Effort], list[Row]]]] = {
    "SACK Reno": lambda _: _both(),
    "CUBIC": lambda _: _both(congestion="cubic"),
    "Linux hosts": lambda _: _both(stack="linux"),
    "CUBIC, paced": lambda _: _both(congestion="cubic", paced=True),
    "BBR": lambda _: _both(congestion="bbr"),
    "BBR 3": lambda _: _both(congestion="bbr3"),
    "CUBIC and BBR": _mixed,
    "on and off": _on_and_off,
    "short transfers": _short_flows,
    "changing mix": _changing,
}
"""Flow groups by title."""


def traffic_cases(effort: Effort) -> list[Case]:
    """Each traffic under each queue."""
    return [
        Case({"traffic": title, "queue": queue}, scenario(QUEUES[queue], flows(effort), effort))
        for title, flows in TRAFFIC.items()
        for queue in COMPARED
    ]


def measure_traffic(result: Result) -> Row:
    """`COLUMNS` and `TIMES` of a run."""
    groups = {row["group"]: row for row in flow_values(result)}
    transfers = groups.get(f"{ASIDE}-{TRANSFERS}", {})
    return measure(result) | {name: transfers.get(name.replace("transfer", "completion")) for name in TIMES}


def compare(points: pl.DataFrame) -> pl.DataFrame:
    """What each queue does to each traffic; nothing is published."""
    return tabulate(
        points,
        ("traffic", "queue"),
        "fairness",
        "utilization",
        "goodput_short_mbps",
        "goodput_long_mbps",
        "wait_short_ms",
        "wait_long_ms",
        "loss_percent",
        pl.col("transfer_p95_s").alias("transfer p95, s"),
    )


register(
    Study(
        name="traffic",
        title="Other congestion controls and kinds of flows: where SplitBuff helps and where it does not",
        cases=traffic_cases,
        draw=lambda points: draw_bars(points, "traffic"),
        compare=compare,
        notes=(
            f"{FLOWS} flows of {SHORT} and {FLOWS} of {LONG}, each ± 20 %.",
            f"On and off: data for {ON_TIME}, silence for {OFF_TIME} on average.",
            f"Changing mix: as measuring begins, the flows of {LONG} end and {FLOWS} of {LONGER} start.",
        ),
        measured=measure_traffic,
        columns=(*COLUMNS, *TIMES),
    )
)
