"""A mean over seeds says of how many it is, and is none where it would leave out the worst."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

import bufferlab
from bufferlab.cli import main
from bufferlab.render.compare.view import comparison_view
from bufferlab.render.stored_runs import runs_view
from bufferlab.render.summary import summary_view
from bufferlab.render.words import measured
from bufferlab.results.metrics.metric import MILLISECONDS
from bufferlab.results.metrics.registry import FLOW_GROUPS, LATENCY
from bufferlab.results.result import RunSet
from bufferlab.stats import Estimate
from bufferlab.studies.targets import mean_over_runs

PINGS: Final[dict[str, Any]] = {
    "run": {"duration": "5 s", "warmup": "1 s"},
    "bottleneck": {"rate": "10 Mbps", "delay": "2 ms", "buffer": "40 packets", "loss": 0.02},
    "flows": [{"name": "p", "rtt": "20 ms", "application": {"kind": "ping", "interval": "200 ms"}}],
}
"""Of 20 pings, all are answered with seed 2, and one is lost with seed 3: more than one in a hundred."""

WORST: Final = "exchange_p99_s"


@pytest.fixture(scope="module")
def runs() -> RunSet:
    return bufferlab.run(PINGS, seeds=[2, 3], progress=False)


def test_a_quantile_that_one_seed_cannot_tell_has_no_mean(runs: RunSet) -> None:
    assert [run.summary()["flows"][0][WORST] is None for run in runs] == [False, True]
    row = runs.summary()["flows"][0]
    assert (row[WORST], row[f"{WORST}_ci95"], row[f"{WORST}_runs"]) == (None, None, 1)
    assert "exchange_p95_s_runs" not in row and row["exchange_p95_s"] > 0


def test_the_screen_says_so(runs: RunSet) -> None:
    text = summary_view(runs.summary()).text()
    line = next(line for line in text.splitlines() if "exchange: 99th percentile" in line)
    assert line.strip().endswith("unknown (1 of 2 runs)")
    assert "unknown: too few finished in the other runs" in text
    assert "unknown" not in summary_view(runs[0].summary()).text()


def test_stores_and_their_tables_do_alike(tmp_path: Path) -> None:
    sweep = bufferlab.sweep(PINGS, {"bottleneck.loss": [0.02, 0.0]}, store=tmp_path, seeds=[2, 3])
    lossy, clean = sweep.means.to_dicts()
    assert (lossy[WORST], lossy[f"{WORST}_ci95"], lossy[f"{WORST}_runs"]) == (None, None, 1)
    assert clean[WORST] > 0 and clean[f"{WORST}_runs"] is None
    assert "wait_mean_ms_runs" not in sweep.means.columns
    shown = runs_view("", sweep.means.select("runs", WORST, f"{WORST}_runs"), 9, "").text()
    assert "unknown (1 of 2 runs)" in shown and "too few finished" in shown
    assert f"{WORST}_runs" not in shown
    assert json.dumps(sweep.to_dict()["means"])


def test_the_command_that_lists_runs_reads_what_tells_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bufferlab.sweep(PINGS, store=tmp_path / "runs", seeds=[2, 3])
    for columns, said in ((f"runs,{WORST}", "unknown (1 of 2 runs)"), (WORST, "unknown (1 run)")):
        assert main(["results", str(tmp_path / "runs"), "--means", "--columns", columns]) == 0
        assert said in capsys.readouterr().out


def test_other_values_are_averaged_over_the_runs_that_have_one() -> None:
    row = LATENCY.over_seeds([dict.fromkeys(LATENCY.names) | {"rpm": rpm} for rpm in (100.0, None, 300.0)])
    assert (row["rpm"], row["rpm_runs"]) == (200.0, 2)
    assert row["call_r"] is None and "call_r_runs" not in row


def test_nothing_that_could_finish_hides_nothing() -> None:
    """A seed without any transfer has no quantile, and not since too few finished."""
    seeds: list[dict[str, Any]] = [
        {WORST: 1.0, "exchanges_not_done": 0.0},
        {WORST: None, "exchanges_not_done": None},
    ]
    assert FLOW_GROUPS[WORST].over_runs(seeds) == Estimate(1.0, None, 1, 1)


def test_a_group_that_crosses_a_link_with_some_seeds_only(runs: RunSet) -> None:
    first, second = runs
    idle = second.queues.filter(pl.col("group") == "all")
    other = replace(second, frames=replace(second.frames, queues=idle))
    row = RunSet([first, other]).summary()["queues"][1]
    assert (row["group"], row["loss_runs"]) == ("p", 1)


def test_answers_tell_it_in_words() -> None:
    values = [{"p.completion_p95_s": 2.0, "p.unfinished_flows": 0.0}, {"p.unfinished_flows": 3.0}]
    found = mean_over_runs("p.completion_p95_s", values)
    assert measured(found, MILLISECONDS) == "unknown (1 of 2 runs)"
    assert measured(Estimate(12.345, None, 3, 2), MILLISECONDS) == "12.3 ms (3 of 5 runs)"


def test_comparisons_do_alike() -> None:
    found = bufferlab.compare(PINGS, ["fifo"], seeds=[2, 3], progress=False)
    document = found.to_dict()["queues"][0]
    name = f"p.{WORST}"
    assert (document["values"][name], document["values_runs"][name]) == (None, 1)
    assert "p.exchange_p95_s" not in document["values_runs"]
    assert found.groups[f"{WORST}_runs"].item() == 1
    assert comparison_view(found).text()
