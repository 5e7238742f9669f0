"""A link of Bufferlab's in a kernel: what it takes, what it does to a real TCP, what its report becomes."""

from __future__ import annotations

import json
from typing import Any, Final

import polars as pl
import pytest

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.experiment.run import run
from bufferlab.kernel.boot import Report, boot
from bufferlab.kernel.cache import Kernel
from bufferlab.kernel.emulate import OUR_LINK, emulate, is_ours
from bufferlab.kernel.job import job_of
from bufferlab.kernel.outcome import result_of
from bufferlab.kernel.own import kernels_own
from bufferlab.plan import lower, plan_json
from bufferlab.results.result import Result, RunSet
from bufferlab.studies.crosscheck import Crosscheck, Verdict

from .conftest import link
from .record import recorded, scenario

CASE = "reno-splitbuff"

TAKEN: Final[list[dict[str, Any]]] = [
    *({"bottleneck__queue": word} for word in ("drr", "dualpi2", "splitbuff", "splitbuff-blind", "red")),
    {"bottleneck__queue": {"discipline": "codel", "control_law": "rfc"}},
    {"bottleneck__queue": {"discipline": "splitbuff", "rtt": "handshake"}},
    {"bottleneck__queue": "pie", "bottleneck__buffer": "90 KB"},
    {"bottleneck__mark_above": "20 packets"},
    {"bottleneck__loss": 0.01},
    {"bottleneck__jitter": "uniform(0 s, 1 ms)"},
    {"bottleneck__changes": [{"at": "9 s", "buffer": "50 packets"}]},
    {"bottleneck__rate": "steps(10 Mbps for 5 s, 5 Mbps for 5 s)"},
]  # fmt: skip


def whole(result: Result) -> dict[str, Any]:
    """The link's row of all groups together."""
    return result.queues.row(by_predicate=pl.col("group") == "all", named=True)


@pytest.mark.parametrize("overrides", TAKEN, ids=lambda case: json.dumps(case)[:50])
def test_a_link_of_ours_takes_what_the_simulators_takes(overrides: dict[str, object]) -> None:
    """And what the kernel's own does not, or not so."""
    plan = lower(link(**overrides))
    job = job_of(plan, ours=True)
    assert job["plan"] == plan_json(plan)
    assert not [command for command in job["commands"] if "htb" in command.get("input", "")]
    assert [command["tun"] for command in job["commands"] if "tun" in command] == job["tuns"]
    assert not [line for line in kernels_own(plan, ours=True) if line.startswith("bottleneck")]


def test_its_packets_take_their_transmission_on_it_and_not_on_the_way_back() -> None:
    kernels, ours = (
        next(
            command["input"]
            for command in job_of(lower(link()), ours=ours)["commands"]
            if "netem" in command.get("input", "")
        )
        for ours in (False, True)
    )
    assert "delay 41200.000us" in kernels
    assert "delay 40000.000us" in ours


def test_senders_state_their_round_trips_where_a_discipline_reads_them() -> None:
    def stated(**queue: str) -> object:
        splitbuff = link(bottleneck__queue={"discipline": "splitbuff", **queue})
        return job_of(lower(splitbuff), ours=True).get("states")

    assert stated() == stated(rtt="header(4 bits)") == [10**7, 20 * 10**9, 10**7]
    assert stated(rtt="frequency") is None


def test_what_it_cannot_see_is_refused() -> None:
    queue = {"discipline": "splitbuff", "rtt": "timestamps"}
    with pytest.raises(InputError, match=r"links\.bottleneck\.queue\.rtt: 'timestamps'.*acknowledgments"):
        job_of(lower(link(bottleneck__queue=queue)), ours=True)
    with pytest.raises(InputError, match=r"queue: 'drr'.*any with --queues bufferlab"):
        job_of(lower(link(bottleneck__queue="drr")))
    with pytest.raises(InputError, match=r"--queues: 'mine'.*kernel, bufferlab"):
        is_ours("mine")


def test_the_extension_carries_packets_and_says_what_it_cannot_read() -> None:
    forwarder = _core.Forwarder(plan_json(lower(link(bottleneck__rate="8 Mbps"))), 10_000)
    segment = bytes.fromhex("4500 0064 0000 0000 4006 0000 0a000002 0a010002 2710 1388".replace(" ", ""))
    segment = segment.ljust(32, b"\0") + b"\x50\x10" + bytes(66)
    forwarder.arrive(1000, segment)
    assert forwarder.next_ns() == 101_000
    assert forwarder.take(100_999) is None
    assert forwarder.counters(100_999)[:4] == [0, 0, 0, 0]
    assert forwarder.take(101_000) == segment
    assert (forwarder.next_ns(), forwarder.counters(101_000)[:2]) == (None, [100, 1])
    with pytest.raises(ValueError, match="is of no flow: its port is 9999"):
        forwarder.arrive(101_000, segment[:20] + b"\x27\x0f" + segment[22:])
    assert json.loads(forwarder.finish())["queues"]["whole_departed_packets"] == [1, 1]
    with pytest.raises(ValueError, match="it is finished"):
        forwarder.next_ns()


