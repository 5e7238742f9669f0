"""Files that hold no scenario: one line that names the file, and what is wrong with it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.scenario import Scenario


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.toml",
            b"[run]\nduration 5\n",
            "a.toml:2:10: is not TOML: key with no value, expected `=`",
        ),
        ("a.toml", b"a = 1\na = 2\n", "a.toml:2:1: is not TOML: duplicate key"),
        ("a.toml", b"a = " + b"[" * 5000, "is not TOML: nested too deeply"),
        ("a.toml", b"a = " + b"9" * 5000 + b"x", "is not TOML: "),
        ("a.toml", b"\xff", "is not UTF-8 (at byte 0)"),
        (
            "a.toml",
            b"links = [{ rate = '1 Mbps', buffer = '1 MB' }]\nflows = [{ rtt = '1 s' }]",
            "run: is required",
        ),
        ("a.toml", b"run = 1979-05-27", "run: '1979-05-27' is not a value of a scenario"),
        ("a.json", b'{"run": ', "a.json:1:8: is not JSON: EOF while parsing a value"),
        ("a.json", b"", "a.json:1:1: is not JSON: EOF while parsing a value"),
        ("a.json", b"[1]", "[1] is not a scenario"),
        ("a.json", b'{"a": NaN}', "'NaN' is not a number of JSON"),
        ("a.json", b'{"a": 1, "a": 2}', "a: is given twice"),
        ("a.json", b"[" * 100_000, "is not JSON: nested too deeply"),
        ("a.json", b'{"a":' * 50 + b"1" + b"}" * 50, "is nested too deeply"),
        ("a.json", b'{"a": ' + b"9" * 5000 + b"}", "is not JSON: "),
    ],
)
def test_files_of_wrong_syntax(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        Scenario.load(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}:")
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        Scenario.load(tmp_path / "nowhere.toml")
    with pytest.raises(InputError, match="is a directory"):
        Scenario.load(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        Scenario.load("a\0b")
    with pytest.raises(InputError, match="cannot be read"):
        Scenario.load(tmp_path / ("x" * 5000))
    with pytest.raises(InputError, match="is too large"):
        Scenario.load("/dev/zero")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_files_without_permission(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("")
    (tmp_path / "a.toml").chmod(0)
    with pytest.raises(InputError, match="cannot be read"):
        Scenario.load(tmp_path / "a.toml")


def test_empirical_files_are_sought_beside_the_scenario(tmp_path: Path, table: dict[str, Any]) -> None:
    table["flows"][0]["rtt"] = "empirical(rtts.csv)"
    with pytest.raises(InputError, match=r"rtts\.csv: flows\[0\]\.rtt: no such file"):
        Scenario.from_dict(table, file=str(tmp_path / "a.toml"))
    (tmp_path / "rtts.csv").write_text("rtt_ms\n40\n")
    scenario = Scenario.from_dict(table, file=str(tmp_path / "a.toml"))
    assert scenario.with_overrides({"run.seed": 2}).flows[0]["rtt"]["values"] == [40 * 10**9]
