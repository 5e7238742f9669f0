"""Whether long flows wait in one queue, or groups of them in several."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import bufferlab
from bufferlab.captured.apart import groups_apart
from bufferlab.captured.doubts import refuse_apart, several_queues
from bufferlab.captured.findings import Findings
from bufferlab.captured.link import WaitingGroup
from bufferlab.captured.scenario import NOTHING, Known
from bufferlab.errors import InputError

from .conftest import Captured

BINS = 40
WIDTH_NS = 100_000_000


def tables(waits_ms: np.ndarray) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Trips and flows: a row of waits each, in ms, NaN where it sends nothing."""
    trips = [
        (flow, 0, place * WIDTH_NS, WIDTH_NS, 5, 1e6 * (20.0 + flow + wait), 20_000_000)
        for flow, row in enumerate(waits_ms)
        for place, wait in enumerate(row)
        if np.isfinite(wait)
    ]
    columns = ["connection", "sender", "start_ns", "width_ns", "samples", "mean_ns", "least_ns"]
    flows = pl.DataFrame({"connection": range(len(waits_ms))}).with_columns(
        sender=pl.lit(0), first_ns=pl.lit(0), last_ns=pl.lit(BINS * WIDTH_NS)
    )
    return pl.DataFrame(trips, schema=columns, orient="row"), flows


def noisy(queues: np.ndarray, of_flow: list[int], noise_ms: float = 5.0) -> np.ndarray:
    """What flows wait in such queues, each with its own noise."""
    random = np.random.default_rng(4)
    return queues[of_flow] + random.normal(0.0, noise_ms, (len(of_flow), queues.shape[1]))


@pytest.fixture
def queues() -> np.ndarray:
    return np.random.default_rng(3).normal(50.0, 10.0, (8, BINS))


def test_flows_of_two_queues_are_two_groups(queues: np.ndarray) -> None:
    found = groups_apart(*tables(noisy(queues, [0, 1, 0, 1, 0, 1, 1])))
    assert found is not None
    assert [sorted(group["connection"]) for group in found] == [[1, 3, 5, 6], [0, 2, 4]]


def test_flows_of_one_queue_are_not_apart(queues: np.ndarray) -> None:
    assert groups_apart(*tables(noisy(queues, [0] * 6))) == ()


def test_flows_with_a_queue_each_tell_nothing(queues: np.ndarray) -> None:
    assert groups_apart(*tables(noisy(queues, list(range(8))))) is None


def test_too_few_flows_tell_nothing(queues: np.ndarray) -> None:
    assert groups_apart(*tables(noisy(queues, [0, 0, 1]))) is None


def test_groups_that_never_send_together_are_not_apart(queues: np.ndarray) -> None:
    waits = noisy(queues, [0, 0, 0, 1, 1, 1])
    waits[:3, : BINS // 2] = np.nan
    waits[3:, BINS // 2 :] = np.nan
    assert not groups_apart(*tables(waits))


def test_groups_of_which_one_waits_less_when_the_other_waits_more_share_a_link(queues: np.ndarray) -> None:
    queues[1] = 100.0 - queues[0]
    assert groups_apart(*tables(noisy(queues, [0, 0, 0, 1, 1, 1], 2.0))) == ()


@pytest.fixture(scope="module")
def of_two_links(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two links of 10 and 15 Mbps, whose senders are captured at one place."""
    path = tmp_path_factory.mktemp("apart") / "two.pcapng"
    links = [
        {"name": name, "rate": f"{rate} Mbps", "delay": "3 ms", "buffer": f"{4 * rate + 20} ms"}
        for name, rate in (("a", 10), ("b", 15))
    ]
    flows = [
        {"name": f"{name}-{rtt}", "count": 2, "rtt": f"{rtt} ms", "path": [name], "congestion": control}
        for name in ("a", "b")
        for rtt, control in ((20, "cubic-linux(hystart)"), (50, "reno"))
    ]
    scenario = {"run": {"duration": "30 s", "stack": "linux"}, "links": links, "flows": flows}
    bufferlab.run(scenario, progress=False, pcap=path, pcap_at=["senders"])
    return path


@pytest.fixture(scope="module")
def of_both(of_two_links: Path) -> Findings:
    return bufferlab.observe(of_two_links)


def test_a_capture_of_two_links_is_said_to_have_several_queues(of_both: Findings) -> None:
    assert of_both.apart is not None
    loads = sorted(group.load_bps for group in of_both.apart)
    assert loads == pytest.approx([10e6, 15e6], rel=0.03)
    assert [group.flows for group in of_both.apart] == [4, 4]
    assert of_both.to_dict()["buffer_ms"] is None
    text = " ".join(str(of_both).split())
    assert "in short long flows wait in more than one queue, so no one buffer follows from it" in text
    assert "beware long flows wait in more than one queue: 4 with" in text


def test_no_buffer_is_advised_for_two_links(of_both: Findings) -> None:
    with pytest.raises(InputError, match="more than one queue"):
        refuse_apart(of_both, NOTHING)
    refuse_apart(of_both, Known(rate="25 Mbps"))
    refuse_apart(replace(of_both, apart=()), NOTHING)


def test_hosts_of_one_link_show_its_rate(of_two_links: Path, of_both: Findings) -> None:
    """Hosts have numbers in the order of the groups of flows."""
    parts = [[f"10.0.0.{host}" for host in hosts] for hosts in (range(1, 5), range(5, 9))]
    found = [bufferlab.observe(of_two_links, only=hosts) for hosts in parts]
    assert sum(part.observation.packets for part in found) == of_both.observation.packets
    assert [part.rate_bps for part in found] == pytest.approx([10e6, 15e6], rel=0.02)
    assert [part.apart for part in found] == [(), ()]
    assert f"packets of {' and '.join(parts[0])} alone" in " ".join(str(found[0]).split())


def test_a_network_without_a_packet_is_refused(of_two_links: Path) -> None:
    with pytest.raises(InputError, match="has no IP packet of these networks"):
        bufferlab.observe(of_two_links, only=["192.0.2.0/24"])


def test_what_a_capture_cannot_tell_is_said_to_be_assumed(captured: Captured) -> None:
    found = bufferlab.observe(captured.at_receivers)
    assert found.apart == ()
    assert "bottleneck one" not in " ".join(str(found).split())
    unknown = " ".join(str(replace(found, apart=None)).split())
    assert "bottleneck one for all flows is assumed: too few" in unknown


def test_groups_are_said_without_round_trips_that_are_not_known(of_both: Findings) -> None:
    (said,) = several_queues(replace(of_both, apart=(WaitingGroup(3, 5e6, None, None),)))
    assert "queue: 3 with 5 Mbps wait alike" in said
