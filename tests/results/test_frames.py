"""Frames, worked out by hand from the outcome in conftest.py."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from bufferlab.plan import plan_of
from bufferlab.results.engine_frames import from_outcome
from bufferlab.results.groups import by_group
from bufferlab.results.result import Result
from bufferlab.scenario import Seeded

from ..conftest import small


def row(frame: pl.DataFrame, **keys: object) -> dict[str, Any]:
    return frame.filter(**keys).row(0, named=True)


def test_goodput_is_payload_over_the_measured_window(result: Result) -> None:
    assert result.measured_s == 10
    assert result.flows["goodput_bps"].to_list() == [4000, 2000, 1000]


def test_flows_have_names_and_human_units(result: Result) -> None:
    flow = row(result.flows, flow=1)
    assert (flow["seed"], flow["group"], flow["start_s"]) == (7, "near", 1.0)
    assert (flow["propagation_ms"], flow["rtt_ms"]) == (20.0, 80.0)
    assert (flow["finished_s"], flow["completion_s"]) == (5.0, 4.0)


def test_what_a_flow_does_not_have_is_null(result: Result) -> None:
    flow = row(result.flows, flow=2)
    assert flow["rtt_ms"] is None
    assert flow["finished_s"] is None
    assert flow["completion_s"] is None


def test_loss_is_drops_over_arrivals(result: Result) -> None:
    assert row(result.queues, group="near")["loss"] == pytest.approx(0.1)
    assert row(result.queues, group="far")["loss"] is None


def test_an_engine_without_marks_has_marked_none(result: Result) -> None:
    assert result.queues["marked_packets"].to_list() == [0, 0, 0]
    names = result.queues.columns
    assert names.index("lost_packets") < names.index("marked_packets") < names.index("wait_mean_ms")


def test_utilization_is_departed_bits_over_what_the_link_could_carry(result: Result) -> None:
    queue = row(result.queues, group="all")
    assert queue["throughput_bps"] == pytest.approx(7200)
    assert queue["utilization"] == pytest.approx(0.9)


def test_wait_quantiles_come_from_the_histogram_and_stay_below_the_longest(result: Result) -> None:
    queue = row(result.queues, group="all")
    assert queue["wait_p50_ms"] == 0
    assert queue["wait_p95_ms"] == pytest.approx(150)  # 187.5 within the bucket, but none waited so long
    assert queue["wait_mean_ms"] == pytest.approx(60)
    assert queue["wait_max_ms"] == 150


def test_a_group_without_packets_has_no_wait(result: Result) -> None:
    queue = row(result.queues, group="far")
    names = ["wait_mean_ms", "wait_p50_ms", "wait_p95_ms", "wait_p99_ms", "wait_max_ms"]
    assert [queue[name] for name in names] == [None] * 5


def test_backlog_belongs_to_all_groups_together(result: Result) -> None:
    expected = {
        "backlog_mean_packets": 4.5,
        "backlog_p1_packets": 1,
        "backlog_p50_packets": 4,
        "backlog_p95_packets": 9,
        "backlog_p99_packets": 11,
        "backlog_max_packets": 12,
        "backlog_mean_bytes": 450.0,
        "backlog_max_bytes": 1200,
        "empty_fraction": 0.03,
    }
    assert {name: row(result.queues, group="all")[name] for name in expected} == expected
    assert [row(result.queues, group="near")[name] for name in expected] == [None] * len(expected)


def test_histograms_are_in_milliseconds(result: Result) -> None:
    bucket = row(result.histograms, group="all", packets=40)
    assert (bucket["link"], bucket["lower_ms"], bucket["upper_ms"]) == ("west", 100.0, 200.0)


def test_classes_are_counted_as_groups_are(result: Result) -> None:
    first, second = result.classes.to_dicts()
    assert (first["link"], first["class"], first["throughput_bps"]) == ("west", 0, pytest.approx(7200))
    assert (first["wait_p95_ms"], first["wait_max_ms"]) == (pytest.approx(150), 150)
    assert (first["marked_packets"], second["marked_packets"]) == (8, 0)
    assert (second["loss"], second["wait_mean_ms"]) == (None, None)


def test_class_samples_leave_out_what_is_not_known(result: Result) -> None:
    samples = result.class_samples
    assert samples["class"].to_list() == [None, 0, 1]
    assert samples["limit_packets"].to_list() == [20, 5, 15]
    assert samples["limit_bytes"].null_count() == 3
    assert samples["threshold_ms"].to_list() == [None, 40, None]
    assert samples["rtt_ms"].to_list() == [40, 20, None]
    assert samples["flows"].to_list() == [None, 2, 1]
    assert samples["state_bytes"].to_list() == [1000, 300, 300]


def test_queue_samples_give_the_rate_of_each_interval(result: Result) -> None:
    samples = result.queue_samples
    assert samples["time_s"].to_list() == [0, 1, 2]
    assert samples["throughput_bps"].to_list() == [None, 8000, 4000]


def test_flow_samples_join_sender_and_receiver(result: Result) -> None:
    samples = result.flow_samples
    assert samples["flow"].to_list() == [0, 0, 2, 2]
    assert samples["group"].to_list() == ["near", "near", "far", "far"]
    assert samples["cwnd_segments"].to_list() == [2, 4, 10, 11]
    assert samples["srtt_ms"].to_list() == [None, 20, 50, 50]
    assert samples["rtt_sample_ms"].to_list() == [None, 24, 48, 48]
    assert samples["goodput_bps"].to_list() == [800, 1600, 4000, 0]


def test_a_flow_without_sender_samples_keeps_its_goodput(outcome: Any, seeded: Seeded) -> None:
    tables = outcome.tables
    tables["sender_samples"] = tables["sender_samples"].clear()
    samples = from_outcome(outcome, seeded.resolved, plan_of(seeded)).flow_samples
    assert samples["goodput_bps"].to_list() == [800, 1600, 4000, 0]
    assert samples["cwnd_segments"].null_count() == 4


def test_a_run_without_samples_has_empty_frames_with_the_same_columns(
    outcome: Any, seeded: Seeded, result: Result
) -> None:
    for name in ("queue_samples", "sender_samples", "receiver_samples"):
        outcome.tables[name] = outcome.tables[name].clear()
    frames = from_outcome(outcome, seeded.resolved, plan_of(seeded))
    assert frames.queue_samples.is_empty()
    assert frames.queue_samples.schema == result.queue_samples.schema
    assert frames.flow_samples.schema == result.flow_samples.schema


@pytest.mark.parametrize("time_ms", [60, 70, 123, 1001, 10**6 + 1])
def test_whole_milliseconds_stay_whole(outcome: Any, seeded: Seeded, time_ms: int) -> None:
    tables = outcome.tables
    tables["flows"] = tables["flows"].with_columns(pl.lit(time_ms * 10**9, pl.UInt64).alias("rtt_ps"))
    assert from_outcome(outcome, seeded.resolved, plan_of(seeded)).flows[
        "propagation_ms"
    ].unique().to_list() == [time_ms]


def test_brief_frames_tell_the_same(outcome: Any, seeded: Seeded) -> None:
    plan = plan_of(seeded)
    whole, brief = (from_outcome(outcome, seeded.resolved, plan, brief=brief) for brief in (False, True))
    for name in ("flows", "queues", "exchanges"):
        assert getattr(brief, name).equals(getattr(whole, name))
    assert brief.histograms.is_empty() and not whole.histograms.is_empty()


def test_every_run_of_a_scenario_has_its_seed(outcome: Any) -> None:
    for seed in (7, 8):
        seeded = small(seed)
        frames = from_outcome(outcome, seeded.resolved, plan_of(seeded))
        assert {frames.flows["seed"][0], frames.queue_samples["seed"][-1]} == {seed}


@pytest.mark.parametrize("names", [["a", "a", "b"], ["a", "b", "a"], ["b"], []])
def test_flows_are_parted_by_their_groups_in_whatever_order_they_stand(names: list[str]) -> None:
    flows = pl.DataFrame(
        {"group": names, "flow": range(len(names))}, schema={"group": pl.String, "flow": int}
    )
    parts = by_group(flows)
    assert list(parts) == list(dict.fromkeys(names))
    for name, part in parts.items():
        assert part["flow"].to_list() == [flow for flow, own in enumerate(names) if own == name]
