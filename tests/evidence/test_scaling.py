"""Twins of a large link: the study's quick part, its report, the command."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from bufferlab.cli import main
from bufferlab.evidence.pages import END
from bufferlab.evidence.scaling.exchange import exchange
from bufferlab.evidence.scaling.page import BEGIN
from bufferlab.evidence.scaling.twins import EXCHANGE, METRICS, QUICK, Scaling, differences, study_scaling
from bufferlab.plan import lower
from bufferlab.scenario import Scenario

EXAMPLE = Path(__file__).parents[2] / "examples" / "internet-exchange.toml"


@pytest.fixture(scope="module")
def quick() -> Scaling:
    return study_scaling(quick=True, progress=False)


def test_the_study_is_about_the_example() -> None:
    built = exchange(
        rate_bps=EXCHANGE.rate_bps,
        flows=EXCHANGE.flows,
        buffer=EXCHANGE.buffer,
        duration_s=EXCHANGE.duration_s,
    )
    assert lower(Scenario.from_dict(built)) == lower(Scenario.load(EXAMPLE))


def test_a_twin_by_ten_keeps_what_it_should(quick: Scaling) -> None:
    full, twin = quick.frames["errors"].iter_rows(named=True)
    assert (full["factor"], twin["factor"]) == (1, 10)
    assert (full["flows"], twin["flows"]) == (1000, 100)
    assert abs(twin["utilization_error"]) < 0.003
    assert abs(twin["loss_error"]) < 0.1
    assert abs(twin["fill_error"]) < 0.1
    assert abs(twin["bbr_share_error"]) < 0.05
    # the twin's buffer drains in sqrt(10) times the time, and so do its packets wait
    assert twin["wait_ms"] / full["wait_ms"] == pytest.approx(10**0.5, rel=0.15)


def test_packets_and_so_costs_follow_rate_and_time(quick: Scaling) -> None:
    every = pl.concat([quick.runs, quick.shorter])
    busy_s = every["packets"] * 8 * 1500 / every["rate_bps"]
    # the link fills while flows start, in the first 0.3 s
    assert (every["duration_s"] - busy_s).is_between(-0.001, 0.3).all()


def test_too_short_a_run_shows_the_start(quick: Scaling) -> None:
    short, long = quick.frames["shorter_errors"].iter_rows(named=True)
    assert long["duration_s"] == QUICK.duration_s
    assert short["loss_error"] > 0.5
    assert long["loss_error"] == 0


def test_differences_are_from_the_mean_of_the_reference() -> None:
    row = {"case": "x", "rate_bps": 1, "flows": 1, "duration_s": 1, "wait_ms": 1, "packets": 1, "cpu_s": 1}
    runs = pl.DataFrame(
        [
            {**row, "factor": factor, **dict.fromkeys(METRICS, value)}
            for factor, value in ((1, 0.2), (1, 0.4), (10, 0.45))
        ]
    )
    full, twin = differences(runs, "factor", smallest=True).iter_rows(named=True)
    assert (full["seeds"], twin["seeds"]) == (2, 1)
    assert full["utilization_error"] == 0
    assert twin["utilization_error"] == pytest.approx(0.15)
    assert twin["loss_error"] == pytest.approx(0.5)
    assert full["jain_sd"] == pytest.approx(0.2 / 2**0.5)


def test_report_and_command(
    quick: Scaling, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bufferlab.cli.validate.study_scaling", lambda **_: quick)
    page = tmp_path / "docs" / "capacity.md"
    (page.parent / "images").mkdir(parents=True)
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    out = tmp_path / "out"
    assert main(["validate", "scaling", "--out", str(out), "--docs", str(page), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "bufferlab-scaling"
    assert [row["factor"] for row in document["errors"]] == [1, 10]
    assert {path.name for path in out.iterdir()} >= {
        "scaling.md",
        "scaling.png",
        "scaling-runs.csv",
        "scaling-errors.csv",
    }
    assert (page.parent / "images" / "capacity.png").stat().st_size < 200_000
    assert f"| {QUICK.name} | 1/10 |" in page.read_text()
    assert page.read_text().endswith("\nafter\n")
    assert main(["validate", "scaling", "--out", str(out)]) == 0
    assert "BBR's share" in capsys.readouterr().out


def test_a_run_may_be_of_a_twin(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", str(EXAMPLE), "--scale", "100", "--set", "run.duration=2 s"]
    assert main([*arguments, "--set", "run.warmup=1 s", "--json"]) == 0
    groups = json.loads(capsys.readouterr().out)["flows"]
    assert {row["group"]: row["flows"] for row in groups} == {"reno": 20, "cubic": 50, "bbr3": 30, "all": 100}
    assert main(["run", str(EXAMPLE), "--scale", "7"]) == 2
    assert "is not divided by 7" in capsys.readouterr().err
