"""What SplitBuff's text says of figures 4 to 6, as numbers, beside ns-2's and ours.

The figures are lost and the text has no numbers for them, so each statement becomes a quotient and a bound
on it that is ours; `holds` says whether we find what is stated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from bufferlab.evidence.splitbuff.sweep import SENDERS, Queue, Senders

FALLS: Final = 0.5
"""A throughput "decreases substantially" if less than this part of it is left."""

ALIKE: Final = 0.1
"""Two values are "the same" within this part."""

SIMILAR: Final = 0.3
"""Two values are "almost the same" within this part."""

DRAMATIC: Final = 0.5
"""A delay is "reduced dramatically" to less than this part."""


@dataclass(frozen=True)
class _Table:
    """Points of one number of flows, ours or ns-2's."""

    frame: pl.DataFrame

    def value(self, queue: Queue, long_rtt_ms: int, column: str) -> float | None:
        found = self.frame.filter(pl.col("queue") == queue, pl.col("long_rtt_ms") == long_rtt_ms)
        return None if found.is_empty() else found[column][0]

    def quotient(self, top: tuple[Queue, int, str], bottom: tuple[Queue, int, str]) -> float | None:
        above, below = self.value(*top), self.value(*bottom)
        return None if above is None or not below else above / below


@dataclass(frozen=True)
class _Claim:
    """A statement: what to compute of a table, how the text puts it, when it holds, and the wanted value."""

    what: str
    published: str
    value: Callable[[_Table], float | None]
    holds: Callable[[float, _Table], bool]
    target: float | None = None
    unit: str = ""


def compare_fig4(points: pl.DataFrame, ns2: pl.DataFrame) -> pl.DataFrame:
    """Throughputs."""
    near, far = _ends(points)
    long_ = "throughput_long"

    def left(queue: Queue) -> Callable[[_Table], float | None]:
        return lambda table: table.quotient((queue, far, long_), (queue, near, long_))

    def falls_more(value: float, table: _Table) -> bool:
        under_bdp = left("bdp")(table)
        return under_bdp is not None and value < under_bdp

    over_range = _least_over_range(points)
    claims = [
        _Claim(
            f"BDP rule: long flows' throughput, {far} ms over {near} ms",
            "decreases substantially (< 0.5)",
            left("bdp"),
            lambda value, _: value < FALLS,
        ),
        _Claim(
            f"Stanford: long flows' throughput, {far} ms over {near} ms",
            "decreases much more than under the BDP rule",
            left("stanford"),
            falls_more,
        ),
        _Claim(
            "SplitBuff: long over short flows' throughput, least of the range",
            "the same (1)",
            over_range,
            lambda value, _: abs(value - 1.0) < ALIKE,
            1.0,
        ),
    ]
    return _compare(points, ns2, claims, why_throughput)


def compare_fig5(points: pl.DataFrame, ns2: pl.DataFrame) -> pl.DataFrame:
    """Delays at the longest propagation delay."""
    _, far = _ends(points)

    def over_bdp(queue: Queue, column: str) -> Callable[[_Table], float | None]:
        return lambda table: table.quotient((queue, far, column), ("bdp", far, column))

    claims = [
        _Claim(
            "Stanford over BDP rule: mean delay",
            "much lower (< 1)",
            over_bdp("stanford", "delay_ms"),
            lambda value, _: value < 1.0,
        ),
        _Claim(
            "SplitBuff over BDP rule: short flows' delay",
            "reduces dramatically (< 0.5)",
            over_bdp("splitbuff", "delay_short_ms"),
            lambda value, _: value < DRAMATIC,
        ),
        _Claim(
            "SplitBuff over BDP rule: long flows' delay",
            "slightly higher (1 … 1.3)",
            over_bdp("splitbuff", "delay_long_ms"),
            lambda value, _: 1.0 <= value < 1.0 + SIMILAR,
        ),
        _Claim(
            "SplitBuff over BDP rule: mean delay of all packets",
            "less (< 1)",
            over_bdp("splitbuff", "delay_ms"),
            lambda value, _: value < 1.0,
        ),
        _Claim(
            "SplitBuff: loss rate of the short flows",
            "low",
            lambda table: table.value("splitbuff", far, "loss_short_percent"),
            lambda value, table: value <= (table.value("bdp", far, "loss_short_percent") or 0.0),
            unit="%",
        ),
    ]
    return _compare(points, ns2, claims, why_delay)


