"""Bufferbloat in OMNeT++/INET: what the document says, and closed forms for what it shows."""

from __future__ import annotations

import math

import polars as pl
import pytest

from bufferlab.evidence import reproduce
from bufferlab.evidence.bloat_inet.growth import FRAME_BYTES, INITIAL_SSTHRESH, RATE_BPS, grown
from bufferlab.evidence.reproduction import Reproduced
from bufferlab.scenario import Scenario

WINDOWS_BYTES = (7504, 2**14, 2**15, 2**16, 2**17, 2**18)
BDP_FRAMES = 9
"""What is under way in 40 ms, and the frame in transmission."""


@pytest.fixture(scope="module")
def fig2() -> Reproduced:
    return reproduce("bloat-inet/fig2", quick=True, progress=False)


def test_small_windows_settle_at_the_window_less_what_is_under_way(fig2: Reproduced) -> None:
    settled = fig2.tables["points"].filter(pl.col("window_bytes") <= 2**16)
    assert settled.height == 4
    for row in settled.iter_rows(named=True):
        assert row["settled_frames"] == pytest.approx(row["window_bytes"] // 536 - BDP_FRAMES, abs=1.0)
        assert abs(row["growth_frames_s"]) < 0.01


def test_large_windows_grow_by_one_segment_an_inflated_round_trip(fig2: Reproduced) -> None:
    frame_s = FRAME_BYTES * 8 / RATE_BPS
    window = math.sqrt(INITIAL_SSTHRESH**2 + 2 * 27 / frame_s)  # at 27 s, the middle of 15 to 39 s
    growing = fig2.tables["points"].filter(pl.col("window_bytes") > 2**16)
    assert growing.height == 2
    for row in growing.iter_rows(named=True):
        assert row["growth_frames_s"] == pytest.approx(1 / (window * frame_s), rel=0.03)
        assert row["overlap_growth_frames_s"] > row["growth_frames_s"]


def test_the_figure_has_a_line_a_window(fig2: Reproduced) -> None:
    axes = fig2.figures["fig2"].axes[0]
    assert [line.get_label() for line in axes.get_lines()] == [f"{each} bytes" for each in WINDOWS_BYTES]
    assert axes.get_ylabel() == "queue at router 1 (frames)"


@pytest.fixture(name="fig3", scope="module")
def reproduced_fig3() -> pl.DataFrame:
    points = reproduce("bloat-inet/fig3", quick=True, progress=False).tables["points"]
    return points.filter(pl.col("window_bytes") == 2**18)


def test_the_round_trip_starts_at_its_propagation_and_follows_the_queue(fig3: pl.DataFrame) -> None:
    for row in fig3.iter_rows(named=True):
        assert 40 < row["least_rtt_ms"] < 46
        assert row["most_rtt_ms"] < 40 + row["most_frames"] * FRAME_BYTES * 8 / RATE_BPS * 1000


def test_acknowledgments_that_ride_on_data_leave_fewer_frames_in_the_queue(fig3: pl.DataFrame) -> None:
    most = dict(zip(fig3["acknowledgments"], fig3["most_frames"], strict=True))
    assert most["on data"] < most["own packets"]


def test_between_400_and_500_frames_losses_end() -> None:
    points = reproduce("bloat-inet/fig7", quick=True, progress=False).tables["points"]
    dropped = dict(zip(points["buffer_frames"], points["dropped"], strict=True))
    assert list(dropped) == [100, 200, 300, 400, 500]
    assert dropped[400] > 0
    assert dropped[500] == 0


def test_delay_variation_has_points_a_histogram_and_a_distribution() -> None:
    result = reproduce("bloat-inet/fig6", quick=True, progress=False)
    assert result.figures["fig6"].axes[0].get_ylim() == (-100, 100)
    histogram, distribution = result.figures["fig6_distribution"].axes
    assert (histogram.get_ylabel(), distribution.get_ylabel()) == ("packets", "share of packets at or below")
    row = result.tables["points"].row(0, named=True)
    series = result.tables["series"].filter(pl.col("buffer") == f"{row['buffer_frames']} frames")
    values = series["variation_ms"].to_numpy()
    assert row["variation_packets"] == len(values) >= 85
    assert abs(values.mean()) < 1e-6
    assert row["variation_most_ms"] == pytest.approx(abs(values).max())


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
    points = reproduce("bloat-inet/inflation", quick=True, progress=False).tables["at_times"]
    assert points["time_s"].to_list() == [20, 60]
    for row in points.iter_rows(named=True):
        assert row["cwnd_segments"] == pytest.approx(row["at_inflated_segments"], rel=0.01)
        assert row["at_base_segments"] == 489


def test_many_flows_need_no_more_wait_than_their_rule() -> None:
    result = reproduce("bloat-inet/many_flows", quick=True, progress=False)
    for text in result.scenarios.values():
        loaded = Scenario.from_toml(text)
        assert loaded.links[0]["rate_bps"] == loaded.flows[0]["count"] * 10**6
    waits = result.tables["points"].filter(pl.col("flows") == 10)["wait_mean_ms"].to_list()
    assert waits[0] > 500
    assert 40 > waits[1] > 12.6 > waits[2]


def test_figure_3_has_the_samples_and_not_the_smoothed_time(fig3: pl.DataFrame) -> None:
    for row in fig3.iter_rows(named=True):
        queued_ms = row["early_frames"] * FRAME_BYTES * 8 / RATE_BPS * 1000
        assert row["early_rtt_ms"] == pytest.approx(40 + queued_ms, abs=3 * FRAME_BYTES * 8 / RATE_BPS * 1000)
        assert row["early_srtt_ms"] < row["early_rtt_ms"] / 2
