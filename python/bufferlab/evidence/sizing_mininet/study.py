"""Sizing Router Buffers on Mininet-HiFi (V. Jeyakumar, N. Handigol, B. Heller and B. Lantz, 2012).

The document's `fig_fidelity`, the deviation of inter-dequeue times from the ideal, is about an emulator's
clock; a simulator has none, so it is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from bufferlab.evidence.registry import Reproduced, Request, reproduction
from bufferlab.evidence.sizing_mininet import oc3, runs
from bufferlab.evidence.sizing_mininet.figures import draw_min_buffer, draw_oc3, draw_trace
from bufferlab.evidence.sizing_mininet.published import HARDWARE, MININET, Measured, read_measured, summarized
from bufferlab.evidence.sizing_mininet.runs import BDP_PACKETS, RATE_BPS, Cell
from bufferlab.studies.search.plain import Bisected

CITATION: Final = (
    "V. Jeyakumar, N. Handigol, B. Heller and B. Lantz, Sizing Router Buffers (on Mininet-HiFi), Reproducing "
    "Network Research, 2012"
)

CONTROL: Final = "BIC"
"""What the testbed's script asks of its hosts, and so what is compared."""

BURST_PACKETS: Final = 10
"""The script shapes with HTB and a burst of 15 kB. A token bucket of so many packets drops what a
link with so much more buffer would: idle time is made up for."""

LEAST_ANSWER: Final = 2
"""The script's bisection ends between 1 and 2 packets and says 2."""

TRACE_FLOWS: Final = 50

_FEW: Final = 20
_MANY: Final = 200


@reproduction(
    name="sizing-mininet/fig_min_buffer",
    title="least buffer for 98 % at 62.5 Mbps and 87 ms with 2 to 800 flows, beside two testbeds",
    citation=CITATION,
)
def fig_min_buffer(request: Request) -> Reproduced:
    """Our search and the script's over the number of flows, for three controls and three kinds of senders."""
    plan = runs.QUICK if request.quick else runs.FULL
    raw = None if request.measured is None else read_measured(request.measured)
    testbeds = {"mininet": MININET, "hardware": HARDWARE} if raw is None else summarized(raw)
    script = runs.script_all(plan, request)
    ours = runs.search_all(plan, request)
    tables = {"ours": ours, "script": script, "testbeds": _frame(testbeds)}
    return Reproduced(
        name="sizing-mininet/fig_min_buffer",
        tables=tables if raw is None else tables | {"measured": raw},
        figures={"fig_min_buffer": draw_min_buffer(ours, script, testbeds, BDP_PACKETS, raw)},
        comparison=compare(ours, script, testbeds),
        notes=_notes(plan, request),
    )


@reproduction(
    name="sizing-mininet/fig_oc3",
    title="least buffer for 98, 99.5 and 99.9 % of an OC-3, mean round-trip time 80 ms, against RTT·C/√n",
    citation="G. Appenzeller, I. Keslassy and N. McKeown, Sizing Router Buffers, SIGCOMM 2004, figure 10",
)
def fig_oc3(request: Request) -> Reproduced:
    """The original ns-2 figure."""
    plan = oc3.QUICK if request.quick else oc3.FULL
    points = oc3.search_oc3(plan, request)
    rows = [
        {
            "what": f"least buffer for {row['target'] * 100:g} %, packets",
            "flows": row["flows"],
            "published": "closely RTT·C/√n" if row["target"] == oc3.TARGETS[0] else "above it",
            "bound": round(oc3.BDP_PACKETS / math.sqrt(row["flows"])),
            "ours": _number(row["packets"]),
            "ours_min": _number(row["low"]),
            "ours_max": _number(row["high"]),
            "over_bound": _over(row["packets"], oc3.BDP_PACKETS / math.sqrt(row["flows"])),
            "why": _OC3_WHY,
        }
        for row in points.iter_rows(named=True)
    ]
    return Reproduced(
        name="sizing-mininet/fig_oc3",
        tables={"points": points},
        figures={"fig_oc3": draw_oc3(points, oc3.BDP_PACKETS)},
        comparison=pl.DataFrame(rows, infer_schema_length=None),
        notes=(
            f"155 Mbps, ns-2's Sack1 hosts, packets of {oc3.WIRE_BYTES} bytes on the wire, round-trip times "
            f"of {oc3.RTT_MS:g} ms ± {oc3.SPREAD * 100:g} %, evenly spaced (the document gives the mean "
            f"only), runs of {plan.duration_s:g} s measured from {plan.warmup_s:g} s.",
            "The figure's numbers are lost; the text says that the curve of 98 % closely tracks RTT·C/√n.",
            f"A bandwidth-delay product is {oc3.BDP_PACKETS} packets, which is also the largest buffer "
            "tried.",
        ),
    )


