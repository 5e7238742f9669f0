"""Bufferbloat on Mininet: the author's files, the regression, the scenarios, and what offload explains."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from bufferlab.errors import InputError
from bufferlab.evidence import find_reproductions, reproduce
from bufferlab.evidence.bloat_mininet import author
from bufferlab.evidence.bloat_mininet.author import QUEUES, author_points, read_measured, summarized
from bufferlab.evidence.bloat_mininet.series import regression
from bufferlab.evidence.documents import bundled_documents
from bufferlab.evidence.hooks import call
from bufferlab.evidence.reproduction import Reproduced
from bufferlab.scenario import Scenario

PING = """PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.
64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=10.0 ms
64 bytes from 10.0.0.2: icmp_seq=3 ttl=64 time=30.0 ms
3 ms
 time=20.0 ms
"""


@pytest.fixture(name="files")
def some_files(tmp_path: Path) -> Path:
    for queue in QUEUES:
        folder = tmp_path / f"q{queue}"
        folder.mkdir()
        (folder / "ping.txt").write_text(PING)
        (folder / "q.txt").write_text("1606530105.5,0\n1606530105.75,3\n")
        (folder / "download.txt").write_text("0.5\n1.5\n")
    return tmp_path


def stated(claim: str) -> float:
    document = next(each for each in bundled_documents() if each.name == "bloat-mininet")
    (value,) = [each.value for each in document.claims if each.id == claim]
    assert isinstance(value, int | float)
    return float(value)


def test_the_table_is_what_was_measured() -> None:
    for row in author_points().rows(named=True):
        assert row["fetch_s_mean"] == pytest.approx(stated(f"table1-mean-{row['queue']}"), abs=6e-4)
        assert row["fetch_s_sd"] == pytest.approx(stated(f"table1-sd-{row['queue']}"), abs=6e-4)


def test_the_published_line_is_that_of_the_measured_means() -> None:
    means = author_points().filter(pl.col("model") == "with offload")["rtt_ms_mean"].to_list()
    fit = regression("measured", QUEUES, means)
    assert fit["slope_ms"] == pytest.approx(stated("fig4-slope"), abs=0.005)
    assert fit["intercept_ms"] == pytest.approx(stated("fig4-intercept"), abs=0.1)
    assert fit["r"] > 0.9999
    assert 0 < fit["p"] < 0.01


def test_a_regression_by_hand() -> None:
    # x - mean: -36.67, -21.67, 58.33; y = 2x + 1 exactly
    fit = regression("line", QUEUES, [11.0, 41.0, 201.0])
    assert (fit["slope_ms"], fit["intercept_ms"], fit["r"]) == pytest.approx((2.0, 1.0, 1.0))
    assert fit["standard_error_ms"] == pytest.approx(0, abs=1e-6)


def test_the_authors_files_are_read(files: Path) -> None:
    rows = read_measured(files)
    pings = rows.filter(pl.col("queue") == 5, pl.col("series") == "rtt_ms")
    assert pings["value"].to_list() == [10.0, 30.0, 20.0]  # the last has lost its number
    assert pings["time_s"].to_list() == pytest.approx([0.1, 0.3, 0.3])
    figures = summarized(rows)
    assert dataclasses.astuple(figures[100, "fetch_s"])[:3] == (2, 1.0, 0.5)
    assert figures[20, "queue_packets"].most == 3


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("ping.txt", "nothing\n", "has no replies"),
        ("q.txt", "1,2,3\n", "has other columns"),
        ("download.txt", "fast\n", "is not a table of numbers"),
        ("download.txt", None, "no such file"),
    ],
)
def test_files_that_are_not_the_authors_are_named(
    files: Path, name: str, text: str | None, says: str
) -> None:
    path = files / "q20" / name
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    with pytest.raises(InputError, match=says) as error:
        read_measured(files)
    assert str(path) in str(error.value)


FRAME_BYTES, PAGE_BYTES, RATE_BPS = 1514, 177_669, 10_000_000


@pytest.fixture(name="fig3", scope="module")
def reproduced_fig3() -> Reproduced:
    return reproduce("bloat-mininet/fig3", quick=True, progress=False)


def figure(result: Reproduced, column: str, model: str) -> float:
    table = result.tables["author" if model == "measured" else "points"]
    rows = table if model == "measured" else table.filter(pl.col("model") == model)
    return float(rows.filter(pl.col("queue") == 100)[column][0])


def test_the_scenario_is_the_assignments(fig3: Reproduced) -> None:
    for text in fig3.scenarios.values():
        loaded = Scenario.from_toml(text)
        assert [link["rate_bps"] for link in loaded.links] == [10**9, 10**7, 10**7, 10**9]
        assert [group["count"] for group in loaded.flows] == [1, 1, 2]
        assert [link["buffer"]["text"] for link in loaded.links] == ["100 packets"] * 4


def test_single_frames_cannot_wait_as_long_as_was_measured(fig3: Reproduced) -> None:
    # Q frames wait, one is in transmission, and 4 ms; the other way is nearly idle
    full_ms = 4 + 101 * FRAME_BYTES * 8 / RATE_BPS * 1000
    assert figure(fig3, "rtt_ms_most", "without offload") < full_ms + 4
    assert figure(fig3, "rtt_ms_mean", "measured") > full_ms


def test_offload_makes_a_queued_packet_longer(fig3: Reproduced) -> None:
    assert figure(fig3, "rtt_ms_mean", "with offload") > 1.5 * figure(fig3, "rtt_ms_mean", "without offload")
    assert figure(fig3, "queue_packets_most", "with offload") <= 100


def test_the_figure_has_four_panels_and_what_was_measured(fig3: Reproduced) -> None:
    panels = fig3.figures["fig3"].axes
    assert [panel.get_ylabel() for panel in panels] == [
        "cwnd (segments)",
        "ping's RTT (ms)",
        "time of a fetch (s)",
        "queue (packets)",
    ]
    labels = [line.get_label() for line in panels[1].get_lines()]
    assert labels == ["without offload", "with offload", "measured, mean"]


def test_tables_and_raw_files_come_along(files: Path) -> None:
    result = reproduce("bloat-mininet/table1", quick=True, progress=False, measured=files)
    assert result.tables["author"]["fetch_s_mean"].to_list() == [1.0] * 6
    assert result.tables["measured"].height == 3 * (3 + 2 + 2)
    means = result.comparison.filter(pl.col("claim").str.starts_with("table1-mean"))
    assert set(means["others"]) == {"author's files: 1"}
    points = result.tables["points"].filter(pl.col("model") == "without offload")
    assert np.all(points["fetch_s_mean"].to_numpy() > PAGE_BYTES * 8 / RATE_BPS)
    fit = reproduce("bloat-mininet/fig4", quick=True, progress=False).tables["lines"]
    assert fit.filter(pl.col("source") == "without offload")["slope_ms"][0] < 1.211


def test_files_of_a_copied_folder_are_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "copied"
    folder.mkdir()
    for name in ("author.py", "author.csv"):
        shutil.copy(Path(author.__file__).with_name(name), folder)
    table = pl.read_csv(folder / "author.csv").with_columns(pl.col("mean") + 1)
    table.write_csv(folder / "author.csv")
    copied = call(folder, None, "author:author_points")
    assert copied.columns == author.author_points().columns
    assert not copied.equals(author.author_points())


def test_a_copied_folder_runs_in_its_quick_form_with_modules_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "copied"
    shutil.copytree(Path(author.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    changes = {
        "claims.toml": ('name = "bloat-mininet"', 'name = "copied"'),
        "series.py": ("from bufferlab.evidence.bloat_mininet import", "from . import"),
        "figures.py": ("from bufferlab.evidence.bloat_mininet.", "from ."),
        "author.csv": ("0.", "7."),
    }
    for name, (old, new) in changes.items():
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))
    monkeypatch.chdir(tmp_path)
    found = find_reproductions("copied")
    assert [each.name for each in found] == [
        f"copied/{name}" for name in ("table1", "fig4", "fig1", "fig2", "fig3")
    ]
    own, original = (
        reproduce(f"{name}/fig3", quick=True, progress=False, store=tmp_path / "store")
        for name in ("copied", "bloat-mininet")
    )
    assert own.tables["points"].equals(original.tables["points"])
    assert list(own.figures) == ["fig3"]
    assert not own.tables["author"].equals(original.tables["author"])
