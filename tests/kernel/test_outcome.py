"""A kernel's report becomes the tables that results are made of."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.experiment.simulation import simulate
from bufferlab.kernel.outcome import KernelOutcome
from bufferlab.results.result import Result

from .conftest import link


def row(at_s: float, kind: str, queue: list[int], flow: list[int]) -> dict[str, Any]:
    at_ns = round(at_s * 1e9)
    return {"at_ns": at_ns, "due_ns": at_ns, "kind": kind, "queue": queue, "flows": [[0, *flow]]}


# received, rtt_us, ssthresh, cwnd, unacked, retransmissions, sent, spurious, timeouts
ROWS = [
    row(1, "warmup", [150_000, 100, 10, 15_000, 2, 0], [144_800, 50_000, 2**31 - 1, 20, 15, 2, 110, 0, 0]),
    row(2, "sample", [1_000_000, 667, 30, 45_000, 5, 0], [900_000, 70_000, 30, 40, 35, 5, 700, 0, 0]),
    row(3, "end", [2_650_000, 1767, 20, 30_000, 12, 0], [2_544_800, 60_000, 25, 30, 28, 12, 1800, 1, 1]),
]


@pytest.fixture(name="result")
def a_result() -> Result:
    scenario = link(run__duration="3 s", run__warmup="1 s", probes__interval="1 s")

    def engine(text: str, _control: object, _recording: object) -> Any:
        return KernelOutcome(json.loads(text), ROWS)

    result = simulate(scenario, 1, engine=engine)
    assert result is not None
    return result


def test_flows_have_what_tcp_info_says(result: Result) -> None:
    flow = result.flows.row(0, named=True)
    assert flow["goodput_bps"] == (2_544_800 - 144_800) * 8 / 2
    assert (flow["retransmissions"], flow["whole_retransmissions"]) == (10, 12)
    assert (flow["timeouts"], flow["spurious_retransmissions"]) == (1, 1)
    assert flow["rtt_ms"] == pytest.approx(60)
    assert flow["recoveries"] is None and flow["reordered_packets"] is None
    (group,) = result.summary()["flows"]
    assert group["recoveries"] is None
    assert group["retransmissions"] == 10


def test_the_queue_keeps_its_books(result: Result) -> None:
    queue = result.queues.row(0, named=True)
    assert queue["departed_packets"] == 1667
    assert queue["dropped_packets"] == 10
    assert queue["arrived_packets"] == 1667 + 10 + (20 - 10)
    assert queue["utilization"] == pytest.approx(2_500_000 * 8 / 2 / 10e6)
    assert queue["backlog_mean_packets"] == 20
    assert queue["wait_mean_ms"] == pytest.approx(20 * 2 / 1667 * 1000)  # Little
    assert queue["wait_p99_ms"] is None


def test_samples_are_at_the_probes_moments(result: Result) -> None:
    assert result.flow_samples["time_s"].to_list() == [1, 2, 3]
    assert result.queue_samples["backlog_packets"].to_list() == [10, 30, 20]


def test_a_report_that_ends_early_is_no_result() -> None:
    with pytest.raises(InputError, match="ended before the run did"):
        KernelOutcome({}, ROWS[:2])
