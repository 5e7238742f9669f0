"""SplitBuff's figure 1: the pieces, and the quick run."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from bufferlab.cli import main
from bufferlab.evidence.splitbuff.fig1 import scenario
from bufferlab.evidence.splitbuff.fig1_comparison import (
    COLUMNS,
    compare,
    models,
    ns2_points,
    summarize_points,
)
from bufferlab.evidence.splitbuff.published import SPLITBUFF_FIG1
from bufferlab.scenario import Scenario


def runs(**changes: list[float | None]) -> pl.DataFrame:
    """Two runs of the point at 25 ms, some columns replaced."""
    columns: dict[str, list[float | None]] = {
        "ratio": [400.0, 500.0],
        "delay_short_ms": [17.0, 19.0],
        "delay_long_ms": [18.0, 18.0],
        "loss_short_percent": [0.012, 0.012],
        "loss_long_percent": [0.1, 0.3],
        "rate_short_mbps": [99.0, 99.0],
        "rate_long_mbps": [0.25, 0.2],
        "utilization": [1.0, 1.0],
    }
    assert set(columns) == set(COLUMNS)
    return pl.DataFrame(
        {"wire_bytes": [1040, 1040], "buffer_ms": [25, 25], "seed": [1, 2]} | columns | changes
    )


def test_a_point_has_mean_interval_and_range() -> None:
    point = summarize_points(runs()).row(0, named=True)
    assert point["ratio"] == 450
    assert (point["ratio_min"], point["ratio_max"]) == (400, 500)
    assert point["ratio_ci95"] == pytest.approx(12.706 * 50, rel=1e-3)  # Student's t of two values


def test_models_with_measured_losses_and_delays() -> None:
    point = summarize_points(runs()).row(0, named=True)
    assert point["ratio_model_loss"] == pytest.approx(99 * (0.2 / 0.012) ** 0.5)
    assert point["ratio_model_delay"] == pytest.approx((990 + 18) / (10 + 18))
    # 0.87 · 1040 · 8 / (28 ms · sqrt 0.00012)
    assert point["rate_short_model_mbps"] == pytest.approx(0.87 * 8320 / (0.028 * 0.00012**0.5) / 1e6)


def test_models_have_no_value_without_losses() -> None:
    point = summarize_points(runs(loss_short_percent=[0.0, 0.0])).row(0, named=True)
    assert point["ratio_model_loss"] is None
    assert point["rate_short_model_mbps"] is None
    assert point["ratio_model_delay"] is not None


def test_ns2_confirms_that_losses_are_per_cent_and_gives_the_models_405() -> None:
    point = ns2_points().row(
        by_predicate=(pl.col("wire_bytes") == 1040) & (pl.col("buffer_ms") == 25), named=True
    )
    assert point["loss_long_percent"] == pytest.approx(0.2, rel=0.1)
    assert point["loss_short_percent"] == pytest.approx(0.012, rel=0.1)
    assert models(point, 1040)["ratio_model_loss"] == pytest.approx(405, rel=0.01)


def test_the_comparison_has_every_published_number_with_a_reason() -> None:
    points = summarize_points(runs())
    table = compare(points, ns2_points())
    wanted = [number for number in SPLITBUFF_FIG1 if number.buffer_ms == 25]
    assert table.height == len(wanted)
    ratio = table.row(0, named=True)
    assert (ratio["published"], ratio["ours"]) == ("443", 450)
    assert ratio["difference_percent"] == pytest.approx((450 / 443 - 1) * 100)
    assert 416 < ratio["ns2_min"] < ratio["ns2"] < ratio["ns2_max"] < 565
    assert all(table["why"])


def test_the_scenario_is_valid_and_counts_as_ns2_does() -> None:
    loaded = Scenario.from_dict(scenario(25, 1040))
    assert loaded.links[0].buffer.text == "311 packets"  # floor(25 · 12.5) = 312, one in transmission
    assert loaded.run.duration_ps == 500 * 10**12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reproduced")
    assert main(["reproduce", "splitbuff/fig1", "--quick", "--out", str(out), "--json"]) == 0
    return out / "splitbuff-fig1"


def test_the_quick_run_writes_figure_tables_and_notes(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {
        "fig1.png", "fig1.svg", "notes.txt",
        "runs.csv", "points.csv", "ns2.csv", "comparison.csv",
        "runs.parquet", "points.parquet", "ns2.parquet", "comparison.parquet",
    }  # fmt: skip
    assert (folder / "fig1.png").read_bytes().startswith(b"\x89PNG")
    assert "queueing delay" in (folder / "fig1.svg").read_text()
    assert "Quick" in (folder / "notes.txt").read_text()


def test_the_quick_run_shows_the_effect(folder: Path) -> None:
    points = pl.read_parquet(folder / "points.parquet")
    ratio = dict(points.select("buffer_ms", "ratio").iter_rows())
    delay = dict(points.select("buffer_ms", "delay_short_ms").iter_rows())
    assert ratio[25] > 100
    assert ratio[300] < 20
    assert delay[25] < 25
    assert delay[300] > 100
    assert points["utilization"].min() > 0.99  # type: ignore[operator]


def test_json_is_the_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["reproduce", "splitbuff/fig1", "--quick", "--seeds", "1", "--json", "--out", str(tmp_path)]
    assert main(arguments) == 0
    document = json.loads(capsys.readouterr().out)["reproductions"][0]
    assert document["name"] == "splitbuff/fig1"
    assert {row["what"] for row in document["comparison"]} >= {"throughput ratio", "average queueing delay"}
