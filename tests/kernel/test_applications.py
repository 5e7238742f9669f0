"""Applications in a kernel: what a job says of them, what real hosts do, what their report becomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl
import pytest

from bufferlab.errors import InputError
from bufferlab.experiment.run import run
from bufferlab.kernel.boot import Report
from bufferlab.kernel.cache import Kernel
from bufferlab.kernel.emulate import emulate
from bufferlab.kernel.job import job_of
from bufferlab.kernel.keys import KEYS, Fate
from bufferlab.kernel.outcome import result_of
from bufferlab.plan import lower
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario

from .record import recorded, scenario

TABLE: Final[Mapping[str, Any]] = {
    "run": {"duration": "40 s", "warmup": "5 s", "stack": "linux"},
    "bottleneck": {"rate": "12 Mbps", "buffer": "100 packets"},
}

KINDS: Final[Mapping[str, tuple[Mapping[str, object], Mapping[str, object]]]] = {
    "Transfer": ({"kind": "transfer", "bytes": "1 MB"}, {"bytes": "2 MB"}),
    "OnOff": ({"kind": "on-off", "size": "1 MB", "off": "1 s"}, {"size": "2 MB", "off": "2 s"}),
    "ShortFlows": (
        {"kind": "short-flows", "size": "1 MB", "interval": "1 s"},
        {"size": "2 MB", "interval": "2 s", "arrivals": "constant"},
    ),
    "Web": ({"kind": "web", "size": "20 KB", "every": "3 s"}, {"size": "30 KB", "every": "2 s"}),
    "Udp": (
        {"kind": "udp", "packet": "200 B", "interval": "20 ms"},
        {"packet": "300 B", "interval": "30 ms", "arrivals": "poisson", "record": False, "header": "8 B"},
    ),
    "Ping": ({"kind": "ping", "interval": "1 s"}, {"interval": "2 s", "packet": "100 B"}),
}
"""By part: an application, and other values of its keys."""


def of(*applications: Mapping[str, object], **link: object) -> Scenario:
    """Flows with these applications, 50 ms long each."""
    flows = [
        {"name": f"flow{number}", "rtt": "50 ms", "application": application}
        | ({} if application["kind"] in {"udp", "ping", "video-call"} else {"congestion": "reno"})
        for number, application in enumerate(applications)
    ]
    return Scenario.from_dict({**TABLE, "bottleneck": TABLE["bottleneck"] | link, "flows": flows})


def test_a_video_is_refused_by_its_kind() -> None:
    with pytest.raises(InputError) as caught:
        job_of(lower(of({"kind": "video"})))
    assert "flows.flow0.application.kind: 'video' is not" in str(caught.value)
    assert "another application: the kernel's hosts have no client that chooses bitrates" in str(caught.value)


def test_a_video_call_is_refused_by_its_kind() -> None:
    with pytest.raises(InputError) as caught:
        job_of(lower(of({"kind": "video-call"})))
    assert "flows.flow0.application.kind: 'video-call' is not" in str(caught.value)
    assert "the kernel's hosts have no sender that follows a call's reports" in str(caught.value)


@pytest.mark.parametrize(
    ("part", "key"), [(part, key) for part, (_, others) in KINDS.items() for key in others]
)
def test_every_key_of_an_application_changes_what_hosts_do(part: str, key: str) -> None:
    usual, others = KINDS[part]
    assert KEYS[part][key][0] is Fate.GIVEN
    one, other = (job_of(lower(of(each)))["flows"] for each in (usual, {**usual, key: others[key]}))
    assert one != other


@pytest.mark.parametrize("part", KINDS)
def test_no_key_of_an_application_is_passed_over(part: str) -> None:
    usual, others = KINDS[part]
    tried = usual.keys() | others.keys() | {"kind"}
    given = {key for key, (fate, _) in KEYS[part].items() if fate is Fate.GIVEN}
    assert given - tried <= {"load", "rate"}  # other words for an interval


@pytest.mark.parametrize(
    ("application", "key", "accepted"),
    [
        ({"kind": "on-off", "on": "1 s", "off": "1 s"}, "flows.flow0.application.on", "a size"),
        (
            {"kind": "udp", "packet": "1501 B", "interval": "1 s"},
            "flows.flow0.application.packet",
            "32 to 1500",
        ),
        (
            {"kind": "udp", "packet": "31 B", "interval": "1 s"},
            "flows.flow0.application.packet",
            "32 to 1500",
        ),
        (
            {"kind": "udp", "packet": "200 B", "interval": "1 s", "sizes": "exponential"},
            "flows.flow0.application.packet",
            "constant",
        ),
        (
            {"kind": "udp", "packet": "200 B", "interval": "10 us"},
            "flows.flow0.application.interval",
            "at most",
        ),
    ],
)
def test_what_a_kernels_hosts_cannot_do_is_refused(
    application: dict[str, object], key: str, accepted: str
) -> None:
    with pytest.raises(InputError) as refused:
        job_of(lower(of(application)))
    assert refused.value.key == key
    assert accepted in str(refused.value.accepted)


def test_an_echo_is_refused() -> None:
    with pytest.raises(InputError, match=r"flows\.application: 'echo'"):
        job_of(lower(of({"kind": "transfer", "bytes": "1 MB"}, {"kind": "echo", "of": "flow0"})))


def test_draws_are_the_simulators() -> None:
    """A burst's size and a datagram's moment, of the kernel's job and of a run."""
    mine = of(
        {"kind": "on-off", "size": "pareto(mean=100 KB, shape=1.5)", "off": "exponential(mean=1 s)"},
        {"kind": "udp", "packet": "200 B", "interval": "20 ms", "arrivals": "poisson", "record": True},
    )
    bursts, datagrams = job_of(lower(mine))["flows"]
    (ours,) = run(mine, progress=False)
    seen = {flow: rows for (flow,), rows in ours.exchanges.group_by(["flow"], maintain_order=True)}
    assert [size for size, _ in bursts["turns"]][: seen[0].height] == seen[0]["bytes"].to_list()
    moments = [at_ns / 1e9 for at_ns, _ in datagrams["datagrams"]]
    assert moments == pytest.approx(seen[1]["start_s"].to_list(), abs=1e-6)