@reproduction(
    name="sizing-mininet/fig_trace",
    title="rate and buffer over the course of one of the script's binary searches, 50 flows",
    citation=CITATION,
)
def fig_trace(request: Request) -> Reproduced:
    """One run of the script's own procedure."""
    found = runs.scripted(Cell("jitter", CONTROL, TRACE_FLOWS), request.seeds or 1)
    assert found is not None  # noqa: S101 - nothing cancels it
    target = runs.TARGET * found.full_rate_bps
    trials = [
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
    title = f"the script's search, {TRACE_FLOWS} flows of {CONTROL}: {found.packets} packets"
    return Reproduced(
        name="sizing-mininet/fig_trace",
        tables={"readings": pl.DataFrame(trials)},
        figures={"fig_trace": draw_trace(found, found.packets, RATE_BPS, title)},
        comparison=_trace_comparison(found, target),
        notes=(
            "Calibration at 453 packets: 10 readings of a second left out, the median of 30 is 100 %. Each "
            "trial: 3 s, then the median of 3 readings decides. --seeds K shows the run with seed K.",
            "The document's trace is lost; it shows low samples, which its authors put down to the "
            "hypervisor. A simulated link has none: what varies here is TCP.",
        ),
    )


def compare(
    ours: pl.DataFrame, script: pl.DataFrame, testbeds: Mapping[str, Sequence[Measured]]
) -> pl.DataFrame:
    """One row a simulated number of flows: both testbeds, the script's procedure, our search, the bound.

    Args:
        ours: Columns of `sizing_mininet_runs.search_all`.
        script: Columns of `sizing_mininet_runs.script_all`.
        testbeds: Medians and ranges, packets.
    """
    rows = []
    senders = ours["senders"][0]
    mine = ours.filter((pl.col("senders") == senders) & (pl.col("control") == CONTROL))
    for row in mine.sort("flows").iter_rows(named=True):
        flows = row["flows"]
        same = (pl.col("control") == CONTROL) & (pl.col("flows") == flows)
        theirs = script.filter(same & (pl.col("senders") == senders))["packets"]
        everybody = script.filter(same)["packets"]
        rows.append(
            {
                "flows": flows,
                "bound": round(BDP_PACKETS / math.sqrt(flows)),
                **_columns("mininet", testbeds["mininet"], flows),
                **_columns("hardware", testbeds["hardware"], flows),
                "script": _number(theirs.median()),
                "script_min": _number(everybody.min()),
                "script_max": _number(everybody.max()),
                "less_burst": max(LEAST_ANSWER, (_number(theirs.median()) or 0.0) - BURST_PACKETS),
                "ours": _number(row["packets"]),
                "ours_min": _number(row["low"]),
                "ours_max": _number(row["high"]),
                **_others(ours.filter((pl.col("senders") == senders) & (pl.col("flows") == flows))),
                "why": why(flows),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def why(flows: int) -> str:
    """Why the testbeds' answers and ours differ."""
    if flows <= _FEW:
        return _FEW_WHY
    return _MANY_WHY if flows >= _MANY else _MIDDLE_WHY


_FEW_WHY: Final = (
    "2 to 20 flows: how far the senders keep step decides most, see the range over them; the testbed's are "
    "not known. The script's medians of three seconds see a part of a cycle only, so one of its searches "
    "differs from the next. BIC and CUBIC need less than RTT·C/√n because they give up a fifth or a third "
    "of the window, not half."
)
_MIDDLE_WHY: Final = (
    "50 and 100 flows: ours is below the testbeds at 100. What keeps flows apart matters by a factor of two "
    "here, too; access links and segmentation offload do not explain the rest, and we do not know what does."
)
_MANY_WHY: Final = (
    "200 flows and more: the bandwidth-delay product is two packets a flow and less, so timeouts rule, the "
    "link is always asked for more than it carries, and a handful of packets fill it. The testbed's 2 is "
    "the least that its script can say (it stops between 1 and 2), and its shaper's burst of 15 kB makes up "
    "for idle time as 10 more packets of buffer do: 'less burst' is the script's answer with those taken "
    "off."
)
_OC3_WHY: Final = (
    "Round trips of ± 50 % keep the flows apart; with one round-trip time and no jitter they would halve in "
    "step and need more."
)


def _columns(name: str, points: Sequence[Measured], flows: int) -> dict[str, float | None]:
    found = next((each for each in points if each.flows == flows), None)
    values = (None, None, None) if found is None else (found.median, found.least, found.most)
    return dict(zip((name, f"{name}_min", f"{name}_max"), map(_number, values), strict=True))


def _runs(count: int) -> str:
    return "a run" if count == 1 else f"{count} runs"


def _others(rows: pl.DataFrame) -> dict[str, float | None]:
    """Our answers for the other congestion controls."""
    others = rows.filter(pl.col("control") != CONTROL).select("control", "packets").iter_rows()
    return {f"ours_{control.lower()}": _number(packets) for control, packets in others}


def _number(value: Any) -> float | None:  # noqa: ANN401 - whatever polars gives
    return None if value is None else float(value)


def _over(packets: float | None, bound: float) -> float | None:
    return None if packets is None else round(packets / bound, 2)


def _frame(testbeds: Mapping[str, Sequence[Measured]]) -> pl.DataFrame:
    rows = [{"testbed": name} | vars(each) for name, points in testbeds.items() for each in points]
    return pl.DataFrame(rows, infer_schema_length=None)


def _trace_comparison(found: Bisected, target_bps: float) -> pl.DataFrame:
    rows = [
        {
            "trial": number,
            "buffer_packets": packets,
            "median_mbps": sample.rate_bps / 1e6,
            "least_mbps": min(sample.readings_bps) / 1e6,
            "most_mbps": max(sample.readings_bps) / 1e6,
            "kept": "calibration" if number == 0 else "yes" if sample.rate_bps >= target_bps else "no",
        }
        for number, (packets, sample) in enumerate(found.trials)
    ]
    return pl.DataFrame(rows)


def _notes(plan: runs.Plan, request: Request) -> tuple[str, ...]:
    notes = [
        "62.5 Mbps, 87 ms, Linux hosts, starts a millisecond apart. 'script': the testbed's own procedure "
        f"on one live run, 98 % of a calibrated rate, {_runs(request.seeds or plan.script_runs)}; median "
        f"with jitter, range over all kinds of senders. 'ours': fresh runs of {plan.measured_s[0]:g} s "
        f"({plan.measured_s[1]:g} s from 100 flows on), in parentheses the {plan.effort.confidence * 100:g} "
        f"% interval; both {CONTROL}, which the script asks of its hosts, with up to 1 ms of jitter in the "
        "senders. Other controls and senders: tables.",
        "bound: RTT·C/√n. Testbeds: medians and ranges of the authors' runs, packets of 1500 bytes"
        + (" (files read)." if request.measured else "."),
        "fig_fidelity (inter-dequeue times) is about an emulator's clock and has no meaning here.",
    ]
    if request.quick:
        notes.append("Quick: few points, short runs: shows that it works, not what the document found.")
    return tuple(notes)
