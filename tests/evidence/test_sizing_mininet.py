"""Sizing Router Buffers on Mininet-HiFi: the testbed's set-up, its script, the data, and the quick runs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from bufferlab.cli import main
from bufferlab.errors import InputError
from bufferlab.evidence import find_reproductions, reproduce
from bufferlab.evidence.sizing_mininet import searches
from bufferlab.evidence.sizing_mininet.answers import LEAST_ANSWER
from bufferlab.evidence.sizing_mininet.oc3 import OC3
from bufferlab.evidence.sizing_mininet.oc3 import scenario as oc3_scenario
from bufferlab.evidence.sizing_mininet.searches import Cell, link_of, scenario, scripted
from bufferlab.evidence.sizing_mininet.testbeds import Measured, bundled, read_measured, summarized
from bufferlab.plan import lower

MININET, HARDWARE = bundled()["mininet"], bundled()["hardware"]


def test_the_document_has_five_figures_here_and_one_for_kernels() -> None:
    names = [each.name.partition("/")[2] for each in find_reproductions("sizing-mininet")]
    assert names == ["fig_min_buffer", "fig_99", "fig_fidelity", "fig_oc3", "fig_trace", "fig_curve"]


def test_the_testbed_is_the_one_of_the_script() -> None:
    plan = lower(scenario(Cell("synchronized", "BIC", 400), 100.0, 10.0))
    (link,) = plan["links"]
    assert link["rate_bps"] == 62_500_000
    assert link["discipline"]["limit"] == {"packets": 453}
    # int(bw_net * 2 * delay * 1000 / 8 / 1500) with 43.5 ms
    assert int(62.5 * 2 * 43.5 * 1000 / 8 / 1500) == 453
    source = plan["groups"][0]["source"]
    assert (source["congestion"]["kind"], source["mss_bytes"] + source["header_bytes"]) == ("bic", 1500)
    flows = plan["flows"]
    assert min(flows["start_ps"]) >= 5e12
    assert max(flows["start_ps"]) <= 5.4e12
    assert flows["source_delay_ps"][0] * 2 + link["delay_ps"] + flows["return_delay_ps"][0] == 87e9


def test_senders_differ_in_what_keeps_them_apart() -> None:
    plans = {name: lower(scenario(Cell(name, "RENO", 20), 10.0, 1.0)) for name in searches.SENDERS}
    assert len(set(plans["synchronized"]["flows"]["return_delay_ps"])) == 1
    assert len(set(plans["spread"]["flows"]["return_delay_ps"])) == 20
    assert plans["jitter"]["groups"][0]["jitter"]["kind"] == "uniform"


def test_the_script_s_procedure_is_cheap_to_repeat_and_says_two_at_least() -> None:
    found = scripted(Cell("synchronized", "BIC", 400), 1)
    assert found is not None
    assert found.full_rate_bps == pytest.approx(62.5e6, rel=1e-3)
    assert [packets for packets, _ in found.trials][:4] == [453, 227, 114, 57]
    # two packets a flow of bandwidth-delay product: a handful of packets are enough, a fiftieth of the BDP
    assert LEAST_ANSWER <= found.packets <= 9
    again = scripted(Cell("synchronized", "BIC", 400), 1)
    assert again is not None
    assert [sample.rate_bps for _, sample in again.trials] == [sample.rate_bps for _, sample in found.trials]


def test_the_quick_figure_has_both_searches_beside_the_testbeds() -> None:
    reproduced = reproduce("sizing-mininet/fig_min_buffer", quick=True, progress=False)
    rows = {row["flows"]: row for row in reproduced.tables["answers"].iter_rows(named=True)}
    assert sorted(rows) == [10, 400]
    assert (rows[10]["mininet"], rows[10]["mininet_min"], rows[10]["mininet_max"]) == (35, 15, 35)
    assert (rows[400]["mininet"], rows[400]["hardware"]) == (2, 2.8)
    assert [round(rows[flows]["bound"]) for flows in (10, 400)] == [143, 23]
    # both searches stay below RTT·C/sqrt n, as both testbeds do, and fall with n
    for name in ("script", "ours"):
        assert rows[400][name] < rows[10][name] < rows[10]["bound"]
        assert rows[400][name] <= 9
    assert rows[10]["ours_low"] <= rows[10]["ours"] <= rows[10]["ours_high"]
    assert (rows[10]["ours_bic_jitter"], rows[10]["script_bic_jitter"]) == (
        rows[10]["ours"],
        rows[10]["script"],
    )
    assert rows[10]["ours_reno_spread"] is None  # not among the quick settings
    assert set(reproduced.tables) == {"answers", "ours", "script", "testbeds"}
    assert len(reproduced.scenarios) == 2
    (row,) = reproduced.comparison.filter(
        pl.col("claim") == "script", pl.col("setting") == "flows = 400"
    ).iter_rows(named=True)
    assert (row["verdict"], row["ours"]) == ("not comparable", rows[400]["script"])


def test_oc3_has_the_bandwidth_delay_product_of_the_document() -> None:
    assert (link_of(OC3).rate_bps, link_of(OC3).bdp_packets) == (155_000_000, 155e6 * 0.08 / 8000)
    plan = lower(oc3_scenario(100, 20.0, 5.0))
    source = plan["groups"][0]["source"]
    assert source["mss_bytes"] + source["header_bytes"] == 1000
    columns = [plan["flows"][name] for name in ("source_delay_ps", "sink_delay_ps", "return_delay_ps")]
    rtt_ms = np.sum(columns, axis=0) / 1e9 + 1
    assert rtt_ms.mean() == pytest.approx(80, rel=1e-6)
    assert 40 < rtt_ms.min() < rtt_ms.max() < 120


def test_the_quick_oc3_says_the_bound() -> None:
    reproduced = reproduce("sizing-mininet/fig_oc3", quick=True, progress=False)
    (row,) = reproduced.tables["bounds"].iter_rows(named=True)
    assert (row["flows"], round(row["bound_packets"])) == (100, 155)
    assert row["low"] <= row["packets"]


def test_the_trace_is_a_script_s_search() -> None:
    reproduced = reproduce("sizing-mininet/fig_trace", quick=True, progress=False)
    trials = reproduced.tables["trials"]
    assert trials["buffer_packets"].to_list()[:2] == [453, 227]
    assert trials["kept"][0] == "calibration"
    readings = reproduced.tables["readings"]
    assert readings.height == 30 + 3 * (trials.height - 1)
    assert max(readings["reading_mbps"].to_list()) <= 62.5 * 1.001


def write(directory: Path) -> None:
    (directory / "mininet.csv").write_text(
        "flows,run,min_buffer_packets,min_buffer_bytes\n2,1,38,57000.0\n2,2,52,78000.0\n2,3,59,88500.0\n"
    )
    (directory / "hardware.csv").write_text("flows,run,min_buffer_bytes\n5,1,15000\n5,2,30000\n")


def test_the_authors_files_are_read_and_summarized(tmp_path: Path) -> None:
    write(tmp_path)
    raw = read_measured(tmp_path)
    assert raw.filter(pl.col("testbed") == "mininet")["packets"].to_list() == [38, 52, 59]
    summary = summarized(raw)
    assert summary["mininet"] == (MININET[0],)
    assert summary["hardware"] == (Measured(5, 2, 15, 10, 20),)


def test_the_summary_is_that_of_the_testbeds() -> None:
    assert [each.flows for each in MININET] == [2, 4, 10, 20, 100, 200, 400, 600, 800]
    assert {each.runs for each in MININET} == {3}
    assert HARDWARE[0] == Measured(5, 15, 34.8, 12.7, 204.9)
    assert all(each.least <= each.median <= each.most for each in (*MININET, *HARDWARE))
    # the document: "bounded by the theoretical limit"; the hardware's 100 flows are 5 % above it
    above = [each for each in (*MININET, *HARDWARE) if each.median > 453 / math.sqrt(each.flows)]
    assert [(each.flows, each.median) for each in above] == [(100, 47.7)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "mininet.csv: no such file; accepted: the authors' result files"),
        ("a,b\n1,2\n", "cannot be read"),
    ],
)
def test_files_that_are_not_the_authors_are_refused(
    tmp_path: Path, content: str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "mininet.csv").write_text(content)
    with pytest.raises(InputError) as caught:
        read_measured(tmp_path)
    assert message in str(caught.value)


def test_the_command_reads_them_before_any_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--quick", "--measured", str(tmp_path), "--out", str(tmp_path / "out")]
    assert main(["reproduce", "sizing-mininet/fig_min_buffer", *options]) == 2
    assert "mininet.csv: no such file" in capsys.readouterr().err
    write(tmp_path)
    assert main(["reproduce", "sizing-mininet/fig_min_buffer", "--json", *options]) == 0
    (document,) = json.loads(capsys.readouterr().out)["reproductions"]
    assert document["name"] == "sizing-mininet/fig_min_buffer"
    folder = tmp_path / "out" / "sizing-mininet-fig_min_buffer"
    assert {"measured.csv", "ours.csv", "script.csv", "fig_min_buffer.png"} <= {
        each.name for each in folder.iterdir()
    }
