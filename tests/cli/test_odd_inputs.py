"""Inputs that are odd and no bug: each has one line that says what is wrong, or simply works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bufferlab as library
from bufferlab.errors import InputError

from .conftest import SMALL, Command

SHORT = ("--set", "run.duration=1500 ms")
NOT_UTF8 = os.fsdecode(b"\xff\xfe")


def test_any_number_of_rows_may_be_asked_for(bufferlab: Command) -> None:
    bufferlab("sweep", "small.toml", *SHORT, "--store", "runs")
    asked = bufferlab("results", "runs", "--limit", "9" * 20)
    assert (asked.status, asked.err) == (0, "")
    assert asked.out == bufferlab("results", "runs").out


@pytest.mark.parametrize("rtt", ["0 s", "1e-14 s", "0.0000000000001 s"])
@pytest.mark.parametrize("verb", [("size",), ("size", "--theory"), ("advise",)])
def test_a_round_trip_time_of_nothing_is_refused(bufferlab: Command, rtt: str, verb: tuple[str, ...]) -> None:
    ended = bufferlab(*verb, "--rate", "10 Mbps", "--rtt", rtt, "--flows", "2")
    assert ended.status == 2
    assert ended.line().startswith("bufferlab: --rtt: ") and "bug" not in ended.err


@pytest.mark.parametrize(
    "asked",
    [
        ("run", f"{NOT_UTF8}.toml", *SHORT),
        ("sweep", f"{NOT_UTF8}.toml", *SHORT, "--json", "--store", "runs"),
        ("run", f"{NOT_UTF8}.toml", *SHORT, "--json", "--out", NOT_UTF8),
        ("run", f"{NOT_UTF8}.toml", *SHORT, "--pcap", f"{NOT_UTF8}.pcapng"),
        ("sweep", f"{NOT_UTF8}.toml", *SHORT),
        ("sweep", f"{NOT_UTF8}.toml", *SHORT, "--json", "--store", NOT_UTF8),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii"])
def test_names_that_are_not_utf8(tmp_path: Path, asked: tuple[str, ...], encoding: str) -> None:
    (tmp_path / f"{NOT_UTF8}.toml").write_text(SMALL)
    ended = subprocess.run(
        [sys.executable, "-m", "bufferlab", *asked],
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    err = ended.stderr.decode(encoding)
    assert "bug" not in err and "Traceback" not in err
    if "--pcap" in asked or ("sweep" in asked and "runs" not in asked):
        assert ended.returncode == 2 and "is not UTF-8" in err
        return
    assert ended.returncode == 0, err
    if "--json" in asked:
        json.loads(ended.stdout.decode(encoding))


@pytest.mark.parametrize("option", ["--pcap", "--trace"])
def test_nothing_is_recorded_into_the_scenario(bufferlab: Command, tmp_path: Path, option: str) -> None:
    (tmp_path / "link.toml").symlink_to("small.toml")
    for name in ("small.toml", "link.toml"):
        ended = bufferlab("run", "small.toml", *SHORT, option, name)
        assert ended.status == 2
        assert ended.line() == (
            f"bufferlab: {name}: is the scenario's file; accepted: another file to record into"
        )
    assert (tmp_path / "small.toml").read_text() == SMALL
    with pytest.raises(InputError, match="is the scenario's file"):
        library.run(tmp_path / "small.toml", trace=tmp_path / "link.toml")


@pytest.mark.parametrize(("length", "status"), [(255, 0), (256, 1)])
def test_long_names_are_written_or_refused_before_the_run(
    bufferlab: Command, tmp_path: Path, length: int, status: int
) -> None:
    for option, name in (("--out", "a" * length), ("--flent", "a" * (length - 9) + ".flent.gz")):
        ended = bufferlab("run", "small.toml", *SHORT, option, name)
        assert ended.status == status
        if status:
            assert ended.out == "" and "File name too long" in ended.line()
        else:
            assert (tmp_path / name).exists()
