"""Result folders: whole or not at all."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bufferlab.errors import InputError, OutputError
from bufferlab.plan import plan_json
from bufferlab.results import folder as store
from bufferlab.results.frames import NAMES
from bufferlab.results.result import Result, RunSet

from ..conftest import as_given

FILES = {
    "scenario.toml", "plan.json", "result.json", "summary.json", "flows.parquet", "queues.parquet",
    "histograms.parquet", "queue_samples.parquet", "flow_samples.parquet", "classes.parquet",
    "class_samples.parquet", "exchanges.parquet",
}  # fmt: skip


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_one_run_is_saved_and_loaded(tmp_path: Path, result: Result) -> None:
    folder = tmp_path / "missing" / "parents" / "out"
    result.save(folder)
    assert names(folder) == FILES
    assert names(folder.parent) == {"out"}
    loaded = Result.load(folder)
    for name in NAMES:
        assert getattr(loaded, name).equals(getattr(result, name))
    assert loaded.summary() == result.summary()
    assert (loaded.plan, loaded.resolved) == (result.plan, result.resolved)
    assert (loaded.scenario, loaded.seed, loaded.version) == (as_given(7), 7, "0.0.1")


def test_files_say_what_they_are(tmp_path: Path, result: Result) -> None:
    result.save(tmp_path / "out")
    meta = json.loads((tmp_path / "out/result.json").read_text())
    assert (meta["format"], meta["format_version"], meta["seed"]) == ("bufferlab-result", 4, 7)
    assert json.loads((tmp_path / "out/summary.json").read_text()) == result.summary()
    assert (tmp_path / "out/scenario.toml").read_text() == as_given(7)
    text = (tmp_path / "out/plan.json").read_bytes()
    assert (
        hashlib.sha256(text).hexdigest() == hashlib.sha256(plan_json(dict(result.plan)).encode()).hexdigest()
    )


def test_several_runs_get_a_folder_each(tmp_path: Path, three_seeds: list[Result]) -> None:
    RunSet(three_seeds).save(tmp_path / "out")
    assert names(tmp_path / "out") == {
        "scenario.toml", "runs.json", "summary.json", "seed-7", "seed-8", "seed-9",
    }  # fmt: skip
    assert names(tmp_path / "out/seed-8") == FILES
    loaded = RunSet.load(tmp_path / "out")
    assert loaded.seeds == [7, 8, 9]
    assert loaded.summary() == RunSet(three_seeds).summary()
    assert Result.load(tmp_path / "out/seed-8").seed == 8
    everything = pl.read_parquet(tmp_path / "out/seed-*/flows.parquet")
    assert everything.equals(RunSet(three_seeds).flows)


def test_loading_a_set_as_one_run_tells_how_to(tmp_path: Path, three_seeds: list[Result]) -> None:
    RunSet(three_seeds).save(tmp_path / "out")
    with pytest.raises(InputError, match=r"holds 3 runs; accepted: .*RunSet\.load"):
        Result.load(tmp_path / "out")


def test_an_older_result_is_replaced_whole(tmp_path: Path, three_seeds: list[Result], result: Result) -> None:
    RunSet(three_seeds).save(tmp_path / "out")
    result.save(tmp_path / "out")
    assert names(tmp_path / "out") == FILES
    assert names(tmp_path) == {"out"}


def test_an_empty_folder_is_replaced(tmp_path: Path, result: Result) -> None:
    (tmp_path / "out").mkdir()
    result.save(tmp_path / "out")
    assert names(tmp_path / "out") == FILES


def test_other_files_are_left_alone(tmp_path: Path, result: Result) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="holds other files"):
        result.save(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        result.save(tmp_path / "thesis.tex")
    assert names(tmp_path) == {"thesis.tex"}


def test_the_current_folder_is_refused(
    tmp_path: Path, result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="current folder"):
        result.save(".")


@pytest.mark.parametrize(
    "failure", [OSError(28, "No space left on device"), pl.exceptions.ComputeError("full")]
)
def test_a_failed_write_leaves_nothing_and_keeps_the_old(
    tmp_path: Path,
    result: Result,
    three_seeds: list[Result],
    failure: Exception,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    RunSet(three_seeds).save(tmp_path / "out")
    before = names(tmp_path / "out")

    def fail(_: Result, _summary: object, folder: Path) -> None:
        (folder / "half").write_text("written")
        raise failure

    monkeypatch.setattr("bufferlab.results.folder._write_run", fail)
    with pytest.raises(OutputError, match="out: cannot be written") as caught:
        RunSet([result]).save(tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert names(tmp_path) == {"out"}
    assert names(tmp_path / "out") == before


def test_an_interrupted_write_leaves_nothing(
    tmp_path: Path, result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bufferlab.results.folder._write_run", interrupt)
    with pytest.raises(KeyboardInterrupt):
        RunSet([result]).save(tmp_path / "out")
    assert names(tmp_path) == set()


def test_a_folder_that_cannot_be_moved_away_stays(
    tmp_path: Path, result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    result.save(tmp_path / "out")
    rename = Path.rename

    def no_new_name(self: Path, target: Path) -> Path:
        if self.name.endswith(".partial"):
            raise OSError(18, "Invalid cross-device link")
        return rename(self, target)

    monkeypatch.setattr("bufferlab.results.folder.exchange", lambda *_: False)  # not every disk can
    monkeypatch.setattr(Path, "rename", no_new_name)
    with pytest.raises(OutputError, match="cross-device"):
        result.save(tmp_path / "out")
    assert names(tmp_path) == {"out"}
    assert names(tmp_path / "out") == FILES


FULL_DISK = """
import resource, sys
from bufferlab import Result, OutputError
result = Result.load(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
try:
    result.save(sys.argv[2])
except OutputError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs setrlimit")
def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path: Path, result: Result) -> None:
    result.save(tmp_path / "whole")
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "whole"), str(tmp_path / "out")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "out: cannot be written" in ran.stdout
    assert ran.stdout.count("\n") == 1
    assert names(tmp_path) == {"whole"}


def broken(folder: Path, file: str, content: str | None) -> None:
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(content)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("result.json", None),
        ("result.json", "{"),
        ("result.json", "[]"),
        ("result.json", '{"format": "bufferlab-result", "format_version": 99}'),
        ("result.json", '{"format": "bufferlab-result", "format_version": 4}'),
        ("summary.json", "{}"),
        ("plan.json", None),
        ("scenario.toml", None),
        ("flows.parquet", None),
        ("flows.parquet", "no parquet"),
    ],
)
def test_what_is_no_result_is_bad_input(
    tmp_path: Path, result: Result, file: str, content: str | None
) -> None:
    result.save(tmp_path / "out")
    broken(tmp_path / "out", file, content)
    with pytest.raises(InputError) as caught:
        Result.load(tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert "out" in str(caught.value)


def test_a_missing_folder_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        RunSet.load(tmp_path / "nowhere")


def test_a_run_missing_from_a_set_is_bad_input(tmp_path: Path, three_seeds: list[Result]) -> None:
    RunSet(three_seeds).save(tmp_path / "out")
    index: dict[str, Any] = json.loads((tmp_path / "out/runs.json").read_text())
    (tmp_path / "out/runs.json").write_text(json.dumps(index | {"runs": ["seed-7", "gone"], "sha256": {}}))
    with pytest.raises(InputError, match="gone"):
        RunSet.load(tmp_path / "out")
    assert index["format"] == store.RUNS_FORMAT
