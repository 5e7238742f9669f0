"""`bufferlab compare` from a shell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner

from .conftest import Command


def test_the_answer_comes_before_the_tables(bufferlab: Command) -> None:
    ended = bufferlab("compare", "small.toml", "--queues", "fifo:bdp,codel,splitbuff", "--seeds", "2")
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0] == "small: queue of bottleneck; 3 s, measured from 1 s on; 2 seeds"
    assert lines[1].startswith("For now take ")
    for words in ("What users feel", "What bottleneck does", "near: Jain's index", "fifo:bdp", "utilization"):
        assert words in ended.out
    assert ended.out.index(lines[1]) < ended.out.index("What users feel")


def test_nothing_is_cut_at_80_columns(bufferlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ended = bufferlab("compare", "small.toml", "--queues", "fifo:bdp,codel,splitbuff", "--seeds", "2")
    assert max(map(len, ended.out.splitlines())) <= 80
    assert "…" not in ended.out


def test_json_is_the_document_and_nothing_else(bufferlab: Command, tmp_path: Path) -> None:
    ended = bufferlab(
        "compare", "small.toml", "--queues", "scenario,codel", "--seeds", "1", "--json", "--plot", "a.png"
    )
    assert ended.status == 0
    document = json.loads(ended.out)
    assert (document["format"], document["seeds"]) == ("bufferlab-comparison", [1])
    assert [queue["queue"] for queue in document["queues"]] == ["scenario", "codel"]
    assert document["recommendation"]["queue"] in {"scenario", "codel"}
    assert ended.line() == "bufferlab: saved a.png, a.svg"
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_overrides_count_for_all_queues(bufferlab: Command) -> None:
    options = ("--queues", "fifo,codel", "--seeds", "1", "--json", "--set", "flows.near.count=5")
    document = json.loads(bufferlab("compare", "small.toml", *options).out)
    assert document["resolved"]["flows"][0]["count"] == 5
    assert [queue["queue"] for queue in document["queues"]] == ["fifo", "codel"]


@pytest.mark.parametrize(("finished", "shown"), [(5, True), (1, False)])
def test_ctrl_c_shows_the_seeds_that_all_queues_finished(
    bufferlab: Command, monkeypatch: pytest.MonkeyPatch, finished: int, *, shown: bool
) -> None:
    every = Runner.all

    def interrupted(self: Runner, experiment: Any) -> list[Any]:
        done = sorted(every(self, experiment), key=lambda each: each.seed or 0)
        raise RunInterrupted(done[:finished], finished, len(done))

    monkeypatch.setattr(Runner, "all", interrupted)
    ended = bufferlab("compare", "small.toml", "--queues", "fifo,codel", "--seeds", "3")
    assert ended.status == 130
    assert ended.line() == f"bufferlab: interrupted: {2 * shown} of 3 seeds finished under every queue"
    assert ("; 2 seeds" in ended.out) == shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--queues", "fifo,spltbuff"),
            "bufferlab: --queues: 'spltbuff' is not a known queue (did you mean 'splitbuff'?); accepted: ",
        ),
        (("--queues", "fifo:0 packets"), "bufferlab: --queues: '0 packets' leaves no room for a packet"),
        (("--seeds", "0"), "bufferlab: --seeds: 0 is not a usable number of seeds"),
        (("--threads", "0", "--queues", "fifo"), "bufferlab: --threads: 0 is too small"),
        (("--link", "east"), "bufferlab: --link: 'east' is not a link of the scenario; accepted: bottleneck"),
    ],
)
def test_one_line_says_what_is_wrong(bufferlab: Command, options: tuple[str, ...], message: str) -> None:
    ended = bufferlab("compare", "small.toml", *options)
    assert ended.status == 2
    assert ended.line().startswith(message)
