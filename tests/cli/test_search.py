"""`bufferlab search` from a shell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.studies.search.goal import Sample
from bufferlab.studies.search.restart import Restarts

from .conftest import Command

QUICK = ("--set", "run.duration=8 s", "--resolution", "0.5", "--confidence", "0.8", "--seeds", "60")


def test_the_answer_the_measurements_and_the_price(bufferlab: Command) -> None:
    ended = bufferlab("search", "small.toml", "--utilization", "0.9", *QUICK)
    assert ended.status == 0
    assert "smallest buffer of bottleneck: " in ended.out
    assert " packets (" in ended.out and "80 % confidence: " in ended.out
    assert ", for a utilization of 90 %" in ended.out
    assert "full rate (100 %): " in ended.out
    assert "cost: " in ended.out and " s of CPU time" in ended.out
    assert "bufferlab: note: the warm-up of 1 s is shorter than a timeout and 20 round trips" in ended.err


def test_json_is_the_document_and_files_hold_the_course(bufferlab: Command, tmp_path: Path) -> None:
    options = ("--utilization", "0.9", "--json", "--plot", "course.png", "--out", "found")
    ended = bufferlab("search", "small.toml", *options, *QUICK)
    assert ended.status == 0
    document = json.loads(ended.out)
    assert document["format"] == "bufferlab-search"
    assert document["reached"]
    assert document["low"]["packets"] <= document["buffer"]["packets"] <= document["high"]["packets"]
    assert document["buffer"]["bytes"] == document["buffer"]["packets"] * 1500
    assert document["spent"]["measurements"] == len(document["course"])
    assert document["spent"]["simulated_s"] == 8.0 * len(document["course"])
    for name in ("course.png", "course.svg", "found/course.png", "found/course.csv", "found/course.parquet"):
        assert (tmp_path / name).stat().st_size > 500
    assert pl.read_csv(tmp_path / "found/course.csv").height == len(document["course"])


def test_the_answer_is_the_same_however_many_threads(bufferlab: Command) -> None:
    def course(threads: str) -> list[dict[str, float]]:
        ended = bufferlab(
            "search", "small.toml", "--max-loss", "0.01", "--json", "--threads", threads, *QUICK
        )
        rows: list[dict[str, float]] = json.loads(ended.out)["course"]
        return [{key: value for key, value in row.items() if key != "cpu_s"} for row in rows]

    assert course("1") == course("3")


def test_what_no_buffer_keeps_says_the_best_and_what_to_do(bufferlab: Command) -> None:
    ended = bufferlab("search", "small.toml", "--max-loss", "0.000001", "--bounds", "1..5", *QUICK)
    assert ended.status == 2
    assert "small.toml: no buffer up to 5 packets meets a loss of at most 0.0001 %; the best is " in ended.err
    assert "raise the upper end of --bounds, or ask for less" in ended.err
    ended = bufferlab("search", "small.toml", "--utilization", "0.99", "--max-delay", "1us", *QUICK)
    assert ended.status == 2
    assert "no buffer meets all targets: a utilization of 99 % needs " in ended.err
    ended = bufferlab("search", "small.toml", "--max-delay", "1ns", *QUICK)
    assert ended.status == 2
    assert "Lower --bounds, or allow more" in ended.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "bufferlab: target: there is nothing to search for; accepted: --utilization 0.99"),
        (("--utilization", "99"), "bufferlab: utilization: 99.0 is out of bounds; accepted: a share above 0"),
        (("--max-delay", "5"), "bufferlab: max_delay: '5' has no unit"),
        (
            ("--utilization", ".9", "--bounds", "90..10"),
            "bufferlab: bounds: '90..10' is no range: 90 packets up to 10 packets; accepted: two buffers",
        ),
        (("--utilization", ".9", "--bounds", "5"), "bufferlab: bounds: '5' is not a range of buffers"),
        (("--utilization", ".9", "--bounds", "1..x"), "bufferlab: bounds: 'x' is not a number with a unit"),
        (("--utilization", ".9", "--bounds", "1..unlimited"), "bufferlab: bounds: 'unlimited' has no end"),
        (("--utilization", ".9", "--confidence", "1"), "bufferlab: confidence: 1.0 is out of bounds"),
        (("--utilization", ".9", "--resolution", "0"), "bufferlab: resolution: 0.0 is out of bounds"),
        (
            ("--utilization", ".9", "--seeds", "5"),
            "bufferlab: seeds: 5 is out of bounds; accepted: more than 5",
        ),
        (
            ("--utilization", ".9", "--mode", "dead"),
            "bufferlab: mode: 'dead' is not a mode; accepted: restart",
        ),
        (("--utilization", ".9", "--link", "east"), "bufferlab: link: 'east' is not a link of the scenario"),
        (("--utilization", ".9", "--threads", "0"), "bufferlab: threads: 0 is too small"),
    ],
)
def test_one_line_says_what_is_wrong(bufferlab: Command, options: tuple[str, ...], message: str) -> None:
    ended = bufferlab("search", "small.toml", *options)
    assert ended.status == 2
    assert ended.line().startswith(message)


def test_ctrl_c_keeps_what_is_finished(
    bufferlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate = Restarts.evaluate

    def interrupted(self: Restarts, sizes: Sequence[int], number: int) -> list[Sample]:
        if number == 7:
            raise RunInterrupted([], 0, len(sizes))
        return evaluate(self, sizes, number)

    monkeypatch.setattr(Restarts, "evaluate", interrupted)
    ended = bufferlab("search", "small.toml", "--utilization", "0.9", "--out", "found", *QUICK)
    assert ended.status == 130
    assert "; interrupted, so the interval is wider than requested" in ended.out
    assert pl.read_csv(tmp_path / "found/course.csv")["round"].max() == 6