def test_what_was_recorded_of_applications_has_the_simulators_rows() -> None:
    case = "applications"
    found, mine = recorded(case), scenario(case)
    kernels = result_of(mine, 1, Report(found["rows"], 0.0), title=found["kernel"])
    (ours,) = run(mine, seeds=[1], progress=False)
    for name in ("page", "call", "ping"):
        here, there = (durations(result, name) for result in (ours, kernels))
        assert len(there) == pytest.approx(len(here), abs=2), name
        assert sum(there) / len(there) == pytest.approx(sum(here) / len(here), rel=0.15), name
    here, there = (
        result.flows.filter(pl.col("group") == "short")["completion_s"].to_list()
        for result in (ours, kernels)
    )
    assert len(here) == len(there) > 5
    assert [value is None for value in here] == [value is None for value in there]


def durations(result: Result, group: str) -> list[float]:
    """How long the exchanges of a group took."""
    rows = result.exchanges.filter((pl.col("group") == group) & pl.col("duration_s").is_not_null())
    return rows["duration_s"].to_list()


def test_datagrams_through_our_link_are_the_simulators_packet_for_packet(built: Kernel) -> None:
    """Two Poisson sources offer more than the link carries: the same packets are dropped and wait as long."""
    source = {"kind": "udp", "packet": "1000 B", "interval": "1.2 ms", "arrivals": "poisson", "record": True}
    mine = of(source, source, queue="drr", buffer="30 packets").with_overrides(
        {"run.duration": "6 s", "run.warmup": "0 s", "flows.flow0.stop": "5 s", "flows.flow1.stop": "5 s"}
    )
    (ours,) = run(mine, progress=False)
    (kernels,) = emulate(mine, by=built, queues="bufferlab")
    columns = ["group", "whole_arrived_packets", "whole_dropped_packets", "whole_departed_packets"]
    assert kernels.queues.select(columns).equals(ours.queues.select(columns))
    assert ours.queues["whole_dropped_packets"][-1] > 500
    here, there = (result.exchanges["duration_s"].to_list() for result in (ours, kernels))
    assert here.count(None) == there.count(None) > 500
    assert [value is None for value in here] == [value is None for value in there]
    # each reading of the kernel's clock takes 256 ns (timer_read, arch/um/kernel/time.c, Linux 6.12)
    pairs = zip(here, there, strict=True)
    assert max(abs(one - other) for one, other in pairs if one is not None) < 5e-6


def test_lone_applications_take_as_long_as_simulated(built: Kernel) -> None:
    """Without a queue, what a page, a file and a ping take is the round trips that TCP needs."""
    mine = of(
        {"kind": "web", "size": "40 KB", "every": "3 s"},
        {"kind": "ping", "interval": "1 s"},
        {"kind": "transfer", "bytes": "300 KB"},
        rate="100 Mbps", buffer="1000 packets",
    ).with_overrides({"run.duration": "10 s", "run.warmup": "0 s"})  # fmt: skip
    (ours,) = run(mine, progress=False)
    (kernels,) = emulate(mine, by=built)
    for name in ("flow0", "flow1"):
        here, there = durations(ours, name), durations(kernels, name)
        assert there == pytest.approx(here, rel=0.02), name
    here, there = (result.flows["completion_s"].to_list() for result in (ours, kernels))
    assert there[2] == pytest.approx(here[2], rel=0.03)
