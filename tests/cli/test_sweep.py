"""`bufferlab sweep` and `bufferlab results`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from .conftest import Command

GRID = (
    "--vary",
    "bottleneck.buffer=20 packets,100 packets",
    "--vary",
    "flows.near.count=1,2",
    "--seeds",
    "2",
)
SHORT = ("--set", "run.duration=1500 ms", "--store", "runs")


def swept(bufferlab: Command, *options: str) -> None:
    ended = bufferlab("sweep", "small.toml", *GRID, *SHORT, *options)
    assert (ended.status, ended.err) == (0, "")


def test_the_means_are_printed(bufferlab: Command) -> None:
    ended = bufferlab("sweep", "small.toml", *GRID, *SHORT)
    assert (ended.status, ended.err) == (0, "")
    assert "small: 4 points × 2 seeds; 8 simulated, 0 in the store before, 0 failed" in ended.out
    assert "bottleneck.buffer  flows.near.count  utilization, %" in ended.out
    assert ended.out.count("20 packets") == 2
    assert " ± " in ended.out
    assert "bufferlab results runs" in ended.out
    again = bufferlab("sweep", "small.toml", *GRID, *SHORT)
    assert "0 simulated, 8 in the store before, 0 failed" in again.out


def test_json_is_the_document(bufferlab: Command) -> None:
    ended = bufferlab("sweep", "small.toml", *GRID, *SHORT, "--json")
    document = json.loads(ended.out)
    assert (document["format"], document["points"], document["runs"]) == ("bufferlab-sweep", 4, 8)
    assert document["parameters"] == ["bottleneck.buffer", "flows.near.count"]
    assert document["means"][0]["bottleneck.buffer"] == "20 packets"
    assert document["means"][0]["runs"] == 2
    assert 0 < document["means"][0]["utilization"] <= 1.01


def test_the_store_has_a_name_by_default(bufferlab: Command, tmp_path: Path) -> None:
    assert bufferlab("sweep", "small.toml", "--set", "run.duration=1500 ms").status == 0
    assert (tmp_path / "small-runs" / "store.json").exists()


def test_lists_and_samples(bufferlab: Command, tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("bottleneck.buffer,flows.near.count\n20 packets,1\n30 packets,\n")
    assert "2 points; 2 simulated" in bufferlab("sweep", "small.toml", "--list", "points.csv", *SHORT).out
    ranges = ("--vary", "bottleneck.rate=log(1..20 Mbps)", "--vary", "bottleneck.buffer=5..50 packets")
    sampled = bufferlab("sweep", "small.toml", "--sample", "latin:4", *ranges, *SHORT)
    assert "4 points; 4 simulated" in sampled.out


def test_failures_give_status_1_and_are_explained(bufferlab: Command) -> None:
    vary = ("--vary", "bottleneck.delay=1 ms,30 ms", "--vary", "flows.near.rtt=20 ms,90 ms")
    ended = bufferlab("sweep", "small.toml", *vary, *SHORT)
    assert ended.status == 1
    assert ended.line() == "bufferlab: 1 run failed: see 'bufferlab results runs --failed'"
    assert "3 simulated, 0 in the store before, 1 failed" in ended.out
    explained = bufferlab("results", "runs", "--failed")
    assert explained.status == 0
    assert "runs: 1 run, 1 of them failed" in explained.out
    assert "30 ms" in explained.out and "rtt" in explained.out


def test_runs_are_listed(bufferlab: Command) -> None:
    swept(bufferlab)
    listed = bufferlab("results", "runs")
    assert (listed.status, listed.err) == (0, "")
    assert "runs: 8 runs" in listed.out
    assert listed.out.count("100 packets") == 4
    few = bufferlab("results", "runs", "--limit", "3")
    assert "and 5 more: use --limit, --csv or --parquet for the rest" in few.out


def rows(bufferlab: Command, *options: str) -> list[dict[str, object]]:
    ended = bufferlab("results", "runs", "--json", *options)
    assert (ended.status, ended.err) == (0, "")
    document = json.loads(ended.out)
    assert document["format"] == "bufferlab-runs-list"
    found: list[dict[str, object]] = document["rows"]
    return found


def test_runs_are_filtered_sorted_and_averaged(bufferlab: Command) -> None:
    swept(bufferlab)
    every = rows(bufferlab)
    assert len(every) == 8
    condition = (
        "--where",
        "bottleneck.buffer = '20 packets' and seed = 2",
        "--where",
        "flows.near.count > 1",
    )
    (one,) = rows(bufferlab, *condition)
    assert (one["bottleneck.buffer"], one["flows.near.count"], one["seed"]) == ("20 packets", 2, 2)
    busiest = rows(bufferlab, "--sort", "-utilization", "--columns", "utilization,seed")
    assert list(busiest[0]) == ["utilization", "seed"]
    found = [row["utilization"] for row in busiest]
    assert found == sorted((row["utilization"] for row in every), reverse=True)  # type: ignore[type-var]
    by_size = rows(bufferlab, "--sort", "bottleneck.buffer", "--columns", "bottleneck.buffer")
    assert [row["bottleneck.buffer"] for row in by_size] == ["20 packets"] * 4 + ["100 packets"] * 4
    means = rows(bufferlab, "--means", "--where", "flows.near.count = 1")
    assert [(row["bottleneck.buffer"], row["runs"]) for row in means] == [
        ("20 packets", 2),
        ("100 packets", 2),
    ]
    flows = rows(bufferlab, "--table", "flows", "--where", "group = 'far'")
    assert len(flows) == 8
    far = rows(bufferlab, "--table", "flows", "--means", "--columns", "group,flows,runs")
    assert far[:3] == [
        {"group": "near", "flows": 1, "runs": 2},
        {"group": "far", "flows": 1, "runs": 2},
        {"group": "all", "flows": 2, "runs": 2},
    ]
    queues = rows(bufferlab, "--table", "queues", "--columns", "link,group")
    assert queues[0] == {"link": "bottleneck", "group": "all"}


def test_runs_are_exported(bufferlab: Command, tmp_path: Path) -> None:
    swept(bufferlab)
    ended = bufferlab("results", "runs", "--csv", "a.csv", "--parquet", "a.parquet", "--where", "seed = 1")
    assert (ended.status, ended.out) == (0, "")
    assert ended.line() == "bufferlab: saved 4 rows in a.csv, a.parquet"
    frame = pl.read_parquet(tmp_path / "a.parquet")
    assert frame["bottleneck.buffer"].to_list() == ["20 packets"] * 2 + ["100 packets"] * 2
    with (tmp_path / "a.csv").open() as stream:
        table = list(csv.DictReader(stream))
    assert [float(row["utilization"]) for row in table] == frame["utilization"].to_list()
    failed = bufferlab("results", "runs", "--csv", "none/a.csv")
    assert failed.status == 1
    assert failed.line() == "bufferlab: none/a.csv: cannot be written (No such file or directory)"


def test_runs_of_other_engines_are_shown_on_request(
    bufferlab: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept(bufferlab)
    monkeypatch.setattr("bufferlab.cli.stored.ENGINE", "9.9.9+new")
    ended = bufferlab("results", "runs")
    assert "runs: 0 runs" in ended.out
    assert "no runs by this engine, 9.9.9+new; 8 by " in ended.line()
    assert len(rows(bufferlab, "--engine-version", "all")) == 8
    other = bufferlab("results", "runs", "--engine-version", "1.2.3")
    assert other.status == 2
    assert "--engine-version: '1.2.3' has no runs there; accepted: " in other.line()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("results", "none"), "none: does not exist; accepted: a folder that `bufferlab sweep` wrote"),
        (("results", "."), ".: is no store of runs"),
        (("sweep", "small.toml", "--store", "."), ".: holds other files already; accepted: a new folder"),
        (("sweep", "small.toml", "--store", "small.toml"), "small.toml: is not a folder"),
        (("sweep", "small.toml", "--vary", "bottleneck.rate"), "--vary: 'bottleneck.rate' says nothing to"),
        (("sweep", "small.toml", "--vary", "bottleneck.rte=1"), "a point: bottleneck.rte: is not a known"),
        (("sweep", "small.toml", "--sample", "latin"), "--sample: 'latin' is no way to sample"),
        (("sweep", "small.toml", "--list", "none.csv"), "none.csv: no such file"),
        (("sweep", "small.toml", "--engine", "cloud"), "--engine: 'cloud' is no engine; accepted: "),
        (("sweep", "none.toml",), "none.toml: no such file"),
    ],
)  # fmt: skip
def test_one_line_says_what_is_wrong(bufferlab: Command, args: tuple[str, ...], message: str) -> None:
    ended = bufferlab(*args)
    assert ended.status == 2
    assert ended.line().startswith(f"bufferlab: {message}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--where", "utilisation > 1"),
            "--where: 'utilisation' is no column (did you mean 'utilization'?); accepted: ",
        ),
        (("--where", "seed >"), "--where: 'seed >' is no usable condition"),
        (("--where", "seed = 'x' and"), "--where: "),
        (
            ("--columns", "sed"),
            "--columns: 'sed' is no column (did you mean 'seed'?); accepted: ",
        ),
        (("--columns", "seed,seed"), "--columns: 'seed' is named twice"),
        (("--sort", "-sed"), "--sort: 'sed' is no column (did you mean 'seed'?); accepted: "),
        (("--limit", "0"), "--limit: 0 is too small; accepted: 1 or more"),
        (("--table", "hosts"), "--table: 'hosts' is no table; accepted: runs"),
    ],
)
def test_questions_that_make_no_sense(bufferlab: Command, options: tuple[str, ...], message: str) -> None:
    swept(bufferlab)
    ended = bufferlab("results", "runs", *options)
    assert ended.status == 2
    assert ended.line().startswith(f"bufferlab: {message}")


def test_a_path_that_leads_nowhere_is_a_points_mistake(bufferlab: Command) -> None:
    ended = bufferlab("sweep", "small.toml", "--vary", "flows.count=1,2", *SHORT)
    assert ended.status == 2
    assert ended.line().startswith(
        "bufferlab: a point: flows.count: names nothing called 'count'; accepted: "
    )


def test_means_are_of_one_scenario(bufferlab: Command) -> None:
    again = ("sweep", "small.toml", "--seeds", "2", *SHORT)
    assert bufferlab(*again).status == bufferlab(*again, "--set", "bottleneck.rate=2 Mbps").status == 0
    assert [(row["bottleneck.rate"], row["runs"]) for row in rows(bufferlab, "--means")] == [
        (None, 2),
        ("2 Mbps", 2),
    ]
    shown = bufferlab("results", "runs", "--means").out
    assert "bottleneck.rate" in shown and "run.duration" not in shown and "scenario_hash" not in shown
    assert len(rows(bufferlab, "--means", "--table", "queues")) == 2 * len(
        rows(bufferlab, "--means", "--table", "queues", "--where", "\"bottleneck.rate\" = '2 Mbps'")
    )


def test_a_scenario_that_was_edited_is_another(bufferlab: Command, tmp_path: Path) -> None:
    once = ("sweep", "small.toml", *SHORT)
    bufferlab(*once)
    text = (tmp_path / "small.toml").read_text()
    (tmp_path / "small.toml").write_text(text.replace("[bottleneck]", "[bottleneck]\nloss = 0.01"))
    bufferlab(*once)
    assert [row["runs"] for row in rows(bufferlab, "--means")] == [1, 1]
    assert "scenario_hash" in bufferlab("results", "runs", "--means").out
    assert "scenario_hash" in bufferlab("results", "runs").out


def test_a_file_that_a_law_reads_is_part_of_the_scenario(bufferlab: Command, tmp_path: Path) -> None:
    for rtts in ("20\n30\n", "30\n40\n"):
        (tmp_path / "rtts.csv").write_text(f"rtt_ms\n{rtts}")
        bufferlab("sweep", "small.toml", *SHORT, "--set", "flows.near.rtt=empirical(rtts.csv)")
    means = rows(bufferlab, "--means")
    assert [row["runs"] for row in means] == [1, 1]
    assert len({row["scenario_hash"] for row in means}) == 2


def test_what_one_sweep_varied_and_another_had_is_one_scenario(bufferlab: Command) -> None:
    bufferlab("sweep", "small.toml", *SHORT)
    bufferlab("sweep", "small.toml", *SHORT, "--seeds", "3", "--vary", "flows.near.count=1,2")
    own = [row for row in rows(bufferlab, "--means") if row["runs"] == 3]
    assert sorted(str(row["flows.near.count"]) for row in own) == ["1", "2"]


@pytest.mark.parametrize("kept_bytes", [0, 100, 5000])
def test_a_damaged_segment_is_named(bufferlab: Command, tmp_path: Path, kept_bytes: int) -> None:
    bufferlab("sweep", "small.toml", *SHORT)
    segment = next((tmp_path / "runs" / "segments").glob("*.parquet"))
    segment.write_bytes(segment.read_bytes()[:kept_bytes] + b"PAR1")
    for verb in (("sweep", "small.toml", *SHORT), ("results", "runs")):
        ended = bufferlab(*verb)
        assert ended.status == 2
        assert str(segment.relative_to(tmp_path)) in ended.err and "is damaged" in ended.err
        assert "results runs --repair' sets it aside" in ended.err and "bug" not in ended.err
    segment.unlink()
    assert bufferlab("sweep", "small.toml", *SHORT).status == 0
