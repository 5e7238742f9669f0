"""A file of a result folder that is not what was written is named; no flipped bit changes a result."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bufferlab import InputError, Result, RunSet
from bufferlab.results.frames import NAMES


def flipped(path: Path, times: int) -> Iterator[int]:
    """Flip one bit after another of a file, which is whole again at the end; the bit's number."""
    content = path.read_bytes()
    for bit in range(0, 8 * len(content), max(5, 8 * len(content) // times) | 1):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        yield bit
    path.write_bytes(content)


@pytest.mark.parametrize(
    "name", [*(f"{name}.parquet" for name in NAMES), "plan.json", "summary.json", "scenario.toml"]
)
def test_a_flipped_bit_is_found(tmp_path: Path, result: Result, name: str) -> None:
    result.save(tmp_path / "out")
    for _ in flipped(tmp_path / "out" / name, 40):
        with pytest.raises(InputError, match=rf"{name}: is damaged \(its checksum is wrong\)"):
            Result.load(tmp_path / "out")
    loaded = Result.load(tmp_path / "out")
    assert (loaded.plan, loaded.resolved, loaded.scenario) == (result.plan, result.resolved, result.scenario)
    assert all(getattr(loaded.frames, each).equals(getattr(result.frames, each)) for each in NAMES)


def test_a_bit_of_the_checksums_file_is_found_or_changes_nothing(tmp_path: Path, result: Result) -> None:
    """Without the word that says that there are checksums, the folder is as of an earlier version."""
    result.save(tmp_path / "out")
    whole, found = Result.load(tmp_path / "out"), 0
    for bit in flipped(tmp_path / "out" / "result.json", 400):
        try:
            loaded = Result.load(tmp_path / "out")
        except InputError as error:
            found += "result.json" in str(error) or "cannot be read" in str(error)
            continue
        assert (loaded.summary(), loaded.seed, loaded.version) == (whole.summary(), 7, "0.0.1"), f"bit {bit}"
    assert found > 100


def test_a_bit_of_the_list_of_runs_is_found_or_changes_nothing(
    tmp_path: Path, three_seeds: list[Result]
) -> None:
    RunSet(three_seeds).save(tmp_path / "out")
    found = 0
    for bit in flipped(tmp_path / "out" / "runs.json", 60):
        try:
            assert RunSet.load(tmp_path / "out").seeds == [7, 8, 9], f"bit {bit}"
        except InputError as error:
            found += "runs.json" in str(error)
    assert found > 20


def test_a_result_of_an_earlier_version_is_read(tmp_path: Path, result: Result) -> None:
    result.save(tmp_path / "out")
    path = tmp_path / "out" / "result.json"
    document = json.loads(path.read_text())
    others = {"itself", "plan.json", "summary.json", "scenario.toml"}
    assert set(document.pop("sha256")) == {*NAMES, *others}
    path.write_text(json.dumps(document))
    assert Result.load(tmp_path / "out").flows.equals(result.flows)
