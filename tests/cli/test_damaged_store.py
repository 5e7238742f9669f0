"""`bufferlab results --check` and `--repair`: what is damaged has a name, and a sweep makes it again."""

from __future__ import annotations

from pathlib import Path

from .conftest import Command

SWEEP = ("sweep", "small.toml", "--set", "run.duration=1500 ms", "--seeds", "2", "--store", "runs")


def test_a_damaged_store_from_finding_to_repair(bufferlab: Command, tmp_path: Path) -> None:
    assert bufferlab(*SWEEP).status == 0
    (segment,) = (tmp_path / "runs" / "segments").glob("*.parquet")
    ended = bufferlab("results", "runs", "--check")
    assert (ended.status, ended.out, ended.err) == (0, "no file is damaged\n", "")
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 1
    segment.write_bytes(content)
    named = f"runs/segments/{segment.name}"
    for verb in (("results", "runs"), SWEEP):
        ended = bufferlab(*verb)
        assert ended.status == 2
        assert ended.err.startswith(f"bufferlab: {named}: is damaged (its checksum is wrong); accepted: ")
        assert "'bufferlab results runs --repair' sets it aside" in ended.err
    ended = bufferlab("results", "runs", "--check")
    assert (ended.status, ended.err) == (1, f"bufferlab: {named} is damaged (its checksum is wrong)\n")
    assert ended.out.startswith("1 file is damaged. --repair sets such files aside.")
    ended = bufferlab("results", "runs", "--repair")
    assert ended.status == 0
    assert ended.err == f"bufferlab: {named} is damaged (its checksum is wrong): moved to runs/damaged\n"
    assert ended.out.startswith("1 file is damaged. Repeat the sweep to simulate the runs that are missing.")
    assert "2 simulated, 0 in the store before" in bufferlab(*SWEEP).out
    assert bufferlab("results", "runs", "--check").status == 0


def test_a_line_of_a_journal_that_is_damaged_is_reported(bufferlab: Command, tmp_path: Path) -> None:
    assert bufferlab(*SWEEP).status == 0
    journal = tmp_path / "runs" / "journal" / "dead.jsonl"
    journal.write_text('00000000 {"run": {}}\n')
    ended = bufferlab("results", "runs")
    assert ended.status == 0
    assert ended.err == (
        "bufferlab: runs/journal/dead.jsonl has 1 damaged line: runs are missing below, see --check\n"
    )
