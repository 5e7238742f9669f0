"""Looking at a run: what is seen, and that it changes nothing."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from polars.testing import assert_frame_equal
from rich.console import Console

import bufferlab
from bufferlab import InputError, Scenario, _core
from bufferlab.render.watching import Watch
from bufferlab.render.watching.readings import MOST_FLOWS
from bufferlab.render.watching.view import WatchView, sparkline
from bufferlab.results import frames
from bufferlab.scenario import Json

EXAMPLES = Path(__file__).parents[2] / "examples"


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def dumbbell(**flow: Any) -> Scenario:
    return Scenario.from_dict(
        {
            "run": {"duration": "20 s"},
            "bottleneck": {"rate": "10 Mbps", "delay": "2 ms", "buffer": "50 packets"},
            "flows": [{"name": "bulk", "count": 3, "rtt": "40 ms", **flow}],
        }
    )


def watched(scenario: Scenario, watch: Watch | None = None) -> tuple[bufferlab.Result, Watch]:
    watch = watch or Watch(scenario.seeded())
    return bufferlab.run(scenario, engine=watch.engine)[0], watch


@pytest.mark.parametrize("probes", [None, "70 ms"])
@pytest.mark.parametrize("name", ["call", "bufferbloat", "on-off", "short-flows", "splitbuff", "parking-lot"])
def test_looking_changes_nothing(name: str, probes: str | None) -> None:
    scenario = Scenario.load(EXAMPLES / f"{name}.toml")
    changes: dict[str, object] = {"run.duration": "12 s", "run.warmup": "2 s"}
    scenario = scenario.with_overrides(changes | ({"probes.interval": probes} if probes else {}))
    plain, seen = bufferlab.run(scenario)[0], watched(scenario)[0]
    assert (seen.plan_hash, seen.events, seen.packets) == (plain.plan_hash, plain.events, plain.packets)
    for table in frames.NAMES:
        assert_frame_equal(getattr(seen, table), getattr(plain, table))


def test_readings_are_what_the_samples_say() -> None:
    scenario = dumbbell(access_rate="1 Gbps")
    _, watch = watched(scenario)
    step_s = watch.readings[0].time_s
    samples = bufferlab.run(scenario, overrides={"probes.interval": f"{step_s} s"})[0].queue_samples
    assert [reading.links[0].backlog_packets for reading in watch.readings] == samples[
        "backlog_packets"
    ].to_list()
    rates = samples["throughput_bps"].to_list()[1:]
    assert [reading.links[0].rate_bps for reading in list(watch.readings)[1:]] == pytest.approx(rates)


def test_what_is_acknowledged_is_the_goodput() -> None:
    result, watch = watched(dumbbell())
    late = [reading for reading in watch.readings if reading.time_s > result.warmup_s]
    seen = sum(reading.groups[0].goodput_bps for reading in late) / len(late)
    assert seen == pytest.approx(result.flows["goodput_bps"].sum(), rel=0.02)
    assert result.flows["rtt_ms"].min() <= late[-1].groups[0].rtt_ms <= 100  # type: ignore[operator]


def test_a_pace_is_kept() -> None:
    clock = Clock()
    watched(dumbbell(), Watch(dumbbell().seeded(), 4.0, clock=clock, sleep=clock.sleep))
    assert clock.now_s - 100 == pytest.approx(20 / 4, abs=0.002)


def test_without_a_pace_nobody_waits() -> None:
    clock = Clock()
    watched(dumbbell(), Watch(dumbbell().seeded(), clock=clock, sleep=clock.sleep))
    assert clock.now_s == 100


def test_a_run_can_be_canceled_while_it_keeps_its_pace() -> None:
    clock, control = Clock(), _core.Control()

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        if clock.now_s > 101:
            control.cancel()

    plan = bufferlab.plan.plan_json(bufferlab.plan.lower(dumbbell()))
    outcome = Watch(dumbbell().seeded(), 1.0, clock=clock, sleep=sleep).engine(plan, control)
    assert outcome.canceled
    assert 10**12 <= outcome.reached_ps < 2 * 10**12


def test_only_some_flows_of_many_are_read() -> None:
    _, watch = watched(dumbbell(count=50))
    assert (len(watch.groups[0].flows), watch.groups[0].count) == (MOST_FLOWS, 50)
    assert f"bulk ({MOST_FLOWS} of 50)" in drawn(watch)


def test_short_flows_and_datagrams_are_left_out_and_named() -> None:
    scenario = Scenario.load(EXAMPLES / "short-flows.toml").with_overrides({"run.duration": "12 s"})
    _, watch = watched(scenario)
    assert [group.name for group in watch.groups] == ["long"]
    assert "and 1 groups of other flows" in drawn(watch)


def test_what_is_read_is_the_engine_s_flow() -> None:
    """Also behind groups of which the draw decides how many flows they have."""
    short: dict[str, Json] = {"kind": "short-flows", "size": "9 kB", "interval": "1 s"}
    call: dict[str, Json] = {"kind": "udp", "packet": "200 B", "rate": "64 kbps"}
    table = dumbbell().to_dict()
    table["flows"] = [
        {"name": "short", "rtt": "20 ms", "application": short},
        {"name": "call", "rtt": "20 ms", "application": call},
        {"name": "bulk", "rtt": "40 ms", "count": 2, "segment": "1000 B"},
    ]
    result, watch = watched(Scenario.from_dict(table))
    (group,) = watch.groups
    own = result.flows.filter(group="bulk")
    assert list(group.flows) == own["flow"].to_list()
    assert (group.name, group.count, group.segment_bytes) == ("bulk", 2, 1000)


def test_the_run_of_another_seed_is_refused() -> None:
    watch = Watch(dumbbell().seeded(1))
    with pytest.raises(InputError, match="the seed that its view is for"):
        bufferlab.run(dumbbell(), seeds=[2], engine=watch.engine)


def test_the_page_shows_the_lines_that_there_are() -> None:
    page = (Path(__file__).parents[2] / "docs" / "watch.md").read_text()
    scenario = Scenario.load(EXAMPLES / "bufferbloat.toml")
    _, watch = watched(scenario)
    seen = [line.split() for line in drawn(watch).splitlines()]
    shown = [
        line.split() for line in page.partition("times real time")[2].partition("```")[0].splitlines() if line
    ]
    for line in shown[:-1]:
        assert any(line[-1] == other[-1] and line[0] == other[0] for other in seen), line


def drawn(watch: Watch, width: int = 90) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(WatchView(watch, "by hand"))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_view_has_a_line_a_quantity() -> None:
    _, watch = watched(dumbbell())
    headline, *lines = drawn(watch).splitlines()
    assert headline.startswith("by hand: 20.0 of 20 s")
    quantities = ["backlog", "throughput", "cwnd", "RTT", "goodput"]
    assert [quantity in line for quantity, line in zip(quantities, lines, strict=True)] == [True] * 5
    assert lines[0].startswith("bottleneck")
    assert lines[2].startswith("bulk (3)")
    assert lines[1].rstrip().endswith("Mbps")
    assert max(map(len, lines)) <= 90


def test_the_view_of_nothing_yet() -> None:
    assert drawn(Watch(dumbbell().seeded())) == "by hand: 0.0 of 20 s\n"


def test_bars_reach_from_nothing_to_the_largest_value() -> None:
    assert sparkline([0.0, 1.0, 7.9, 8.0]) == "▁▂████"[:2] + "██"
    assert sparkline([0.0, None, 0.0]) == "▁ ▁"
    assert sparkline([]) == ""


def test_half_of_the_window_is_blank_at_half_time() -> None:
    _, watch = watched(dumbbell())
    half = [reading for reading in watch.readings if reading.time_s <= 10]
    watch.readings.clear()
    watch.readings.extend(half)
    _, label, course = drawn(watch).splitlines()[2].partition("throughput")
    bars = course.removeprefix(label).rstrip("Mbps .0123456789")
    assert len(bars) - len(bars.lstrip()) == pytest.approx(len(bars) / 2, abs=3)
