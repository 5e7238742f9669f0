"""docs/latency.md agrees with the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bufferlab import cli
from bufferlab.results.metrics.latency import LATENCY

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "latency.md").read_text()


def test_every_figure_is_explained() -> None:
    named = DOCS.replace("`…_p95_ms`", "loaded_rtt_p95_ms").replace("`…_p99_ms`", "loaded_rtt_p99_ms")
    assert [name for name in LATENCY.names if name not in named] == []


@pytest.mark.parametrize(("queue", "column"), [("fifo", 2), ("pie", 3), ("fq_codel", 4)])
def test_the_table_is_what_the_commands_print(
    queue: str, column: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert cli.main(["run", "examples/call.toml", "--set", f"bottleneck.queue={queue}"]) == 0
    printed = capsys.readouterr().out
    rows = [line.split("|") for line in DOCS.splitlines() if line.startswith("| ") and line.count("|") == 5]
    cells = {row[1].strip().split(":")[0]: row[column] for row in rows}
    table = printed.partition("latency under")[2].splitlines()
    shown = {line.split("  ")[0].strip(): line.split() for line in table}

    def ping(*names: str) -> list[str]:
        return [f"{float(shown[LATENCY[name].label][-1]):.0f}" for name in names]

    trip = ping("idle_rtt_ms", "loaded_rtt_ms", "loaded_rtt_p99_ms")
    assert re.findall(r"\d+", cells["a ping's round trip"]) == trip
    rounds = ping("foreign_rpm", "loaded_rpm", "rpm")
    assert re.findall(r"\d+", cells["round trips a minute"]) == rounds
    assert cells["bloat"].strip() == shown[LATENCY["bloat_grade"].label][-1]
    call = [f"{float(shown[LATENCY[name].label][-2]):.1f}" for name in ("call_r", "call_mos")]
    assert re.findall(r"[\d.]+", cells["a call"]) == call
