"""The tables of "Sizing Router Buffers" on Mininet-HiFi: answers of both searches beside the testbeds'."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import polars as pl

from bufferlab.evidence.documents import Work
from bufferlab.evidence.reproduction import Request
from bufferlab.evidence.sizing_mininet import oc3, searches, testbeds
from bufferlab.evidence.sizing_mininet.searches import TESTBED, Cell, link_of
from bufferlab.evidence.sizing_mininet.testbeds import Measured

CONTROL: Final = "BIC"
"""What the testbed's script asks of its hosts, and so what is compared."""

BURST_PACKETS: Final = 10
"""The script shapes with HTB and a burst of 15 kB. A token bucket of as many packets drops what a link with
that much more buffer would: idle time is made up for."""

LEAST_ANSWER: Final = 2
"""The script's bisection ends between 1 and 2 packets and answers 2."""

_TRACE_FLOWS: Final = 50


def min_buffer(work: Work) -> dict[str, pl.DataFrame]:
    """Both searches over the number of flows, for three controls and three kinds of senders."""
    request, plan = work.request, _plan(work.request)
    raw = None if request.measured is None else testbeds.read_measured(request.measured)
    known = testbeds.bundled() if raw is None else testbeds.summarized(raw)
    script, ours = searches.script_all(plan, request), searches.search_all(plan, request)
    tables = {"ours": ours, "script": script, "testbeds": testbeds.frame_of(known)}
    tables["answers"] = answers(ours, script, known)
    return tables if raw is None else tables | {"measured": raw}


def of_99(work: Work) -> dict[str, pl.DataFrame]:
    """The searches for 99 %, which the text asks for, beside the script's for 98 %: BIC and RENO."""
    effort = searches.QUICK if work.request.quick else searches.FULL
    plan = replace(effort, senders=("jitter", searches.OWN_HOSTS), controls=("BIC", "RENO"), target=0.99)
    jitter = replace(plan, senders=("jitter",))
    at_98 = searches.script_all(replace(jitter, target=searches.TARGET), work.request)
    script, ours = searches.script_all(plan, work.request), searches.search_all(jitter, work.request)
    known = testbeds.bundled()
    rows = []
    for flows in plan.flows:
        row: dict[str, float | None] = {"flows": flows} | _columns("mininet", known["mininet"], flows)
        for control in plan.controls:
            for name, found, senders in (
                ("script_98", at_98, "jitter"), ("script_99", script, "jitter"),
                ("script_99_hosts", script, searches.OWN_HOSTS), ("ours_99", ours, "jitter"),
            ):  # fmt: skip
                same = {"control": control, "flows": flows, "senders": senders}
                own = found.filter(*(pl.col(key) == value for key, value in same.items()))
                row[f"{name}_{control.lower()}"] = _number(own["packets"].median())
        rows.append(row)
    return {"answers": pl.DataFrame(rows, infer_schema_length=None), "ours": ours, "script": script}


def oc3_points(work: Work) -> dict[str, pl.DataFrame]:
    """Least buffers of an OC-3 for three utilizations, with the bound of the sizing rule."""
    plan = oc3.QUICK if work.request.quick else oc3.FULL
    points = oc3.search_oc3(plan, work.request)
    bound = link_of(oc3.OC3).bdp_packets / pl.col("flows").cast(pl.Float64).sqrt()
    return {"points": points, "bounds": points.with_columns(bound_packets=bound)}


