"""Applications that are silent at times, in the engine."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import polars as pl
import pytest

from bufferlab import Scenario, run


def turns(application: dict[str, object], **changes: object) -> Scenario:
    """One flow over a link of 12 Mbps, a segment a millisecond, that no burst fills."""
    table: dict[str, Any] = {
        "run": {"duration": "20 s", "warmup": "0 s"},
        "bottleneck": {"rate": "12 Mbps", "buffer": "1000 packets"},
        "flows": [{"name": "turns", "rtt": "100 ms", "application": {"kind": "on-off", **application}}],
        "probes": {"interval": "10 ms"},
    }
    return Scenario.from_dict(table).with_overrides(dict(changes))


def bursts(scenario: Scenario) -> list[tuple[float, int]]:
    """When data arrived after at least 300 ms without, s, and how many bytes came then."""
    samples = run(scenario)[0].flow_samples.sort("time_s")
    before = pl.col("delivered_bytes").shift(1, fill_value=0)
    steps = samples.with_columns((pl.col("delivered_bytes") - before).alias("new"))
    found: list[list[float]] = []
    last = -1.0
    for time_s, new in steps.filter(pl.col("new") > 0).select("time_s", "new").iter_rows():
        if time_s - last > 0.3:
            found.append([time_s, 0])
        found[-1][1] += new
        last = time_s
    return [(start, int(total)) for start, total in found]


def test_bursts_of_a_size_wait_for_the_last_acknowledgment() -> None:
    found = bursts(turns({"size": "14480 B", "off": "1.9 s"}))
    # a handshake of 100 ms; then each time 10 segments within one round trip, and silence: 100 + 10 + 1900 ms
    starts = [start for start, _ in found]
    assert [total for _, total in found] == [14_480] * len(found)
    assert len(found) == 10
    gaps = [later - start for start, later in pairwise(starts)]
    assert gaps == pytest.approx([2.01] * 9, abs=0.011)


def test_times_go_on_whatever_is_on_its_way() -> None:
    found = bursts(turns({"on": "200 ms", "off": "1.8 s"}))
    starts = [start for start, _ in found]
    assert len(found) == 10
    # the first waits for the handshake
    gaps = [later - start for start, later in pairwise(starts)]
    assert gaps == pytest.approx([1.9] + [2.0] * 8, abs=0.011)


def test_the_stop_ends_it() -> None:
    found = bursts(turns({"size": "14480 B", "off": "1.9 s"}, **{"flows.turns.stop": "5 s"}))
    assert len(found) == 3


@pytest.mark.parametrize(("after_idle", "first_ms"), [("restart", 10), ("keep", 100)])
def test_the_window_after_a_silence_decides_the_burst(after_idle: str, first_ms: float) -> None:
    """The second burst of 100 segments leaves at once if the window was kept, else over round trips."""
    scenario = turns({"size": "144800 B", "off": "3 s"}, **{"flows.turns.after_idle": after_idle})
    samples = run(scenario)[0].flow_samples
    second = samples.filter((pl.col("time_s") > 3) & (pl.col("delivered_bytes") > 144_800))
    began = second["time_s"].min()
    assert isinstance(began, float)
    within = second.filter(pl.col("time_s") < began + 0.09)["delivered_bytes"].max()
    assert isinstance(within, int)
    assert (within - 144_800) / 1448 == pytest.approx(min(first_ms, 90), abs=10)


def test_seeds_and_flows_draw_their_own_times() -> None:
    scenario = turns({"on": "exponential(mean=100 ms)", "off": "pareto(mean=300 ms, shape=1.5)"})
    scenario = scenario.with_overrides({"flows.turns.count": 3})
    runs = run(scenario, seeds=[1, 2])
    delivered = runs.flows["delivered_bytes"].to_list()
    assert len(set(delivered)) == 6
    again = run(scenario, seeds=[1, 2]).flows["delivered_bytes"].to_list()
    assert delivered == again
    assert runs.flows["finished_s"].null_count() == 6


def test_a_pace_takes_the_bursts_out_of_stretched_acknowledgments() -> None:
    """An acknowledgment of 20 segments lets out 20 at once, or one after the other."""
    flow: dict[str, Any] = {"rtt": "100 ms", "initial_ssthresh": 200, "delayed_ack": 20}
    link = {"rate": "1 Gbps", "buffer": "unlimited"}
    means = []
    for paced in (False, True):
        table = {"run": {"duration": "5 s"}, "bottleneck": link, "flows": [{**flow, "paced": paced}]}
        means.append(run(Scenario.from_dict(table))[0].summary()["queues"][0]["backlog_mean_packets"])
    assert means[1] < means[0] / 10
