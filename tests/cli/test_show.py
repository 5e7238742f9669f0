"""The verb `show`."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Command

LOT = Path(__file__).parents[2] / "examples" / "parking-lot.toml"


def test_a_picture_is_written_or_its_text_printed(
    bufferlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert bufferlab("show", str(LOT), "--to", "lot.svg").status == 0
    assert (tmp_path / "lot.svg").read_text().startswith("<svg ")
    ended = bufferlab("show", str(LOT), "--set", "links.middle.rate=30 Mbps")
    assert ended.status == 0 and 'n1 -> n2 [label="middle: 30 Mbps, 10 ms' in ended.out


def test_other_pictures_are_refused(bufferlab: Command) -> None:
    ended = bufferlab("show", str(LOT), "--to", "lot.png")
    assert ended.status == 2 and "accepted: NAME.svg or NAME.dot" in ended.err