def compare_fig6(points: pl.DataFrame, ns2: pl.DataFrame) -> pl.DataFrame:
    """Blind-SplitBuff at the longest propagation delay."""
    _, far = _ends(points)

    def blind_over(queue: Queue, column: str) -> Callable[[_Table], float | None]:
        return lambda table: table.quotient(("blind", far, column), (queue, far, column))

    claims = [
        _Claim(
            "Blind over BDP rule: long over short flows' throughput",
            "almost the same trend (1 ± 0.3)",
            blind_over("bdp", "long_over_short"),
            lambda value, _: abs(value - 1.0) < SIMILAR,
            1.0,
        ),
        _Claim(
            "Blind over BDP rule: utilization",
            "improves (> 1)",
            blind_over("bdp", "utilization"),
            lambda value, _: value > 1.0005,
        ),
        _Claim(
            "Blind over BDP rule: mean delay",
            "similar (1 ± 0.3)",
            blind_over("bdp", "delay_ms"),
            lambda value, _: abs(value - 1.0) < SIMILAR,
            1.0,
        ),
        _Claim(
            "Blind over SplitBuff: mean delay",
            "greater (> 1)",
            blind_over("splitbuff", "delay_ms"),
            lambda value, _: value > 1.0,
        ),
    ]
    return _compare(points, ns2, claims, why_blind)


def _ends(points: pl.DataFrame) -> tuple[int, int]:
    trips = points["long_rtt_ms"].unique().sort()
    return int(trips[0]), int(trips[-1])


def _least_over_range(points: pl.DataFrame) -> Callable[[_Table], float | None]:
    """The quotient that is farthest below 1; above 1 the inverse counts, so that neither type may win."""
    trips = [int(trip) for trip in points["long_rtt_ms"].unique().sort()]

    def value(table: _Table) -> float | None:
        quotients = [table.value("splitbuff", trip, "long_over_short") for trip in trips]
        known = [min(each, 1.0 / each) if each else 0.0 for each in quotients if each is not None]
        return min(known, default=None)

    return value


def _compare(
    points: pl.DataFrame,
    ns2: pl.DataFrame,
    claims: Sequence[_Claim],
    why: Callable[[_Claim, Senders, int], str],
) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for claim in claims:
        for senders in SENDERS:
            for flows in points["flows"].unique().sort():
                own = points.filter(pl.col("flows") == flows, pl.col("senders") == senders)
                in_step = ns2.filter(pl.col("flows") == flows) if senders == "in step" else ns2.clear()
                ours, theirs = claim.value(_Table(own)), claim.value(_Table(in_step))
                target = claim.target if claim.target is not None else theirs
                rows.append(
                    {
                        "what": claim.what,
                        "flows": flows,
                        "senders": senders,
                        "unit": claim.unit,
                        "published": claim.published,
                        "ns2": theirs,
                        "ours": ours,
                        "difference_percent": (ours / target - 1.0) * 100.0
                        if ours is not None and target
                        else None,
                        "holds": None if ours is None else claim.holds(ours, _Table(own)),
                        "why": why(claim, senders, int(flows)),
                    }
                )
    return pl.DataFrame(rows, infer_schema_length=None)


_PHASE: Final = (
    "In step, phase decides which type meets the full buffer: the long flows lose ten times as many of "
    "their packets as the short ones, and more, in ns-2 as well; with jitter both lose nearly alike."
)
_FEEDBACK: Final = (
    "Feedback: B follows the mean round-trip time over packets. A few long flows that are slow send few "
    "packets, so the mean, B and their sub-buffer shrink, and they stay slow; the text's example (6187 "
    "packets) takes the mean over flows."
)


def why_throughput(claim: _Claim, senders: Senders, flows: int) -> str:
    """Why figure 4's numbers are as they are."""
    if not claim.what.startswith("SplitBuff"):
        return _PHASE if senders == "in step" else "Equation (3), with the measured delay."
    if flows <= 10:
        return _FEEDBACK
    return "Round robin gives each sub-buffer half of the link, and each has work all the time."


def why_delay(claim: _Claim, _senders: Senders, flows: int) -> str:
    """Why figure 5's numbers are as they are."""
    if claim.what.startswith("Stanford"):
        return "The buffer is smaller by sqrt N."
    if "loss" in claim.what:
        return (
            "The short flows' buffer is their own BDP, at half of the link's rate for twice the wait; from N "
            "= 100 on their windows are two packets or less, and timeouts pace them. Low loss is claimed in "
            "Section V only."
        )
    if flows <= 10:
        return (
            f"{_FEEDBACK} The queue is then nearly empty and the link idle in part: a low delay for no gain."
        )
    if "long" in claim.what:
        return (
            "The long flows' sub-buffer is nearly all of B, drained at half the rate: up to twice B's delay. "
            "B is the BDP of the estimated mean, which is below the true one."
        )
    return "Each type waits behind its own kind."


def why_blind(claim: _Claim, senders: Senders, flows: int) -> str:
    """Why figure 6's numbers are as they are."""
    if "utilization" in claim.what:
        return "A buffer of a BDP keeps the link busy already: nothing is left to improve."
    if flows <= 2:
        return "Each flow is in one of two sub-buffers at random: with two flows, alone in half of the runs."
    if "throughput" in claim.what and senders == "in step":
        return (
            "Round robin of two sub-buffers breaks the phase that starves long flows under the BDP rule; "
            "jitter leaves none to break."
        )
    if "SplitBuff" in claim.what and flows <= 10:
        return _FEEDBACK
    return "Two halves of the buffer at half of the rate: each is a single buffer with half of the flows."
