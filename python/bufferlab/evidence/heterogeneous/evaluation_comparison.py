"""Comparison tables of the heterogeneous-TCP document's figures 9 to 12: published, ns-2, ours, why."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from bufferlab.evidence.heterogeneous import published
from bufferlab.evidence.heterogeneous.evaluation import ROUND_TRIPS_MS, Evaluation, rule_packets
from bufferlab.evidence.heterogeneous.hosts import LINUX_HOSTS, NS2_HOSTS, bdp_packets
from bufferlab.evidence.heterogeneous.reasons import (
    WHY_DEVIATION,
    WHY_FIG9,
    WHY_FIG10,
    WHY_FIG12,
    WHY_LOSS,
    WHY_NS2,
    WHY_SINGLE,
)
from bufferlab.evidence.heterogeneous.settings import AS_PUBLISHED, MIX, VARIANTS, Variant
from bufferlab.theory import heterogeneous as theory
from bufferlab.theory.characteristic import TABLE_III
from bufferlab.theory.protocols import PROTOCOLS

_SHORT_MS, _STATED_MS = ROUND_TRIPS_MS[2:]
_THIRDS: Final = {"BDP3 of 90 ms": _SHORT_MS, "BDP3 of 18 MB": _STATED_MS}


@dataclass(frozen=True)
class _Target:
    """What is compared at each point.

    Attributes:
        statement: What it is.
        unit: Its unit.
        column: Name of the measure.
        value: The published number.
        bound: `""`, or `">"` and the like if it is a bound only.
        in_percent: Whether a difference in per cent means something: not for what lies around 0.
    """

    statement: str
    unit: str
    column: str
    value: float | None = None
    bound: str = ""
    in_percent: bool = True

    @property
    def published(self) -> str | None:
        return None if self.value is None else f"{self.bound}{self.value:.4g}"


def compare_fig9(evaluation: Evaluation) -> pl.DataFrame:
    """Utilization with the buffers of (7)."""
    target = _Target("mean utilization", "", "utilization", published.FIG9_UTILIZATION, "≥")
    return _frame(_each_point(evaluation, target, WHY_FIG9))


def compare_fig10(evaluation: Evaluation) -> pl.DataFrame:
    """Mean of W over (1)'s bound, and why delta is larger than (6) says."""
    target = _Target("mean of W / bound of (1)", "", "mean_over_bound", published.FIG10_RATIO)
    rows = [
        *_each_point(evaluation, target, WHY_FIG10),
        *_deviations(evaluation),
        *_single_flows(evaluation),
    ]
    return _frame(rows)


def compare_fig11(evaluation: Evaluation) -> pl.DataFrame:
    """Lowest utilization and loss of the three BDPs, every point, and the buffer over (7)'s."""
    rows = [*_lowest(evaluation), _more_buffer()]
    for target, why in (
        (_Target("mean utilization", "", "utilization"), WHY_FIG9),
        (_Target("loss rate", "", "loss"), WHY_LOSS),
    ):
        rows += _each_point(evaluation, target, why)
    return _frame(rows)


def compare_fig12(evaluation: Evaluation) -> pl.DataFrame:
    """Buffer minus (10)'s bound."""
    target = _Target(
        "buffer - bound of (10)", "% of BDP", "margin", published.FIG12_MARGIN, ">", in_percent=False
    )
    with_margin = Evaluation(
        evaluation.runs,
        _with_margin(evaluation.points, pl.col("buffer_packets")),
        evaluation.windows,
        _with_margin(evaluation.ns2, pl.col("limit_packets") - 1),
        evaluation.notes,
    )
    return _frame(_each_point(with_margin, target, WHY_FIG12))


def _each_point(evaluation: Evaluation, target: _Target, why: dict[str, str]) -> Iterator[dict[str, Any]]:
    """A row for each sort of hosts and BDP; ns-2 stands beside the hosts that are set as its own."""
    for hosts in LINUX_HOSTS:
        for rtt_ms in ROUND_TRIPS_MS:
            points = [_point(evaluation.points, hosts.name, variant, rtt_ms) for variant in VARIANTS]
            yield _row(
                f"{_bdp_name(rtt_ms)}: {target.statement}", target, hosts.name, points, why=why[hosts.name]
            )
    for hosts in NS2_HOSTS:
        theirs = evaluation.ns2.filter(pl.col("spread") == hosts.ns2_spread)
        ours = evaluation.points.filter(pl.col("hosts") == hosts.name)
        for rtt_ms in ours["rtt_ms"]:
            target_alone = dataclasses.replace(target, value=None)
            point = _point(ours, hosts.name, AS_PUBLISHED, rtt_ms)
            ns2 = theirs.row(by_predicate=pl.col("rtt_ms") == rtt_ms, named=True)
            statement = f"{_bdp_name(rtt_ms)}: {target.statement}"
            yield _row(statement, target_alone, hosts.name, [point], why=WHY_NS2, ns2=ns2)


