"""One run whose buffer is changed: the session, and what is read from it."""

from __future__ import annotations

import threading
import time
from typing import Any

import polars as pl
import pytest

import bufferlab
from bufferlab import _core
from bufferlab.evidence.sizing_mininet.search.live import Counters, Simulated, Timing, measure
from bufferlab.plan import lower, plan_json
from bufferlab.scenario import Scenario
from bufferlab.units import PS_PER_S

DOCUMENT: dict[str, Any] = {
    "run": {"duration": "20 s", "warmup": "0 s", "stack": "linux"},
    "bottleneck": {"rate": "12 Mbps", "delay": "1 ms", "buffer": "40 packets"},
    "flows": [{"congestion": "reno", "rtt": "50 ms", "rtt_spread": 0.2, "count": 5}],
}


def plan(document: dict[str, Any] = DOCUMENT) -> str:
    return plan_json(lower(Scenario.from_dict(document)))


def rows(table: _core.Table) -> pl.DataFrame:
    return pl.DataFrame(table)


def test_a_session_in_steps_is_the_run() -> None:
    session = _core.Session(plan())
    for second in range(1, 20):
        assert session.advance(second * PS_PER_S)
        assert session.now_ps == second * PS_PER_S
        assert session.counters(0).departed_packets > 0
    session.advance(100 * PS_PER_S)
    ours, whole = session.finish(), _core.simulate(plan())
    assert not ours.canceled
    assert (ours.events, ours.packets, ours.reached_ps) == (whole.events, whole.packets, whole.reached_ps)
    assert rows(ours.queues()).equals(rows(whole.queues()))
    assert rows(ours.flows()).equals(rows(whole.flows()))


def test_a_limit_that_is_set_is_a_change_of_the_plan() -> None:
    session = _core.Session(plan())
    session.advance(7 * PS_PER_S)
    session.set_limit(0, '{"packets": 5}')
    session.advance(20 * PS_PER_S)
    changed = DOCUMENT | {
        "bottleneck": DOCUMENT["bottleneck"] | {"changes": [{"at": "7 s", "buffer": "5 packets"}]}
    }
    ours, whole = session.finish(), _core.simulate(plan(changed))
    assert rows(ours.queues()).equals(rows(whole.queues()))
    assert not rows(ours.queues()).equals(rows(_core.simulate(plan()).queues()))


def test_a_session_is_canceled_from_another_thread() -> None:
    forever = DOCUMENT | {"run": {"duration": "90000 s", "warmup": "0 s"}}
    session, control = _core.Session(plan(forever)), _core.Control()
    done: list[bool] = []
    thread = threading.Thread(target=lambda: done.append(session.advance(90000 * PS_PER_S, control)))
    thread.start()
    while not control.reached_ps():
        time.sleep(0.01)
    control.cancel()
    thread.join(timeout=20)
    assert done == [False]
    assert session.now_ps < 90000 * PS_PER_S
    assert session.finish().canceled


def test_what_a_session_does_not_have_is_an_error() -> None:
    session = _core.Session(plan())
    for call, message in (
        (lambda: _core.Session("{}"), "plan: missing field"),
        (lambda: session.counters(3), "plan: link: 3 is not accepted; accepted: the index of a link"),
        (lambda: session.set_limit(0, "[]"), "limit: "),
        (lambda: session.set_limit(0, '{"packets": 0}'), "plan: limit.packets: 0 is not accepted"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    session.finish()
    with pytest.raises(ValueError, match="session: it is finished"):
        session.advance(1)


class Sawtooth:
    """A link of 1 Mbps that carries nothing in the second after a change and little in the third reading."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.changed_s = 0.0
        self.buffers: list[int] = []

    def set_buffer(self, packets: int) -> None:
        self.buffers.append(packets)
        self.changed_s = self.now_s

    def advance(self, until_s: float) -> None:
        self.now_s = until_s

    def counters(self) -> Counters:
        since_s = self.now_s - self.changed_s
        sent = max(since_s - 1.0, 0.0) - (0.9 if since_s >= 4.0 else 0.0)
        packets = int(since_s * 100)
        return Counters(round(sent * 1e6 / 8), packets, packets // 10, packets, packets * 0.02, cpu_s=since_s)


def test_a_measurement_settles_and_takes_the_median() -> None:
    engine = Sawtooth()
    sample = measure(engine, 30, Timing(settle_s=1.0, reading_s=1.0, readings=5))
    assert engine.buffers == [30]
    assert sample.readings_bps == pytest.approx((1e6, 1e6, 0.1e6, 1e6, 1e6))
    assert sample.rate_bps == pytest.approx(1e6)
    assert [sample.loss, sample.wait_mean_ms, sample.simulated_s] == pytest.approx([0.1, 20.0, 6.0])
    assert sample.began_s == 0.0


def test_a_simulated_link_counts_what_a_run_of_its_own_measures() -> None:
    document = DOCUMENT | {"run": {"duration": "40 s", "warmup": "8 s", "stack": "linux"}}
    scenario = Scenario.from_dict(document)
    sample = measure(
        Simulated(scenario, 0, 1, duration_s=1000.0, packets=40),
        40,
        Timing(settle_s=8.0, reading_s=32.0, readings=1),
    )
    (run,) = bufferlab.run(document, progress=False)
    queue = run.queues.row(0, named=True)
    edge_bps = 1500 * 8 / 32.0  # a run counts the part of a packet within the window, a session whole ones
    assert sample.rate_bps == pytest.approx(queue["throughput_bps"], abs=edge_bps)
    assert sample.loss == pytest.approx(queue["loss"], rel=1e-9)
    assert sample.wait_mean_ms == pytest.approx(queue["wait_mean_ms"], rel=1e-3)  # those in the queue at 8 s
