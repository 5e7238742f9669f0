"""`bufferlab run` from a shell."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bufferlab import Result, RunSet
from bufferlab.experiment.store import open_store

from ..small import start
from .conftest import Command

LONG = ("--set", "run.duration=100000 s", "--set", "bottleneck.rate=200 Mbps")
"""Overrides that make small.toml take minutes."""


def test_summary_on_standard_output(bufferlab: Command) -> None:
    ended = bufferlab("run", "small.toml")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("small: 3 s, measured from 1 s; seed 1\n")
    for words in ("near (2)", "far (1)", "all (3)", "queue of bottleneck", "wait: 99th percentile, ms"):
        assert words in ended.out
    assert "packets per CPU second" in ended.out


def test_several_seeds_have_confidence(bufferlab: Command) -> None:
    ended = bufferlab("run", "small.toml", "--seeds", "3", "--threads", "2")
    assert ended.status == 0
    assert "means of 3 seeds ± 95 % confidence" in ended.out
    assert " ± " in ended.out.partition("queue of")[2]


def test_json_is_the_summary_and_nothing_else(bufferlab: Command, tmp_path: Path) -> None:
    ended = bufferlab("run", "small.toml", "--json", "--seeds", "2", "--out", "out")
    assert ended.status == 0
    summary = json.loads(ended.out)
    assert summary["format"] == "bufferlab-summary"
    assert summary["seeds"] == [1, 2]
    assert json.loads((tmp_path / "out/summary.json").read_text()) == summary
    assert ended.line() == "bufferlab: saved out"


def test_overrides(bufferlab: Command) -> None:
    changes = ("--set", "flows.near.count=5", "--set", "bottleneck.rate=20 Mbps", "--set", "run.seed=9")
    summary = json.loads(bufferlab("run", "small.toml", "--json", *changes).out)
    assert summary["flows"][0]["flows"] == 5
    assert summary["seeds"] == [9]
    assert summary["queues"][0]["throughput_bps"] > 10.1e6


def test_each_mistake_of_a_file_has_a_line(bufferlab: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('[run]\nduraton = "1 s"\n[bottleneck]\nrate = 5\nbuffer = "1 MB"\n')
    ended = bufferlab("run", str(tmp_path / "bad.toml"))
    assert ended.status == 2
    places = [line.split(": ")[1:3] for line in ended.err.splitlines()]
    file = str(tmp_path / "bad.toml")
    assert places == [[f"{file}:2:1", "run.duraton"], [f"{file}:4:8", "bottleneck.rate"], [file, "flows"]]


def test_a_json_scenario_works_alike(bufferlab: Command, tmp_path: Path) -> None:
    scenario = {
        "run": {"duration": "2 s"},
        "bottleneck": {"rate": "5 Mbps", "buffer": "20 packets"},
        "flows": [{"name": "one", "rtt": "10 ms"}],
    }
    (tmp_path / "small.json").write_text(json.dumps(scenario))
    summary = json.loads(bufferlab("run", "small.json", "--json").out)
    assert [flow["group"] for flow in summary["flows"]] == ["one"]


def test_result_folder_loads_and_runs_again(bufferlab: Command, tmp_path: Path) -> None:
    ended = bufferlab("run", "small.toml", "--out", "new/parents/out", "--set", "bottleneck.rate=5 Mbps")
    assert ended.status == 0
    first = Result.load(tmp_path / "new/parents/out")
    assert first.overrides == {"bottleneck.rate": "5 Mbps"}
    bufferlab("run", "new/parents/out/scenario.toml", "--out", "again")
    assert Result.load(tmp_path / "again").plan_hash == first.plan_hash
    assert Result.load(tmp_path / "again").flows.equals(first.flows)


def test_scenario_is_kept_as_given(bufferlab: Command, tmp_path: Path) -> None:
    bufferlab("run", "small.toml", "--out", "out")
    assert (tmp_path / "out/scenario.toml").read_text() == (tmp_path / "small.toml").read_text()


def test_plots_need_no_probes_and_no_folder(bufferlab: Command, tmp_path: Path) -> None:
    ended = bufferlab("run", "small.toml", "--plot", "small-figures")
    assert ended.status == 0
    assert ended.line() == "bufferlab: saved small-figures"
    assert len(list((tmp_path / "small-figures").iterdir())) == 10


def test_plots_may_stand_in_the_result_folder(bufferlab: Command, tmp_path: Path) -> None:
    args = ("run", "small.toml", "--plot", "out/figures", "--out", "out", "--seeds", "2")
    for _ in range(2):  # the second result replaces the first
        assert bufferlab(*args).line() == "bufferlab: saved out, out/figures"
    assert RunSet.load(tmp_path / "out").seeds == [1, 2]
    names = {path.name for path in (tmp_path / "out/figures").iterdir()}
    assert {"backlog.png", "backlog.svg", "cwnd.svg", "goodput.svg", "wait_cdf.svg"} <= names


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("nowhere.toml",), "nowhere.toml: no such file"),
        ((".",), "is a directory"),
        (("small.toml", "--set", "bottleneck.rate=-1 Mbps"), "bottleneck.rate: '-1 Mbps'"),
        (("small.toml", "--set", "bottleneck.rte=1 Mbps"), "rte"),
        (("small.toml", "--set", "nonsense"), "'nonsense' is not an override"),
        (("small.toml", "--set", "flows.0.rtt=1 parsec"), "--set: flows.0.rtt: '1 parsec' has a wrong unit"),
        (("small.toml", "--set", "run.stack=linus"), "(did you mean 'linux'?); accepted: rfc, ns2-sack1,"),
        (("small.toml", "--seeds", "0"), "--seeds: 0"),
        (("small.toml", "--threads", "0"), "--threads: 0"),
        (("small.toml", "--out", "small.toml"), "small.toml: is not a folder"),
        (("small.toml", "--set", "bottlenek.rate=1"), "bufferlab: --set: bottlenek: is not a known key"),
        (("small.toml", "--out", "."), "current folder"),
        (
            ("small.toml", "--plot", "figures/small.png"),
            "--plot: 'figures/small.png' is one file, and a run has several figures; accepted: a folder, "
            "such as figures/small",
        ),
    ],
)
def test_bad_input_is_one_line_and_status_2(bufferlab: Command, args: tuple[str, ...], says: str) -> None:
    ended = bufferlab("run", *args)
    assert ended.status == 2
    assert ended.out == ""
    assert says in ended.line()


def test_every_text_of_set_that_is_none_is_reported(bufferlab: Command) -> None:
    ended = bufferlab("run", "small.toml", "--set", "nonsense", "--set", "run.seed=1", "--set", "=2")
    assert ended.status == 2
    assert [line.split("'")[1] for line in ended.err.splitlines()] == ["nonsense", "=2"]


def test_an_output_folder_that_cannot_be_made_is_one_line_and_status_1(
    bufferlab: Command, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    ended = bufferlab("run", "small.toml", "--out", "file/out")
    assert ended.status == 1
    assert ended.err.splitlines()[-1].startswith("bufferlab: ")
    assert "cannot be written" in ended.line()


def interrupted(tmp_path: Path, number: signal.Signals, *args: str, finished: int) -> tuple[int, str, str]:
    """How a run ends that gets a signal once its store is open and has that many runs."""
    process = start("run", "small.toml", *args, "--store", "runs", cwd=tmp_path)
    end_s = time.monotonic() + 120
    while kept(tmp_path) < finished and process.poll() is None and time.monotonic() < end_s:
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def kept(folder: Path) -> int:
    """The finished runs of the store there; -1 if it is not open yet."""
    store = folder / "runs"
    return open_store(store).runs().height if (store / "store.json").exists() else -1


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_the_run(bufferlab: Command, tmp_path: Path, number: signal.Signals, status: int) -> None:
    assert bufferlab("run", "small.toml").status == 0
    found, out, err = interrupted(tmp_path, number, *LONG, "--seeds", "5", "--out", "out", finished=0)
    assert (found, out) == (status, "")
    assert err == "bufferlab: interrupted: 0 of 5 seeds finished\n"
    assert {path.name for path in tmp_path.iterdir()} == {"small.toml", "runs"}


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_saves_and_shows_the_finished_seeds(bufferlab: Command, tmp_path: Path) -> None:
    assert bufferlab("run", "small.toml").status == 0
    many = ("--set", "run.duration=2000 s", "--seeds", "5000", "--json", "--out", "out")
    status, out, err = interrupted(tmp_path, signal.SIGINT, *many, finished=1)
    assert status == 130
    finished = RunSet.load(tmp_path / "out").seeds
    assert 0 < len(finished) < 5000
    assert finished == sorted(set(finished))
    assert json.loads(out)["seeds"] == finished
    assert err.splitlines()[-1].startswith(f"bufferlab: interrupted: {len(finished)} of 5000 seeds finished;")
    assert "Traceback" not in err


def test_the_command_is_installed_as_a_module() -> None:
    ended = subprocess.run([sys.executable, "-m", "bufferlab", "--version"], capture_output=True, check=True)
    assert ended.stdout.startswith(b"bufferlab ")


def test_captures_and_traces_are_written_and_reported(bufferlab: Command, tmp_path: Path) -> None:
    names = ("--pcap", "a.pcapng", "--pcap-at", "senders", "--pcap-at", "bottleneck", "--trace", "a.tr")
    ended = bufferlab("run", "small.toml", *names, "--record-flows", "near")
    assert ended.status == 0
    first, second = ended.err.splitlines()
    size = (tmp_path / "a.pcapng").stat().st_size
    assert first.startswith("bufferlab: a.pcapng: ")
    assert first.endswith(f" packets, {size} bytes")
    assert second.startswith(f"bufferlab: a.tr: {len((tmp_path / 'a.tr').read_text().splitlines())} lines, ")


def test_a_place_that_is_none_is_bad_input(bufferlab: Command) -> None:
    ended = bufferlab("run", "small.toml", "--pcap", "a.pcapng", "--pcap-at", "router")
    assert ended.status == 2
    assert ended.line() == (
        "bufferlab: --pcap-at: 'router' is unknown; accepted: senders, receivers, bottleneck"
    )


def test_a_capture_that_cannot_be_opened_ends_it_before_the_run(bufferlab: Command) -> None:
    ended = bufferlab("run", "small.toml", *LONG, "--pcap", "missing/a.pcapng")
    assert (ended.status, ended.out) == (1, "")
    assert ended.line() == "bufferlab: missing/a.pcapng: cannot be written (No such file or directory)"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_fills_costs_the_capture_only(bufferlab: Command, tmp_path: Path) -> None:
    ended = bufferlab("run", "small.toml", "--pcap", "/dev/full", "--out", "out", "--json")
    assert ended.status == 1
    assert json.loads(ended.out) == json.loads((tmp_path / "out/summary.json").read_text())
    saved, reported = ended.err.splitlines()
    assert saved == "bufferlab: saved out"
    assert reported.startswith(
        "bufferlab: /dev/full: 0 packets, 0 bytes, cut off there: No space left on device"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_interrupted_run_leaves_a_capture_of_what_was(tmp_path: Path, bufferlab: Command) -> None:
    assert bufferlab("run", "small.toml", "--json").status == 0  # the file is there
    process = start("run", "small.toml", *LONG, "--pcap", "a.pcapng", cwd=tmp_path)
    path = tmp_path / "a.pcapng"
    while not path.exists() or path.stat().st_size == 0:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    data, at = path.read_bytes(), 0
    while at < len(data):
        at += int.from_bytes(data[at + 4 : at + 8], "little")
    assert at == len(data) > 200_000
