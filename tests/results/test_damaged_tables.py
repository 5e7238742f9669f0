"""A table of a result folder that is not what was written is named; no flipped bit changes a result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bufferlab import InputError, Result
from bufferlab.results.frames import NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_flipped_bit_is_found(tmp_path: Path, result: Result, name: str) -> None:
    result.save(tmp_path / "out")
    path = tmp_path / "out" / f"{name}.parquet"
    content = path.read_bytes()
    for bit in range(0, 8 * len(content), max(5, 8 * len(content) // 40) | 1):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with pytest.raises(InputError, match=rf"{name}\.parquet: is damaged \(its checksum is wrong\)"):
            Result.load(tmp_path / "out")
    path.write_bytes(content)
    assert getattr(Result.load(tmp_path / "out").frames, name).equals(getattr(result.frames, name))


def test_a_result_of_an_earlier_version_is_read(tmp_path: Path, result: Result) -> None:
    result.save(tmp_path / "out")
    path = tmp_path / "out" / "result.json"
    document = json.loads(path.read_text())
    assert set(document.pop("sha256")) == set(NAMES)
    path.write_text(json.dumps(document))
    assert Result.load(tmp_path / "out").flows.equals(result.flows)
