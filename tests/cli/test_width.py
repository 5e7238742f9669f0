"""What goes to a pipe or a file has 80 columns, whatever the terminal, unless COLUMNS says otherwise."""

from __future__ import annotations

import pytest

from .conftest import Command

COMPARED = ("--queues", "fifo:2 packets,codel:20 packets", "--seeds", "2")
SWEPT = (
    "--vary",
    "bottleneck.queue=fifo,codel",
    "--vary",
    "bottleneck.buffer=10 ms,20 ms",
    "--store",
    "runs",
)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "small.toml", "--seeds", "2"),
        ("size", "small.toml", "--utilization", "0.8", "--resolution", "0.3"),
        ("size", "small.toml", "--theory"),
        ("advise", "small.toml", "--utilization", "0.9", "--quick", "--platform", "junos"),
        ("compare", "small.toml", *COMPARED),
        ("sweep", "small.toml", *SWEPT),
        ("reproduce",),
    ],
)
def test_every_verb_prints_80_columns(
    bufferlab: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.delenv("COLUMNS")
    ended = bufferlab(*words)
    assert ended.status == 0, ended.err
    lines = ended.out.splitlines()
    typed = [line for line in lines if line.startswith("set class-of-service ")]
    lines = [line for line in lines if line not in typed]
    assert len(lines) > 10 and 70 < max(map(len, lines)) <= 80
    assert all(line == line.rstrip() for line in lines)
    assert "\u2026" not in ended.out.replace("\u2026 of the", "")  # nothing is cut
    if words[0] == "advise":  # what is to be pasted is whole
        assert any(line.endswith("forwarding-class best-effort scheduler bufferlab") for line in typed)
    if words[0] == "sweep":
        listed = bufferlab("results", "runs").out.splitlines()
        assert max(map(len, listed)) <= 80


def test_columns_go_before(bufferlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    narrow = bufferlab("run", "small.toml").out
    monkeypatch.setenv("COLUMNS", "160")
    wide = bufferlab("run", "small.toml").out
    assert max(map(len, narrow.splitlines())) <= 60 < max(map(len, wide.splitlines()))
    assert len(wide.splitlines()) < len(narrow.splitlines())


@pytest.mark.parametrize(("columns", "width"), [("0", 80), ("00", 80), ("1", 40), ("39", 40), ("none", 80)])
def test_a_width_that_nothing_fits_in_is_not_taken(
    bufferlab: Command, monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    ended = bufferlab("run", "small.toml")
    assert ended.status == 0 and "goodput" in ended.out
    assert width - 10 < max(map(len, ended.out.splitlines())) <= width