def test_what_was_recorded_has_all_that_a_simulated_link_has() -> None:
    found, mine = recorded(CASE), scenario(CASE)
    kernels = result_of(mine, 1, Report(found["rows"], 0.0), title=found["kernel"])
    (ours,) = run(mine, seeds=[1], progress=False)
    assert kernels.queues["group"].to_list() == ours.queues["group"].to_list() == ["bulk", "far", "all"]
    assert kernels.queues["wait_p99_ms"].null_count() == 0
    assert kernels.classes.height == ours.classes.height == 2
    # the buffer is split: what comes from near waits a fraction of what comes from far
    waits = dict(kernels.queues.select("group", "wait_mean_ms").rows())
    assert waits["bulk"] < waits["far"] / 3


def test_with_a_link_of_ours_hosts_alone_differ() -> None:
    found, mine = recorded(CASE), scenario(CASE)
    kernels = result_of(mine, 1, Report(found["rows"], 0.0), title=found["kernel"])
    compared = Crosscheck(run(mine, seeds=[1], progress=False), RunSet([kernels]))
    verdicts = {row.compared.name: row.verdict for row in compared.rows}
    assert verdicts["utilization"] is verdicts["loss"] is Verdict.AGREES
    assert not [line for line in compared.otherwise if line.startswith("bottleneck")]


def test_a_reno_flow_through_our_fifo_is_the_simulators(built: Kernel) -> None:
    scenario = link()
    (kernels,) = emulate(scenario, by=built, queues="bufferlab")
    (ours,) = run(scenario, progress=False)
    here, there = (whole(result) for result in (ours, kernels))
    for name, tolerance in (("utilization", 0.001), ("wait_mean_ms", 0.01), ("wait_p95_ms", 0.01)):
        assert there[name] == pytest.approx(here[name], rel=tolerance), name
    assert there["backlog_max_packets"] == here["backlog_max_packets"] == 100
    # an overflow loses a packet or two (docs/kernel.md, Reno through a FIFO), and there is one
    assert 0 < there["dropped_packets"] <= here["dropped_packets"] + 1 <= 4
    assert kernels.version == built.title + OUR_LINK


def test_the_same_seed_gives_the_same_bytes_through_our_link(built: Kernel) -> None:
    splitbuff = link(
        run__duration="5 s", run__warmup="1 s", bottleneck__queue="splitbuff", flows__bulk__count=3,
        flows__bulk__rtt="uniform(10 ms, 80 ms)", flows__bulk__start="uniform(0 s, 1 s)",
    )  # fmt: skip
    first, again = (boot(built, job_of(lower(splitbuff, 1), ours=True), 1).rows for _ in range(2))
    assert first == again
    assert first[-1]["kind"] == "link"


def test_marks_of_our_link_reach_the_kernels_tcp(built: Kernel) -> None:
    """DCTCP behind a FIFO that marks: it keeps the queue at its threshold, and nothing is lost."""
    overrides: dict[str, Any] = {
        "bottleneck__mark_above": "20 packets", "flows__bulk__congestion": "dctcp", "run__duration": "10 s",
    }  # fmt: skip
    (kernels,) = emulate(link(**overrides), by=built, queues="bufferlab")
    row = whole(kernels)
    assert row["marked_packets"] > 100
    assert (row["dropped_packets"], kernels.flows["retransmissions"][0]) == (0, 0)
    assert 5 < row["backlog_mean_packets"] < 40


def test_a_lossy_link_of_ours_loses_its_share(built: Kernel) -> None:
    (kernels,) = emulate(link(bottleneck__loss=0.02), by=built, queues="bufferlab")
    row = whole(kernels)
    # some 3,000 packets: a standard error of 8
    assert row["lost_packets"] / (row["arrived_packets"] + row["lost_packets"]) == pytest.approx(
        0.02, abs=0.01
    )
    assert kernels.flows["retransmissions"][0] >= row["lost_packets"] * 0.9


def test_a_link_of_ours_varies_for_a_real_tcp(built: Kernel) -> None:
    """A rate of 12 and of 4 Mbps by turns, 10 on average: a buffer of a pipe or two keeps it busy."""
    varying = link(bottleneck__rate="steps(12 Mbps for 3 s, 4 Mbps for 1 s)", run__duration="21 s")
    (kernels,) = emulate(varying, by=built, queues="bufferlab")
    assert whole(kernels)["offered_bps"] == pytest.approx(10e6, rel=0.01)
    assert whole(kernels)["utilization"] > 0.95
