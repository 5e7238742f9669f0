"""Studies beyond SplitBuff's document: the pieces, and what the quick runs must show."""

from __future__ import annotations

import polars as pl
import pytest

import bufferlab
from bufferlab.evidence import Reproduced, reproduce
from bufferlab.evidence.splitbuff.beyond import classes, sources, threshold, traffic, unequal
from bufferlab.evidence.splitbuff.beyond.cases import QUICK, Case, group, measure, scenario
from bufferlab.scenario import Scenario

CASES = {
    "classes": classes.classes_cases(QUICK),
    "sources": sources.sources_cases(QUICK),
    "threshold": threshold.threshold_cases(QUICK),
    "traffic": traffic.traffic_cases(QUICK),
    "unequal": unequal.unequal_cases(QUICK),
}


def value(frame: pl.DataFrame, column: str, **keys: object) -> float:
    """The one value of a column in the row with these keys."""
    found = frame.filter(*(pl.col(name) == wanted for name, wanted in keys.items()))
    assert found.height == 1
    return float(found[column][0])


def quick(study: str) -> Reproduced:
    return reproduce(f"splitbuff-beyond/{study}", quick=True, progress=False)


@pytest.mark.parametrize("study", CASES)
def test_cases_are_scenarios_told_apart_by_their_keys(study: str) -> None:
    cases: list[Case] = CASES[study]
    assert len({tuple(case.keys.values()) for case in cases}) == len(cases)
    assert len({tuple(case.keys) for case in cases}) == 1
    for case in cases:
        assert Scenario.from_dict(case.scenario).links[0].rate_bps == 100e6


def test_kinds_are_measured_over_groups_and_those_aside_are_not_judged() -> None:
    flows = [
        group("short-1", 2, "10 ms"),
        group("short-2", 2, "10 ms"),
        group("long", 2, "50 ms"),
        group("aside-late", 1, "10 ms", start="59 s"),
    ]
    result = bufferlab.run(scenario({"buffer": "1 bdp"}, flows, QUICK), progress=False)[0]
    row = measure(result)
    judged = result.flows.filter(pl.col("group") != "aside-late")["goodput_bps"]
    short = result.flows.filter(pl.col("group").str.starts_with("short"))["goodput_bps"]
    assert row["goodput_short_mbps"] == pytest.approx(sum(short) / 4e6)
    assert row["fairness"] == pytest.approx(sum(judged) ** 2 / 6 / sum(rate**2 for rate in judged))
    waits = result.queues.filter(pl.col("group").str.starts_with("short"))
    assert waits["wait_mean_ms"].min() <= row["wait_short_ms"] <= waits["wait_mean_ms"].max()


def test_weighted_sub_buffers_are_nearly_as_fair_as_a_queue_a_flow() -> None:
    study = quick("unequal")
    weighted = study.comparison.filter(pl.col("bound").is_not_null())
    assert weighted["ours"].min() > 0.85  # type: ignore[operator]
    for mix in ("90 short, 10 long", "10 short, 90 long"):
        assert weighted.filter(pl.col("what").str.starts_with(mix))["holds"].to_list() == [True]
        # round robin between classes turns unequal numbers into unequal rates
        assert value(study.tables["points"], "fairness", mix=mix, queue="SplitBuff") < 0.5


def test_flows_of_one_round_trip_time_are_overtaken_at_the_mean_and_not_in_gaps() -> None:
    points = quick("threshold").tables["points"].filter(pl.col("flows") == "all at 50 ms")
    assert value(points, "reordered_percent", queue="one buffer") == 0
    assert value(points, "reordered_percent", queue="SplitBuff") > 0.5
    assert value(points, "spurious_percent", queue="SplitBuff") > 0.1
    assert value(points, "reordered_percent", queue="gaps") < 0.1


def test_a_small_table_costs_fairness_and_a_handshake_tells_the_truth() -> None:
    points = quick("sources").tables["points"].filter(pl.col("queue") == "SplitBuff")
    handshake = points.filter(pl.col("source") == "handshake(1024 flows)")
    assert handshake["error_percent"][0] < 10
    states = dict(points.select("source", "state_bytes").iter_rows())
    assert states["header"] < states["timestamps(64 flows)"] < states["timestamps(1024 flows)"]
    assert value(points, "fairness", source="timestamps(64 flows)") < value(
        points, "fairness", source="timestamps(1024 flows)"
    )


def test_gaps_with_weights_are_fair_for_every_law() -> None:
    points = quick("classes").tables["points"].filter(pl.col("kind") == "in gaps, weighted")
    assert points["law"].n_unique() == len(classes.LAWS)
    assert points["fairness"].min() > 0.6  # type: ignore[operator]


def test_traffic_has_every_kind_and_queue() -> None:
    study = quick("traffic")
    assert study.comparison.height == len(traffic.TRAFFIC) * len(traffic.COMPARED)
    assert study.comparison["Jain's index"].null_count() == 0
    times = study.tables["points"].filter(pl.col("transfer_p50_s").is_not_null())
    assert times["traffic"].unique().to_list() == ["short transfers"]
