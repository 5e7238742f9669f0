"""`bufferlab run --watch`, with and without a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Command


def on_terminal(cwd: Path, *args: str, interrupt_at: bytes | None = None) -> tuple[int, str]:
    """Run the command on a terminal of its own, with Ctrl-C when a text is shown: status, what it showed."""
    import pty  # noqa: PLC0415 - there is none on Windows

    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "bufferlab", *args],
        cwd=cwd,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the terminal's other end is closed
                break
            if not piece:
                break
            shown += piece
            if interrupt_at is not None and interrupt_at in shown:
                process.send_signal(signal.SIGINT)
                interrupt_at = None
        process.wait(timeout=60)
    os.close(ours)
    return process.returncode, shown.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_on_a_terminal_the_view_comes_before_the_summary(bufferlab: Command, tmp_path: Path) -> None:
    assert bufferlab("run", "small.toml").status == 0
    status, shown = on_terminal(tmp_path, "run", "small.toml", "--watch")
    assert status == 0
    view, _, summary = shown.partition("measured from 1 s")
    for words in ("small: 3.0 of 3 s", "bottleneck", "backlog", "near (2)", "cwnd", "RTT", "goodput"):
        assert words in view
    assert "latency under load" in summary


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_ends_a_watched_run(bufferlab: Command, tmp_path: Path) -> None:
    assert bufferlab("run", "small.toml").status == 0
    args = ("run", "small.toml", "--watch-speed", "0.1", "--out", "out")
    status, shown = on_terminal(tmp_path, *args, interrupt_at=b"goodput")
    assert status == 130
    assert "bufferlab: interrupted: 0 of 1 seeds finished" in shown
    assert "Traceback" not in shown
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def test_without_a_terminal_the_run_goes_on_and_says_so(bufferlab: Command) -> None:
    plain = bufferlab("run", "small.toml", "--json")
    watched = bufferlab("run", "small.toml", "--json", "--watch")
    assert watched.status == 0
    assert watched.line() == "bufferlab: standard output is not a terminal: running without the live view"
    assert watched.out.partition('"cpu_s"')[0] == plain.out.partition('"cpu_s"')[0]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--watch", "--seeds", "2"), "seeds: 2 is more than one can watch; accepted: 1 seed"),
        (("--watch-speed", "0"), "watch-speed: 0.0 is no speed; accepted: a number above 0"),
        (("--watch-speed", "nan"), "is no speed"),
        (("--watch", "--pcap", "a.pcapng"), "a.pcapng: cannot be written by a run that is watched"),
    ],
)
def test_what_cannot_be_watched(bufferlab: Command, args: tuple[str, ...], says: str) -> None:
    ended = bufferlab("run", "small.toml", *args)
    assert (ended.status, ended.out) == (2, "")
    assert says in ended.line()
