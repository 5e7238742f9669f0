"""Figures: what they show, how long series are thinned, and that files are the same each time."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bufferlab import InputError, OutputError
from bufferlab.display import save_figure
from bufferlab.render import plots
from bufferlab.render.plots.series import band_envelope, decimate, lines_over_seeds
from bufferlab.render.plots.style import COLORS, LINE_STYLES
from bufferlab.results.result import Result, RunSet
from bufferlab.stats import estimate


def only_axes(figure: Figure) -> Axes:
    (axes,) = figure.axes
    return axes


def labels(axes: Axes) -> list[str]:
    return [str(line.get_label()) for line in axes.lines]


def test_backlog_is_drawn_over_time_with_units(result: Result) -> None:
    axes = only_axes(plots.backlog(result))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time (s)", "backlog (packets)")
    assert labels(axes) == ["west"]
    assert np.asarray(axes.lines[0].get_xydata()).tolist() == [[0, 0], [1, 3], [2, 1]]
    assert not axes.collections


def test_bands_over_seeds_are_confidence_intervals(three_seeds: list[Result]) -> None:
    axes = only_axes(plots.backlog(RunSet(three_seeds)))
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == [1, 4, 2]
    assert "3 seeds, band: 95 % confidence" in axes.get_title()
    (band,) = axes.collections
    half_width = estimate([3, 4, 5]).half_width
    assert half_width is not None
    at_one_second = [y for x, y in band.get_paths()[0].vertices.tolist() if x == 1]  # type: ignore[union-attr]
    assert max(at_one_second) == pytest.approx(4 + half_width)
    assert min(at_one_second) == pytest.approx(4 - half_width)


def test_window_is_the_mean_of_a_groups_flows(result: Result) -> None:
    axes = only_axes(plots.cwnd(result))
    assert labels(axes) == ["near", "far"]
    assert np.asarray(axes.lines[1].get_ydata()).tolist() == [10, 11]


def test_several_flows_of_a_group_make_one_line(result: Result) -> None:
    more = result.flow_samples.with_columns(pl.lit("near").alias("group"))
    object.__setattr__(result.frames, "flow_samples", more)
    axes = only_axes(plots.cwnd(result))
    assert labels(axes) == ["near (mean of 2 sampled flows)"]
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == [6, 7.5]


def test_round_trips_are_the_senders_smoothed_ones(result: Result) -> None:
    axes = only_axes(plots.rtt(result))
    assert axes.get_ylabel() == "smoothed round-trip time (ms)"
    assert labels(axes) == ["near", "far"]
    assert [np.asarray(line.get_ydata()).tolist() for line in axes.lines] == [[20], [50, 50]]


def test_goodput_is_in_mbps(result: Result) -> None:
    axes = only_axes(plots.goodput(result))
    assert axes.get_ylabel() == "goodput per flow (Mbps)"
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == [pytest.approx(0.0016)]


def test_distribution_rises_from_nothing_to_all(result: Result) -> None:
    axes = only_axes(plots.wait_cdf(result))
    assert axes.get_xlabel() == "wait at west (ms)"
    assert labels(axes) == ["all"]  # its only group says the same
    waits_ms, shares = np.asarray(axes.lines[0].get_xydata()).T
    assert waits_ms.tolist() == [0, 1e-9, 100, 200]
    assert shares.tolist() == [0, 0.6, 0.6, 1]


def test_distribution_over_seeds_has_a_band(three_seeds: list[Result]) -> None:
    axes = only_axes(plots.wait_cdf(RunSet(three_seeds)))
    shares = np.asarray(axes.lines[0].get_ydata())
    expected = np.mean([60 / 100, 65 / 110, 70 / 120])
    assert shares[-1] == 1
    assert expected in [pytest.approx(share) for share in shares]
    assert len(axes.collections) == 1


def test_what_was_not_sampled_cannot_be_drawn(result: Result) -> None:
    object.__setattr__(result.frames, "queue_samples", result.queue_samples.clear())
    object.__setattr__(result.frames, "flow_samples", result.flow_samples.clear())
    for draw in (plots.backlog, plots.cwnd, plots.rtt, plots.goodput):
        with pytest.raises(InputError, match="probes"):
            draw(result)


def exchanged(result: Result, durations_s: list[float | None], group: str = "page") -> Result:
    count = len(durations_s)
    frame = pl.DataFrame(
        {"seed": [1] * count, "group": [group] * count, "start_s": [float(each) for each in range(count)],
         "duration_s": durations_s}
    )  # fmt: skip
    object.__setattr__(result.frames, "exchanges", frame)
    return result


def test_exchanges_are_drawn_when_they_began_and_by_how_long_they_took(result: Result) -> None:
    times, shares = plots.exchanges(exchanged(result, [0.5, None, 0.1, 0.2])).axes
    assert (times.get_xlabel(), times.get_ylabel()) == ("time (s)", "duration (ms)")
    assert np.asarray(times.lines[0].get_xydata()).tolist() == [[0, 500], [2, 100], [3, 200]]
    assert labels(shares) == ["page (1 not done)"]
    assert np.asarray(shares.lines[0].get_xydata()).tolist() == [[100, 0.25], [200, 0.5], [500, 0.75]]


def test_without_exchanges_there_is_nothing_to_draw(result: Result) -> None:
    with pytest.raises(InputError, match="record = true"):
        plots.exchanges(exchanged(result, [None]))


def test_all_that_there_is_gets_a_file(tmp_path: Path, result: Result) -> None:
    files = plots.save_plots(result, tmp_path / "new" / "figures")
    assert {path.name for path in files} == {
        f"{name}.{kind}"
        for name in ("backlog", "cwnd", "rtt", "goodput", "wait_cdf", "exchanges")
        for kind in ("png", "svg")
    }
    assert sorted(files) == sorted((tmp_path / "new" / "figures").iterdir())
    object.__setattr__(result.frames, "flow_samples", result.flow_samples.clear())
    assert len(plots.save_plots(result, tmp_path / "fewer")) == 6


def test_files_are_the_same_each_time_and_svg_text_is_text(tmp_path: Path, three_seeds: list[Result]) -> None:
    runs = RunSet(three_seeds)
    first = save_figure(plots.backlog(runs), tmp_path / "first.svg")
    again = save_figure(plots.backlog(runs), tmp_path / "again")
    assert [path.name for path in first] == ["first.png", "first.svg"]
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert re.search(r"<text[^>]*>backlog \(packets\)</text>", first[1].read_text())


def test_a_pdf_is_one_file_and_the_same_each_time(tmp_path: Path, result: Result) -> None:
    first, again = (save_figure(plots.backlog(result), tmp_path / name) for name in ("a.pdf", "b.pdf"))
    assert (first, again) == ([tmp_path / "a.pdf"], [tmp_path / "b.pdf"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.pdf", "b.pdf"]
    assert first[0].read_bytes()[:5] == b"%PDF-"
    assert first[0].read_bytes() == again[0].read_bytes()


def test_an_unwritable_figure_is_one_line(tmp_path: Path, result: Result) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written") as caught:
        save_figure(plots.backlog(result), tmp_path / "file" / "figure")
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_every_line_looks_different() -> None:
    styles = [plots.line_style(index) for index in range(len(COLORS) * len(LINE_STYLES))]
    assert len({(style["color"], style["linestyle"]) for style in styles}) == len(styles)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=400), st.integers(1, 20))
def test_thinning_keeps_ends_and_extremes(values: list[float], buckets: int) -> None:
    x, y = np.arange(len(values), dtype=float), np.array(values)
    thin_x, thin_y = decimate(x, y, buckets)
    assert len(thin_x) <= max(4 * buckets, 1)
    assert (np.diff(thin_x) > 0).all()
    assert (thin_x[0], thin_x[-1]) == (0, len(values) - 1)
    assert (thin_y.min(), thin_y.max()) == (y.min(), y.max())
    assert (y[thin_x.astype(int)] == thin_y).all()


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=400), st.integers(1, 20))
def test_a_thinned_band_covers_the_whole_one(values: list[float], buckets: int) -> None:
    x, low = np.arange(len(values), dtype=float), np.array(values)
    thin_x, thin_low, thin_high = band_envelope(x, low, low + 1, buckets)
    for position, value in enumerate(values):
        bucket = int(np.searchsorted(thin_x, position, side="right")) - 1
        assert thin_low[bucket] <= value
        assert value + 1 <= thin_high[bucket]


def test_a_million_samples_are_drawn_with_every_peak() -> None:
    backlog = np.zeros(1_000_000)
    backlog[123_456] = 77
    samples = pl.DataFrame({"seed": 1, "link": "west", "time_s": np.arange(1e6), "backlog_packets": backlog})
    (line,) = lines_over_seeds(samples, "backlog_packets", "link")
    x, y = decimate(line.x, line.y)
    assert len(x) <= 6000
    assert (x[y.argmax()], y.max()) == (123_456, 77)
