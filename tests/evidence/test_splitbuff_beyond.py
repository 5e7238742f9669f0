"""Studies beyond SplitBuff's document: the pieces, and what the quick runs must show."""

from __future__ import annotations

import polars as pl
import pytest

import bufferlab
from bufferlab.evidence import Reproduced, Request, reproduce
from bufferlab.evidence.documents import bundled_documents
from bufferlab.evidence.simulated import scenarios_of
from bufferlab.evidence.splitbuff_beyond.measures import kinds

DOCUMENT = next(each for each in bundled_documents() if each.name == "splitbuff-beyond")
QUICK = Request(quick=True)


def value(frame: pl.DataFrame, column: str, **keys: object) -> float:
    """The one value of a column in the row with these keys."""
    found = frame.filter(*(pl.col(name) == wanted for name, wanted in keys.items()))
    assert found.height == 1
    return float(found[column][0])


def quick(study: str) -> Reproduced:
    return reproduce(f"splitbuff-beyond/{study}", quick=True, progress=False)


@pytest.mark.parametrize("study", DOCUMENT.runs)
def test_points_are_scenarios(study: str) -> None:
    for request in (QUICK, Request()):
        scenarios = scenarios_of(DOCUMENT, DOCUMENT.runs[study], request)
        assert all(each.links[0]["rate_bps"] == 100e6 for each in scenarios.values())


def test_a_changing_mix_changes_as_measuring_begins() -> None:
    for request, begins in ((QUICK, "15 s"), (Request(), "50 s")):
        scenarios = scenarios_of(DOCUMENT, DOCUMENT.runs["traffic"], request)
        text = scenarios["changing mix", "SplitBuff"].to_toml()
        assert f'stop = "{begins}"' in text
        assert f'start = "{begins}"' in text


def test_kinds_are_measured_over_groups_and_those_aside_are_not_judged() -> None:
    def group(name: str, count: int, rtt: str, start: str = "0 s") -> dict[str, object]:
        return {"name": name, "count": count, "rtt": rtt, "start": start}

    scenario = {
        "run": {"duration": "20 s", "warmup": "5 s"},
        "bottleneck": {"rate": "100 Mbps", "delay": "1 ms", "buffer": "1 bdp"},
        "flows": [
            group("short-1", 2, "10 ms"),
            group("short-2", 2, "10 ms"),
            group("long", 2, "50 ms"),
            group("aside-late", 1, "10 ms", start="19 s"),
        ],
    }
    result = bufferlab.run(scenario, progress=False)[0]
    row = kinds(result, {})
    judged = result.flows.filter(pl.col("group") != "aside-late")["goodput_bps"]
    short = result.flows.filter(pl.col("group").str.starts_with("short"))["goodput_bps"]
    assert row["goodput_short_mbps"] == pytest.approx(sum(short) / 4e6)
    assert row["fairness"] == pytest.approx(sum(judged) ** 2 / 6 / sum(rate**2 for rate in judged))
    waits = result.queues.filter(pl.col("group").str.starts_with("short"))
    assert waits["wait_mean_ms"].min() <= row["wait_short_ms"] <= waits["wait_mean_ms"].max()


def test_weighted_sub_buffers_are_nearly_as_fair_as_a_queue_a_flow() -> None:
    study = quick("unequal")
    assert study.comparison["ours"].min() > 0.85  # type: ignore[operator]
    for mix in ("90 short, 10 long", "10 short, 90 long"):
        weighted = study.comparison.filter(pl.col("setting").str.contains(mix))
        assert weighted["verdict"].to_list() == ["agrees"]
        # round robin between classes turns unequal numbers into unequal rates
        assert value(study.tables["points"], "fairness", mix=mix, queue="SplitBuff") < 0.5


def test_flows_of_one_round_trip_time_are_reordered_at_the_mean_and_not_in_gaps() -> None:
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
    assert points["law"].n_unique() == len(DOCUMENT.runs["classes"].full.vary["law"])
    assert points["fairness"].min() > 0.6  # type: ignore[operator]


def test_traffic_has_every_kind_and_queue() -> None:
    study = quick("traffic")
    points = study.tables["points"]
    vary = DOCUMENT.runs["traffic"].full.vary
    assert points.height == len(vary["traffic"]) * len(vary["queue"])
    assert points["fairness"].null_count() == 0
    times = study.tables["points"].filter(pl.col("transfer_p50_s").is_not_null())
    assert times["traffic"].unique().to_list() == ["short transfers"]
