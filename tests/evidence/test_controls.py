"""Congestion controls against theory: the search, the claims, the command."""

from __future__ import annotations

import json
import math
import re
import tempfile
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import bufferlab
from bufferlab.cli import main
from bufferlab.errors import OutputError
from bufferlab.evidence import Reproduced
from bufferlab.evidence.controls import characteristics, minimum, single
from bufferlab.evidence.controls.mixes import DOCUMENT_MIX, MIXES, alone, scenario_of
from bufferlab.evidence.documents import bundled_documents
from bufferlab.evidence.pages import END, replace_study
from bufferlab.evidence.report import marker, part_of

STORE = tempfile.TemporaryDirectory()
"""Keeps the runs that tests share."""

(DOCUMENT,) = (each for each in bundled_documents() if each.name == "controls")


@cache
def quick(figure: str) -> Reproduced:
    """The quick run of a figure."""
    return bufferlab.reproduce(f"controls/{figure}", quick=True, progress=False, store=STORE.name)


def test_a_mix_keeps_its_shares_and_its_number() -> None:
    assert DOCUMENT_MIX.counts(198) == dict(DOCUMENT_MIX.parts)
    for mix in MIXES:
        for flows in minimum.FLOWS:
            assert sum(mix.counts(flows).values()) == flows
    assert alone("reno").counts(7) == {"reno": 7}


def test_the_link_grows_with_the_flows() -> None:
    rates = [
        scenario_of({"reno": flows}, window_packets=26, duration_s=1, warmup_s=0)["bottleneck"]["rate"]
        for flows in (10, 1000)
    ]
    assert rates == ["31200000 bps", "3120000000 bps"]


def test_reno_needs_more_than_theorem_2() -> None:
    result = quick("minimum")
    cells = result.tables["minimum"]
    assert cells["mix"].to_list() == ["reno"] * 3
    assert cells["flows"].to_list() == [10] * 3
    assert cells["stanford"][0] == pytest.approx(260 / math.sqrt(10))
    assert cells["simulated"].is_sorted()
    assert (cells["theorem"] < cells["simulated"]).all() and (cells["simulated"] < 260).all()
    assert set(result.comparison["verdict"]) == {"differs"}
    assert result.comparison["why"].str.starts_with("Losses come at very different windows").all()


@pytest.mark.parametrize("control", ["reno", "bic", "cubic-0.8", "cubic-0.7", "cubic", "scalable"])
def test_a_lone_flow_uses_after_a_loss_what_the_closed_form_says(control: str) -> None:
    result = quick("single")
    own = result.tables["single"].filter(pl.col("control") == control)
    assert own["least"].to_list() == pytest.approx(own["formula"].to_list(), abs=0.015)
    assert (own["mean"] >= own["least"] - 1e-3).all()
    claims = result.comparison.filter(pl.col("setting").str.starts_with(f"control = {control},"))
    assert set(claims["verdict"]) == {"agrees"}


def test_windows_fall_by_beta() -> None:
    measured = quick("characteristics").tables["characteristics"]
    for control, beta in {"reno": 0.5, "cubic": 0.7}.items():
        row = measured.row(by_predicate=pl.col("mix") == control, named=True)
        assert row["beta"] == pytest.approx(beta, abs=0.02)
        assert row["theory_beta"] == pytest.approx(beta)
        assert row["epochs"] > characteristics.FLOWS


def test_report_and_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "docs" / "controls.md"
    (page.parent / "images").mkdir(parents=True)
    page.write_text(f"before\n{marker(DOCUMENT)}\nold\n{END}\nafter\n")
    out = tmp_path / "out"
    command = ["validate", "controls", "--quick", "--out", str(out), "--store", STORE.name]
    assert main([*command, "--docs", str(page), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "bufferlab-controls"
    assert len(document["minimum"]) == len(minimum.TARGETS)
    assert {claim["verdict"] for claim in document["claims"]} >= {"agrees", "differs"}
    assert {path.name for path in out.iterdir()} >= {
        "minimum.csv",
        "single.csv",
        "controls.md",
        "controls.png",
    }
    assert (page.parent / "images" / "controls.png").stat().st_size < 200_000
    assert re.search(r"^\| reno +\| 10 +\|", page.read_text(), re.MULTILINE)
    assert page.read_text().endswith("\nafter\n")
    assert main(command) == 0
    assert "closed form" in capsys.readouterr().out


def test_what_is_never_reached_says_so(tmp_path: Path) -> None:
    result = quick("minimum")
    never = result.tables["minimum"].with_columns(simulated=pl.lit(math.inf))
    changed = Reproduced(**{**vars(result), "tables": {"minimum": never}})
    assert "never / " in part_of(DOCUMENT, [changed])
    page = tmp_path / "none.md"
    page.write_text("nothing\n")
    with pytest.raises(OutputError, match="has no lines"):
        replace_study(page, "", marker(DOCUMENT), quick("single").figures["single"], "controls.png")


def test_bbr_has_its_own_closed_form() -> None:
    assert single.closed_form("bbr", 0.1) == pytest.approx(0.85)
    assert single.closed_form("cubic", 0.1) == pytest.approx(0.77)


def test_interpolation_finds_where_a_curve_reaches_the_target() -> None:
    asked: list[int] = []

    def curve(packets: int) -> float:
        asked.append(packets)
        return 1 - 1 / (1 + packets)

    grid = [round(1.25**power) for power in range(4, 40)]
    assert minimum.interpolated(curve, grid, 0.99) == pytest.approx(99, rel=0.02)
    assert len(set(asked)) <= 7
    assert minimum.interpolated(curve, grid, 0.1) == grid[0]
    assert minimum.interpolated(curve, grid, 1.0) == math.inf