def trace(work: Work) -> dict[str, pl.DataFrame]:
    """One run of the script's own procedure: every reading, and one row a trial."""
    found = searches.scripted(Cell("jitter", CONTROL, _TRACE_FLOWS), work.request.seeds or 1)
    assert found is not None  # noqa: S101 - nothing cancels it
    target = searches.TARGET * found.full_rate_bps
    readings = [
        {
            "began_s": sample.began_s,
            "buffer_packets": packets,
            "reading_mbps": reading / 1e6,
            "median_mbps": sample.rate_bps / 1e6,
            "kept": sample.rate_bps >= target,
        }
        for packets, sample in found.trials
        for reading in sample.readings_bps
    ]
    trials = [
        {
            "trial": number,
            "buffer_packets": packets,
            "ends_s": sample.began_s + sample.simulated_s,
            "reading_s": sample.reading_s,
            "median_mbps": sample.rate_bps / 1e6,
            "least_mbps": min(sample.readings_bps) / 1e6,
            "most_mbps": max(sample.readings_bps) / 1e6,
            "kept": "calibration" if number == 0 else "yes" if sample.rate_bps >= target else "no",
            "target_mbps": target / 1e6,
            "answer_packets": found.packets,
        }
        for number, (packets, sample) in enumerate(found.trials)
    ]
    return {"readings": pl.DataFrame(readings), "trials": pl.DataFrame(trials)}


def scenarios(request: Request) -> dict[str, str]:
    """The scenarios that are searched, as TOML by file name."""
    plan = _plan(request)
    return {
        f"senders {cell.senders}, control {cell.control}, flows {cell.flows}": searches.scenario(
            cell, plan.warmup_s + plan.measured_s[cell.flows >= searches.MANY], plan.warmup_s
        ).to_toml()
        for cell in searches.cells(plan)
    }


def oc3_scenarios(request: Request) -> dict[str, str]:
    """The OC-3's scenarios, as TOML by file name."""
    plan = oc3.QUICK if request.quick else oc3.FULL
    return {
        f"flows {flows}": oc3.scenario(flows, plan.duration_s, plan.warmup_s).to_toml()
        for flows in plan.flows
    }


def answers(
    ours: pl.DataFrame, script: pl.DataFrame, known: Mapping[str, Sequence[Measured]]
) -> pl.DataFrame:
    """One row a simulated number of flows: both testbeds, the script's procedure, our search, the bound.

    Args:
        ours: Columns of `searches.search_all`.
        script: Columns of `searches.script_all`.
        known: Medians and ranges of the testbeds, packets.
    """
    rows = []
    senders = ours["senders"][0]
    mine = ours.filter((pl.col("senders") == senders) & (pl.col("control") == CONTROL))
    for row in mine.sort("flows").iter_rows(named=True):
        flows = row["flows"]
        same = (pl.col("control") == CONTROL) & (pl.col("flows") == flows)
        theirs = script.filter(same & (pl.col("senders") == senders))["packets"]
        everybody = script.filter(same)["packets"]
        median = _number(theirs.median())
        rows.append(
            {
                "flows": flows,
                "bound": link_of(TESTBED).bdp_packets / math.sqrt(flows),
                **_columns("mininet", known["mininet"], flows),
                **_columns("hardware", known["hardware"], flows),
                "script": median,
                "script_min": _number(everybody.min()),
                "script_max": _number(everybody.max()),
                "less_burst": max(LEAST_ANSWER, (median or 0.0) - BURST_PACKETS),
                "ours": _number(row["packets"]),
                "ours_low": _number(row["low"]),
                "ours_high": _number(row["high"]),
                **_of_all("ours", ours, flows),
                **_of_all("script", script, flows),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _plan(request: Request) -> searches.Plan:
    return searches.QUICK if request.quick else searches.FULL


def _columns(name: str, points: Sequence[Measured], flows: int) -> dict[str, float | None]:
    found = next((each for each in points if each.flows == flows), None)
    values = (None, None, None) if found is None else (found.median, found.least, found.most)
    return dict(zip((name, f"{name}_min", f"{name}_max"), map(_number, values), strict=True))


def _of_all(name: str, found: pl.DataFrame, flows: int) -> dict[str, float | None]:
    """The median answer with each control and kind of senders; of our search there is one."""
    columns = {}
    for control in searches.CONTROLS:
        for senders in searches.SENDERS:
            own = found.filter(
                pl.col("control") == control, pl.col("senders") == senders, pl.col("flows") == flows
            )
            columns[f"{name}_{control.lower()}_{senders}"] = _number(own["packets"].median())
    return columns


def _number(value: Any) -> float | None:  # noqa: ANN401 - whatever polars gives
    return None if value is None else float(value)
