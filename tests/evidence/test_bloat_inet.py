"""Bufferbloat in OMNeT++/INET: what the document says, and closed forms for what it shows."""

from __future__ import annotations

import math

import polars as pl
import pytest

from bufferlab.evidence import reproduce
from bufferlab.evidence.bloat_inet import runs
from bufferlab.evidence.bloat_inet.beyond import grown, many_scenario
from bufferlab.evidence.bloat_inet.runs import BUFFERS, FRAME_BYTES, WINDOWS_BYTES, Setting
from bufferlab.evidence.registry import Reproduced, Request
from bufferlab.scenario import Scenario

QUICK = Request(quick=True, progress=False)


@pytest.fixture(scope="module")
def fig2() -> Reproduced:
    return reproduce("bloat-inet/fig2", quick=True, progress=False)


def test_small_windows_settle_at_the_window_less_what_is_under_way(fig2: Reproduced) -> None:
    settled = fig2.comparison.filter(pl.col("window_bytes") <= 2**16)
    assert settled.height == 4
    for row in settled.iter_rows(named=True):
        assert row["mean_15_to_39_s_frames"] == pytest.approx(row["window_less_bdp_frames"], abs=1.0)
        assert abs(row["growth_15_to_39_s_frames_s"]) < 0.01


def test_large_windows_grow_by_one_segment_an_inflated_round_trip(fig2: Reproduced) -> None:
    frame_s = FRAME_BYTES * 8 / runs.RATE_BPS
    window = math.sqrt(runs.INITIAL_SSTHRESH**2 + 2 * 27 / frame_s)  # at 27 s, the middle of 15 to 39 s
    growing = fig2.comparison.filter(pl.col("window_bytes") > 2**16)
    for row in growing.iter_rows(named=True):
        assert row["growth_15_to_39_s_frames_s"] == pytest.approx(1 / (window * frame_s), rel=0.03)
        assert row["growth_overlap_frames_s"] > row["growth_15_to_39_s_frames_s"]


def test_the_figure_has_a_line_a_window(fig2: Reproduced) -> None:
    axes = fig2.figures["fig2"].axes[0]
    assert [line.get_label() for line in axes.get_lines()] == [f"{each} bytes" for each in WINDOWS_BYTES]
    assert axes.get_ylabel() == "queue at router 1 (frames)"


def test_the_round_trip_starts_at_its_propagation_and_follows_the_queue() -> None:
    result = runs.simulated([Setting(2**18)], QUICK)[0]
    times = runs.round_trips(result)["rtt_ms"].to_numpy()
    assert 40 < times.min() < 46
    full = runs.backlog(result)["frames"].to_numpy().max() * FRAME_BYTES * 8 / runs.RATE_BPS * 1000
    assert times.max() < 40 + full


def test_acknowledgments_that_ride_on_data_leave_fewer_frames_in_the_queue() -> None:
    separate, riding = runs.simulated([Setting(2**18), Setting(2**18, echo_acknowledged=False)], QUICK)
    most = [runs.backlog(each)["frames"].to_numpy().max() for each in (separate, riding)]
    assert most[1] < most[0]


def test_between_400_and_500_frames_losses_end() -> None:
    comparison = reproduce("bloat-inet/fig7", quick=True, progress=False).comparison
    dropped = dict(zip(comparison["buffer_frames"], comparison["dropped"], strict=True))
    assert list(dropped) == list(BUFFERS)
    assert dropped[400] > 0
    assert dropped[500] == 0


def test_delay_variation_is_told_by_points_histogram_and_distribution() -> None:
    result = reproduce("bloat-inet/fig6", quick=True, progress=False)
    assert result.figures["fig6"].axes[0].get_ylim() == (-100, 100)
    histogram, distribution = result.figures["fig6_distribution"].axes
    assert (histogram.get_ylabel(), distribution.get_ylabel()) == ("packets", "share of packets at or below")
    row = result.comparison.row(0, named=True)
    values = result.tables["series"].filter(pl.col("buffer") == row["buffer"])["variation_ms"].to_numpy()
    assert row["packets"] == len(values) >= 85
    assert abs(values.mean()) < 1e-6
    assert row["most_ms"] == pytest.approx(abs(values).max(), abs=0.05)


def test_the_inflated_window_is_the_square_root() -> None:
    samples = pl.DataFrame(
        {"time_s": [0.5, 1.0, 2.0, 1e6], "cwnd_segments": [64.0, 122.0, 123.0, 400.0], "rtt_ms": [300.0] * 4}
    )
    frame = grown(samples, 2**18)
    assert frame["time_s"].to_list() == [1.0, 2.0, 1e6]
    frame_s = FRAME_BYTES * 8 / 1e6
    assert frame["at_inflated_segments"].to_list() == pytest.approx(
        [122, math.sqrt(122**2 + 2 / frame_s), 489]
    )
    assert frame["at_base_segments"].to_list() == pytest.approx([122, 147, 489])


def test_the_simulated_window_is_explained_by_its_own_queue() -> None:
    comparison = reproduce("bloat-inet/inflation", quick=True, progress=False).comparison
    assert comparison["time_s"].to_list() == [20, 60]
    for row in comparison.iter_rows(named=True):
        assert row["window_segments"] == pytest.approx(row["with_inflated_rtt"], rel=0.01)
        assert row["with_40_ms"] == 489


def test_many_flows_need_no_more_wait_than_their_rule() -> None:
    loaded = Scenario.from_dict(many_scenario("500 frames a flow", 1000))
    assert (loaded.links[0].rate_bps, loaded.flows[0].count) == (10**9, 1000)
    comparison = reproduce("bloat-inet/many_flows", quick=True, progress=False).comparison
    waits = comparison.filter(pl.col("flows") == 10)["wait_mean_ms"].to_list()
    assert waits[0] > 500
    assert 40 > waits[1] > 12.6 > waits[2]
