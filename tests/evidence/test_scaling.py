"""Twins of a large link: the quick runs, the claims, the command."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import bufferlab
from bufferlab.cli import main
from bufferlab.evidence import Reproduced
from bufferlab.evidence.documents import bundled_documents
from bufferlab.evidence.pages import END
from bufferlab.evidence.report import marker
from bufferlab.evidence.scaling.exchange import exchange
from bufferlab.evidence.scaling.twins import EXCHANGE, QUICK
from bufferlab.plan import lower
from bufferlab.scenario import Scenario

EXAMPLE = Path(__file__).parents[2] / "examples" / "internet-exchange.toml"


STORE = tempfile.TemporaryDirectory()
"""Keeps the runs that tests share."""

(DOCUMENT,) = (each for each in bundled_documents() if each.name == "scaling")


@cache
def quick(figure: str) -> Reproduced:
    """The quick run of a figure."""
    return bufferlab.reproduce(f"scaling/{figure}", quick=True, progress=False, store=STORE.name)


def test_the_study_is_about_the_example() -> None:
    built = exchange(
        rate_bps=EXCHANGE.rate_bps,
        flows=EXCHANGE.flows,
        buffer=EXCHANGE.buffer,
        duration_s=EXCHANGE.duration_s,
    )
    assert lower(built) == lower(Scenario.load(EXAMPLE))


def test_a_twin_by_ten_keeps_what_it_should() -> None:
    full, twin = quick("twins").tables["twins"].iter_rows(named=True)
    assert (full["scaled_by"], twin["scaled_by"]) == (1, 10)
    assert (full["flows"], twin["flows"]) == (1000, 100)
    assert (full["seeds"], twin["seeds"]) == (2, 5)
    assert twin["utilization"] == pytest.approx(full["utilization"], abs=0.003)
    assert twin["loss"] == pytest.approx(full["loss"], rel=0.1)
    assert twin["fill"] == pytest.approx(full["fill"], abs=0.1)
    assert twin["bbr_share"] == pytest.approx(full["bbr_share"], abs=0.05)
    # the twin's buffer drains in sqrt(10) times the time, and so do its packets wait
    assert twin["wait_ms"] / full["wait_ms"] == pytest.approx(10**0.5, rel=0.15)


def test_claims_compare_twins_with_their_link() -> None:
    comparison = quick("twins").comparison
    loss = comparison.row(by_predicate=pl.col("claim") == "twins-loss", named=True)
    full = quick("twins").tables["twins"].row(0, named=True)
    assert loss["setting"] == f"link = {QUICK.name}, scaled_by = 10"
    assert loss["tolerance"] == pytest.approx(10 * full["loss"])
    assert loss["verdict"] == "agrees"


def test_packets_and_so_costs_follow_rate_and_time() -> None:
    every = pl.concat(
        [quick(figure).tables["runs"] for figure in ("twins", "shorter")], how="vertical_relaxed"
    )
    busy_s = every["packets"] * 8 * 1500 / every["rate_bps"]
    # the link fills while flows start, in the first 0.3 s
    assert (every["duration_s"] - busy_s).is_between(-0.001, 0.3).all()


def test_too_short_a_run_shows_the_start() -> None:
    short, long = quick("shorter").tables["shorter"].iter_rows(named=True)
    assert long["duration_s"] == QUICK.duration_s
    assert short["loss"] > 1.5 * long["loss"]


def test_report_and_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "docs" / "capacity.md"
    (page.parent / "images").mkdir(parents=True)
    page.write_text(f"before\n{marker(DOCUMENT)}\nold\n{END}\nafter\n")
    out = tmp_path / "out"
    command = ["validate", "scaling", "--quick", "--out", str(out), "--store", STORE.name]
    assert main([*command, "--docs", str(page), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "bufferlab-scaling"
    assert [row["scaled_by"] for row in document["twins"]] == [1, 10]
    assert {path.name for path in out.iterdir()} >= {"scaling.md", "scaling.png", "twins.csv", "shorter.csv"}
    assert (page.parent / "images" / "capacity.png").stat().st_size < 200_000
    assert f"| {QUICK.name} | 10 " in page.read_text()
    assert page.read_text().endswith("\nafter\n")


def test_a_run_may_be_of_a_twin(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", str(EXAMPLE), "--scale", "100", "--set", "run.duration=2 s"]
    assert main([*arguments, "--set", "run.warmup=1 s", "--json"]) == 0
    groups = json.loads(capsys.readouterr().out)["flows"]
    assert {row["group"]: row["flows"] for row in groups} == {"reno": 20, "cubic": 50, "bbr3": 30, "all": 100}
    assert main(["run", str(EXAMPLE), "--scale", "7"]) == 2
    assert "is not divided by 7" in capsys.readouterr().err
