"""The scenario in a result folder or a store repeats the run, wherever it is."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Final

import pytest

import bufferlab
from bufferlab.results.result import RunSet
from bufferlab.scenario import Scenario, beside

SCENARIO: Final = """\
[run]
duration = "2 s"
seed = 3

[bottleneck]
rate = "10 Mbps"
buffer = "20 packets"

[[flows]]
rtt = "empirical(data/rtts.csv)"  # as measured

[[flows]]
rtt = "empirical('../rtts.csv')"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "there"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "rtts.csv").write_text("rtt_ms\n20\n40\n")
    (tmp_path / "rtts.csv").write_text("rtt_ms,weight\n60,1\n80,2\n")
    (folder / "measured.toml").write_text(SCENARIO)
    return folder / "measured.toml"


def test_each_seed_is_repeated_from_its_own_folder(file: Path, tmp_path: Path) -> None:
    runs = bufferlab.run(file, seeds=2, progress=False)
    runs.save(tmp_path / "out")
    (file.parent / "data" / "rtts.csv").unlink()
    assert "# as measured" in (tmp_path / "out" / "seed-3" / "scenario.toml").read_text()
    for run in runs:
        kept = tmp_path / "out" / f"seed-{run.seed}" / "scenario.toml"
        assert bufferlab.run(kept, progress=False)[0].plan_hash == run.plan_hash
    assert bufferlab.run(tmp_path / "out" / "scenario.toml", progress=False)[0].plan_hash == runs[0].plan_hash


def test_a_result_that_was_read_is_written_whole(file: Path, tmp_path: Path) -> None:
    bufferlab.run(file, progress=False).save(tmp_path / "out")
    RunSet.load(tmp_path / "out").save(tmp_path / "copy")
    first, second = (
        {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.[ct]*[vl]")}
        for folder in (tmp_path / "out", tmp_path / "copy")
    )
    assert first == second
    assert set(first) == {"scenario.toml", "files/rtts.csv", "files/rtts-2.csv"}


def test_a_store_keeps_what_its_scenarios_read(file: Path, tmp_path: Path) -> None:
    swept = [bufferlab.sweep(file, store=tmp_path / "runs", progress=False)]
    (file.parent / "data" / "rtts.csv").write_text("rtt_ms\n30\n50\n")
    swept.append(bufferlab.sweep(file, store=tmp_path / "runs", progress=False))
    kept = sorted((tmp_path / "runs" / "scenarios").glob("*.toml"))
    hashes = {bufferlab.run(path, progress=False)[0].plan_hash for path in kept}
    assert hashes == {each.hashes[0] for each in swept}


def test_files_are_read_once(file: Path) -> None:
    """A sweep's points are of one content, whatever happens to the file meanwhile."""
    scenario = Scenario.load(file)
    (file.parent / "data" / "rtts.csv").unlink()
    changed = scenario.with_overrides({"flows[0].count": 2})
    assert changed.files == scenario.files
    assert pickle.loads(pickle.dumps(changed)).files == scenario.files
    assert "data/rtts.csv" not in scenario.with_overrides({"flows[0].rtt": "20 ms"}).files


def test_a_text_without_files_is_left_alone() -> None:
    text = json.dumps({"rtt": "uniform(1 ms, 2 ms)"})
    assert beside(text, {}, "files") == (text, {})
