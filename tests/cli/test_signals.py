"""Ctrl-C and SIGTERM at any moment: every command ends soon, with one line, and keeps what it finished."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest

from bufferlab.cli.common import ending_on_signals, status_of
from bufferlab.experiment.store import open_store

from ..small import start
from .conftest import SMALL

COMMANDS = {
    "advise": ("advise", "small.toml", "--store", "runs", "--set", "run.duration=200 s"),
    "run": ("run", "small.toml", "--seeds", "5000", "--store", "runs", "--out", "out"),
    "sweep": ("sweep", "small.toml", "--seeds", "5000", "--store", "runs"),
    "compare": ("compare", "small.toml", "--seeds", "500", "--store", "runs"),
    "size": ("size", "small.toml", "--utilization", "0.9", "--resolution", "0.02", "--store", "runs",
             "--set", "run.duration=2000 s"),
    "validate": ("validate", "ns2", "--store", "runs"),
    "reproduce": ("reproduce", "splitbuff/fig1", "--store", "runs"),
}  # fmt: skip


def finished(folder: Path) -> int:
    return open_store(folder / "runs").runs().height if (folder / "runs" / "store.json").exists() else 0


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_signal_ends_it_soon_and_loses_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    chance = random.Random(name)
    number, status = ((signal.SIGINT, 130), (signal.SIGTERM, 143))[chance.random() < 0.25]
    process = start(*COMMANDS[name], cwd=tmp_path)
    time.sleep(1.0 + 3.0 * chance.random())
    before = finished(tmp_path)
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=60)  # what is left to do takes longer
    # a signal that comes before Python is up ends it as it ends any process
    assert process.returncode in (status, -number), err
    assert "Traceback" not in err or process.returncode == -number
    assert finished(tmp_path) >= before


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_pipe_that_nobody_writes_to_is_said_and_can_be_left(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    process = start("run", "pipe.toml", cwd=tmp_path)
    assert process.stderr is not None
    assert process.stderr.readline() == "bufferlab: 1 s: waiting for what the pipe pipe.toml brings\n"
    os.kill(process.pid, signal.SIGINT)
    assert process.communicate(timeout=30) == ("", "bufferlab: interrupted\n")
    assert process.returncode == 130


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_a_compiled_module_loads_is_no_bug(
    number: signal.Signals, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def load() -> None:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(number)
        raise ImportError("initialization failed")

    with pytest.raises(KeyboardInterrupt) as ended, ending_on_signals():
        load()
    assert status_of(ended.value) == status
    assert "bug" not in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_the_message_says_how_to_go_on_and_the_same_command_does(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    asked = ("compare", "small.toml", "--queues", "fifo,codel", "--seeds", "40", "--json", "--store")
    command = (*asked, "runs")
    process = start(*command, cwd=tmp_path)
    deadline_s = time.monotonic() + 60
    while finished(tmp_path) < 3 and time.monotonic() < deadline_s:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "runs keeps them; the same command continues from there" in err
    kept = finished(tmp_path)
    rest = start(*command, cwd=tmp_path)
    out, err = rest.communicate(timeout=120)
    assert rest.returncode == 0, err
    assert f"{kept} of 80 simulations were already in runs" in err
    whole = start(*asked, "others", cwd=tmp_path)
    assert whole.communicate(timeout=120)[0] == out


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("verb", ["advise", "size"])
def test_before_the_first_answer_it_leaves_what_was_tried(tmp_path: Path, verb: str) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    asked = (verb, "small.toml", "--target", "utilization >= 60 %", "--target", "wait_p99 < 1 us")
    command = (*asked, "--set", "run.duration=1000 s", "--store", "runs", "--threads", "1")
    found = []
    for form in ([], ["--json"]):
        process = start(*command, *form, cwd=tmp_path)
        enough, deadline_s = finished(tmp_path) + 3, time.monotonic() + 60
        while finished(tmp_path) < enough and time.monotonic() < deadline_s:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert "simulations finished" in err
        found.append(out)
    text, left = found[0], json.loads(found[1])
    assert "No answer yet: interrupted after " in text
    assert "What was tried so far, in means; nothing is decided yet" in text and " missed: " in text
    assert left["answer"] is None and left["finished"] is False
    assert left["runs"] == sum(each["runs"] for each in left["tried"]) >= 3
    for each in left["tried"]:
        assert 0 < each["values"]["utilization"] <= 1
        assert any("wait" in target for target in each["missed"])
        assert any("tilization" in target for target in each["missed"]) == (
            each["values"]["utilization"] < 0.6
        )