def _row(
    statement: str,
    target: _Target,
    hosts: str,
    points: Sequence[dict[str, Any]],
    *,
    why: str,
    ns2: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """One row; `points` are as published and, if there is a second, corrected."""
    ours, theirs = points[0][target.column], None if ns2 is None else ns2[target.column]
    corrected = points[1][target.column] if len(points) > 1 else None
    return {
        "what": statement,
        "unit": target.unit,
        "hosts": hosts,
        "published": target.published,
        "ns2": theirs,
        "ns2_min": None if ns2 is None else ns2.get(f"{target.column}_min"),
        "ns2_max": None if ns2 is None else ns2.get(f"{target.column}_max"),
        "as_published": ours,
        "as_published_min": points[0].get(f"{target.column}_min"),
        "as_published_max": points[0].get(f"{target.column}_max"),
        "corrected": corrected,
        "difference_percent": _percent(ours, target.value if theirs is None else theirs)
        if target.in_percent
        else None,
        "why": why,
    }


def _percent(ours: float, other: float | None) -> float | None:
    """To the published number, or to ns-2's where its settings are simulated."""
    return None if other is None else (ours / other - 1.0) * 100.0


def _frame(rows: Iterator[dict[str, Any]] | Sequence[dict[str, Any]]) -> pl.DataFrame:
    texts = ("what", "unit", "hosts", "published", "why")
    rows = list(rows)
    return pl.DataFrame(rows, schema={name: pl.String if name in texts else pl.Float64 for name in rows[0]})


def _point(points: pl.DataFrame, hosts: str, variant: Variant, rtt_ms: float) -> dict[str, Any]:
    found = points.filter(
        pl.col("hosts") == hosts, pl.col("variant") == variant.name, pl.col("rtt_ms") == rtt_ms
    )
    return found.row(0, named=True)


def _bdp_name(rtt_ms: float) -> str:
    if rtt_ms < _SHORT_MS:
        return f"BDP{ROUND_TRIPS_MS.index(rtt_ms) + 1} ({rtt_ms:g} ms)"
    return "BDP3 (90 ms)" if rtt_ms == _SHORT_MS else f"BDP3 (18 MB, {rtt_ms:g} ms)"


def _lowest(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """The lowest of the three BDPs' means, with either reading of the third."""
    for target, why in (
        (_Target("lowest mean utilization", "", "utilization", published.FIG11_LEAST_UTILIZATION), WHY_FIG9),
        (_Target("lowest loss rate", "", "loss", published.FIG11_LEAST_LOSS), WHY_LOSS),
    ):
        for hosts in LINUX_HOSTS:
            for name, third in _THIRDS.items():
                lowest = []
                for variant in VARIANTS:
                    points = [
                        _point(evaluation.points, hosts.name, variant, rtt_ms)
                        for rtt_ms in (*ROUND_TRIPS_MS[:2], third)
                    ]
                    lowest.append(min(points, key=lambda point: float(point[target.column])))
                statement = f"{target.statement}, {name}"
                yield _row(statement, target, hosts.name, lowest, why=why[hosts.name])


def _more_buffer() -> dict[str, Any]:
    target = _Target("", "%", "increase", published.FIG11_MORE_BUFFER)
    increases = [
        {
            "increase": (
                rule_packets("both", variant, _STATED_MS) / rule_packets("utilization", variant, _STATED_MS)
                - 1.0
            )
            * 100.0
        }
        for variant in VARIANTS
    ]
    why = "From theory, see fig6; here in whole packets."
    return _row("buffer of (14) over that of (7)", target, "all", increases, why=why)


def _deviations(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """delta/mu as measured, and what independent flows with the measured windows would have."""
    characteristics = [AS_PUBLISHED.characteristics[name] for name in MIX]
    a = theory.mix_characteristic(characteristics, list(MIX.values()))
    predicted = float(theory.relative_deviation(a, sum(MIX.values())))
    for target in (
        _Target("delta/mu of W, against (6)", "", "deviation", predicted),
        _Target("delta/mu of W, were windows independent", "", "deviation_independent"),
    ):
        for hosts in LINUX_HOSTS:
            for rtt_ms in ROUND_TRIPS_MS:
                points = [_point(evaluation.points, hosts.name, variant, rtt_ms) for variant in VARIANTS]
                relative = [{target.column: point[target.column] / point["mean_windows"]} for point in points]
                statement = f"{_bdp_name(rtt_ms)}: {target.statement}"
                yield _row(statement, target, hosts.name, relative, why=WHY_DEVIATION)


def _single_flows(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """The characteristic value of each control's flows, mean over the BDPs, against Table III's."""
    for name in MIX:
        target = _Target("", "", "characteristic", TABLE_III[name][1])
        for hosts in LINUX_HOSTS:
            means = [
                {"characteristic": _characteristic(evaluation, hosts.name, variant, name)}
                for variant in VARIANTS
            ]
            title = PROTOCOLS[name].title.split(" (")[0]
            yield _row(f"{title}: a of one flow's window", target, hosts.name, means, why=WHY_SINGLE)


def _characteristic(evaluation: Evaluation, hosts: str, variant: Variant, name: str) -> float:
    found = evaluation.windows.filter(
        pl.col("hosts") == hosts, pl.col("variant") == variant.name, pl.col("control") == name
    )
    return float(found["characteristic"].to_numpy().mean())


def _with_margin(points: pl.DataFrame, buffer_packets: pl.Expr) -> pl.DataFrame:
    unit = pl.Series([bdp_packets(rtt_ms) / 100.0 for rtt_ms in points["rtt_ms"]])
    ends = {
        "margin": "bound_10_packets",
        "margin_min": "bound_10_packets_max",
        "margin_max": "bound_10_packets_min",
    }
    return points.with_columns(
        ((buffer_packets - pl.col(bound)) / unit).alias(name) for name, bound in ends.items()
    )
