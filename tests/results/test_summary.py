"""The summary document, its tables and its means over seeds."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from bufferlab.display import significant
from bufferlab.render.summary import summary_view
from bufferlab.results.result import Result, RunSet

RUN_KEYS = {
    "format", "format_version", "version", "name", "duration_s", "warmup_s", "seeds", "resolved", "flows",
    "queues", "packets", "events", "cpu_s", "packets_per_cpu_s", "latency",
}  # fmt: skip
FLOW_KEYS = {
    "group", "flows", "goodput_bps", "goodput_min_bps", "goodput_max_bps", "goodput_total_bps", "jain_index",
    "rtt_ms", "retransmission_fraction", "retransmissions", "timeouts", "recoveries", "finished_flows",
    "unfinished_flows", "completion_s", "completion_least_s", "completion_p50_s", "completion_p95_s",
    "completion_p99_s",
    "exchanges", "exchanges_not_done", "exchange_s", "exchange_sd_s", "exchange_p50_s", "exchange_p95_s",
    "exchange_p99_s", "delay_variation_ms", "jitter_ms",
    "reordered_packets", "spurious_retransmissions",
}  # fmt: skip
QUEUE_KEYS = {
    "link", "group", "utilization", "throughput_bps", "loss", "dropped_packets", "lost_packets",
    "marked_packets",
    "wait_mean_ms", "wait_p50_ms", "wait_p95_ms", "wait_p99_ms", "wait_max_ms",
    "backlog_mean_packets", "backlog_p1_packets", "backlog_p50_packets", "backlog_p95_packets",
    "backlog_p99_packets", "backlog_max_packets", "backlog_mean_bytes", "backlog_max_bytes", "empty_fraction",
}  # fmt: skip
LATENCY_KEYS = {
    "group", "kind", "idle_rtt_ms", "loaded_rtt_ms", "loaded_rtt_p50_ms", "loaded_rtt_p95_ms",
    "loaded_rtt_p99_ms", "rtt_increase_ms", "bloat_grade", "rpm", "foreign_rpm", "loaded_rpm",
    "call_delay_ms", "call_buffer_ms", "call_lost_fraction", "call_late_fraction", "call_burst_ratio",
    "call_r", "call_mos",
}  # fmt: skip


def without_confidence(document: dict[str, object]) -> set[str]:
    return {key for key in document if not key.endswith("_ci95")}


def test_keys_that_scripts_rely_on_do_not_change(result: Result) -> None:
    summary = result.summary()
    assert without_confidence(summary) >= RUN_KEYS
    assert without_confidence(summary["flows"][0]) >= FLOW_KEYS
    assert without_confidence(summary["queues"][0]) >= QUEUE_KEYS
    assert without_confidence(summary["latency"][0]) >= LATENCY_KEYS
    json.dumps(summary, allow_nan=False)


def test_flow_groups_and_all_of_them(result: Result) -> None:
    near, far, together = result.summary()["flows"]
    assert [near["group"], far["group"], together["group"]] == ["near", "far", "all"]
    assert [near["flows"], far["flows"], together["flows"]] == [2, 1, 3]
    assert near["goodput_bps"] == 3000
    assert near["goodput_total_bps"] == 6000
    assert near["rtt_ms"] == pytest.approx((40 * 30 + 10 * 80) / 50)  # every sample counts alike
    assert near["retransmission_fraction"] == pytest.approx(0.05)
    assert near["jain_index"] == pytest.approx(0.9)
    assert far["rtt_ms"] is None
    assert together["goodput_total_bps"] == 7000
    assert together["finished_flows"] == 1


@pytest.mark.parametrize(
    ("kinds", "jain", "goodput_bps"),
    [
        (("bulk", "bulk"), 7**2 / (3 * 21), 7000 / 3),
        (("bulk", "on-off"), 0.9, 3000),
        (("transfer", "on-off"), None, None),
    ],
)
def test_goodputs_of_flows_of_several_kinds_do_not_compare(
    result: Result, kinds: tuple[str, str], jain: float | None, goodput_bps: float | None
) -> None:
    flows = [
        flow | {"application": flow["application"] | {"kind": kind}}
        for flow, kind in zip(result.resolved["flows"], kinds, strict=True)
    ]
    resolved: Any = result.resolved | {"flows": flows}
    together = dataclasses.replace(result, resolved=resolved).summary()["flows"][-1]
    assert together["jain_index"] == (jain if jain is None else pytest.approx(jain))
    assert together["goodput_bps"] == (goodput_bps if goodput_bps is None else pytest.approx(goodput_bps))


def test_queues_start_with_all_groups(result: Result) -> None:
    assert [(queue["link"], queue["group"]) for queue in result.summary()["queues"]] == [
        ("west", "all"),
        ("west", "near"),
        ("west", "far"),
    ]


def test_packets_per_cpu_second(result: Result) -> None:
    assert result.packets_per_cpu_s == 40
    assert result.summary()["packets_per_cpu_s"] == 40


def test_a_single_seed_has_no_confidence_interval(result: Result) -> None:
    assert result.summary()["flows"][0]["goodput_bps_ci95"] is None


def test_means_over_seeds_have_students_interval(three_seeds: list[Result]) -> None:
    summary = RunSet(three_seeds).summary()
    near = summary["flows"][0]
    assert summary["seeds"] == [7, 8, 9]
    assert near["goodput_bps"] == pytest.approx(3080)  # 3000, 3080, 3160
    assert near["goodput_bps_ci95"] == pytest.approx(4.302653 * 80 / 3**0.5, rel=1e-6)
    assert near["retransmissions_ci95"] == 0


def test_set_of_runs_stacks_frames_and_tabulates_means(three_seeds: list[Result]) -> None:
    runs = RunSet(three_seeds)
    assert runs.flows["seed"].to_list() == [7, 7, 7, 8, 8, 8, 9, 9, 9]
    assert runs.flow_means.filter(group="near")["goodput_bps"].item() == pytest.approx(3080)
    assert runs.queue_means.height == 3
    assert runs[0] is three_seeds[0]
    assert list(runs[1:]) == three_seeds[1:]


def test_a_set_of_no_runs_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        RunSet([])


def shown(result: Result | RunSet, width: int) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(summary_view(result.summary()))
    return out.getvalue()


def test_terminal_shows_every_figure_with_its_unit(result: Result) -> None:
    text = shown(result, 100)
    assert "goodput per flow, Mbps" in text
    assert "utilization, %" in text
    assert [line.split()[-3:] for line in text.splitlines() if "wait: longest, ms" in line] == [
        ["150", "150", "–"]
    ]


def test_terminal_shows_confidence(three_seeds: list[Result]) -> None:
    assert "0.00308 ± 0.0002" in shown(RunSet(three_seeds), 100)


def test_narrow_terminal_puts_groups_below_each_other(result: Result) -> None:
    lines = shown(result, 55).splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 55
    assert sum("goodput per flow" in line for line in lines) == 2
    for group in ("near (2)", "far (1)", "all (3)"):
        assert any(group in line for line in lines)


def test_notebook_shows_the_same_and_escapes_names(result: Result, three_seeds: list[Result]) -> None:
    summary = result.summary()
    summary["flows"][0]["group"] = "<b>"
    text = summary_view(summary).html()
    assert "&lt;b&gt; (2)" in text
    assert "<b> (2)" not in text
    assert text.count("<table>") == text.count("</table>") == 4
    assert "means of 3 seeds" in RunSet(three_seeds)._repr_html_()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (100, "100"),
        (123456.7, "123457"),
        (9.99996, "10"),
        (0.00123456, "0.001235"),
        (-2.5, "-2.5"),
        (1e-300, "1e-300"),
    ],
)
def test_significant_digits(value: float, text: str) -> None:
    assert significant(value) == text


def test_marks_are_shown_where_there_are_any(result: Result) -> None:
    assert "packets marked" not in shown(result, 100)
    queues = result.queues.with_columns(marked_packets=pl.lit(3, dtype=pl.UInt64))
    marked = dataclasses.replace(result, frames=dataclasses.replace(result.frames, queues=queues))
    assert "packets marked" in shown(marked, 100)
