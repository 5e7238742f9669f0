"""Congestion controls against theory: the search, the tables, the command."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from bufferlab.cli import main
from bufferlab.errors import OutputError
from bufferlab.evidence.controls import Controls, characteristics, minimum, single, study_controls
from bufferlab.evidence.controls.mixes import DOCUMENT_MIX, MIXES, alone, scenario_of
from bufferlab.evidence.controls.report import BEGIN, markdown, update_docs
from bufferlab.evidence.pages import END


@pytest.fixture(scope="module")
def quick() -> Controls:
    return study_controls(quick=True, progress=False)


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


def test_reno_needs_more_than_theorem_2(quick: Controls) -> None:
    (cell,) = quick.cells
    assert (cell.mix, cell.flows) == ("reno", 10)
    assert cell.stanford == pytest.approx(260 / math.sqrt(10))
    simulated = [one.simulated for one in cell.minima]
    assert simulated == sorted(simulated)
    assert all(one.theorem < one.simulated < 260 for one in cell.minima)


@pytest.mark.parametrize("control", ["reno", "bic", "cubic-0.8", "cubic-0.7", "cubic", "scalable"])
def test_a_lone_flow_uses_after_a_loss_what_the_closed_form_says(quick: Controls, control: str) -> None:
    for each in quick.singles:
        if each.control == control:
            assert each.least == pytest.approx(each.formula, abs=0.015)
            assert each.mean >= each.least - 1e-3


def test_windows_fall_by_beta(quick: Controls) -> None:
    measured = {each.control: each for each in quick.characteristics if each.mix == each.control}
    wanted = {"reno": 0.5, "cubic": 0.7}
    for control, beta in wanted.items():
        assert measured[control].beta == pytest.approx(beta, abs=0.02)
        assert measured[control].epochs > characteristics.FLOWS


def test_report_and_command(
    quick: Controls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bufferlab.cli.validate.study_controls", lambda **_: quick)
    page = tmp_path / "docs" / "controls.md"
    (page.parent / "images").mkdir(parents=True)
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    out = tmp_path / "out"
    assert main(["validate", "controls", "--out", str(out), "--docs", str(page), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "bufferlab-controls"
    assert len(document["minimum"]) == len(minimum.TARGETS)
    assert {path.name for path in out.iterdir()} >= {
        "minimum.csv",
        "single.csv",
        "controls.md",
        "controls.png",
    }
    assert (page.parent / "images" / "controls.png").stat().st_size < 200_000
    assert "| reno | 10 |" in page.read_text()
    assert page.read_text().endswith("\nafter\n")
    assert main(["validate", "controls", "--out", str(out)]) == 0
    assert "closed form" in capsys.readouterr().out


def test_what_is_never_reached_says_so(quick: Controls, tmp_path: Path) -> None:
    (cell,) = quick.cells
    never = [minimum.Minimum(one.utilization, math.inf, one.theorem) for one in cell.minima]
    changed = Controls([minimum.Cell(**vars(cell) | {"minima": tuple(never)})], [], [])
    assert "never" in markdown(changed)
    page = tmp_path / "none.md"
    page.write_text("nothing\n")
    with pytest.raises(OutputError, match="has no lines"):
        update_docs(quick, page)


def test_bbr_has_its_own_closed_form() -> None:
    assert single.closed_form("bbr", 0.1) == pytest.approx(0.85)
    assert single.closed_form("cubic", 0.1) == pytest.approx(0.77)
