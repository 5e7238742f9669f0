"""What hides in smallest round trips, and when it is not taken off."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import bufferlab
from bufferlab.captured.flows import timed
from bufferlab.captured.shared import FEWEST_BINS, FEWEST_SAMPLES, Hidden, hidden, likeness

BINS = 40
WIDTH_NS = 100_000_000


def found(
    own_ms: Sequence[float], waits_ms: np.ndarray, starts: Sequence[int], *, sampled: int = 5
) -> Hidden | None:
    """What hides where flows with such round trips begin in such bins, and wait for so long in each."""
    return hidden(*tables(own_ms, waits_ms, starts, sampled))


def tables(
    own_ms: Sequence[float], waits_ms: np.ndarray, starts: Sequence[int], sampled: int = 5
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Their trips and flows."""
    trips, flows = [], []
    for flow, (own, start) in enumerate(zip(own_ms, starts, strict=True)):
        waits = np.broadcast_to(waits_ms, (len(own_ms), waits_ms.shape[-1]))[flow, start:]
        least_ns = int(1e6 * (own + waits.min()))
        for place, wait in enumerate(waits, start):
            trips.append((flow, 0, place * WIDTH_NS, WIDTH_NS, sampled, 1e6 * (own + wait), least_ns))
        flows.append((flow, 0, start * WIDTH_NS, BINS * WIDTH_NS))
    columns = ["connection", "sender", "start_ns", "width_ns", "samples", "mean_ns", "least_ns"]
    return (
        pl.DataFrame(trips, schema=columns, orient="row"),
        pl.DataFrame(
            flows, schema=["connection", "sender", "first_ns", "last_ns"], orient="row"
        ).with_columns(is_opened=pl.lit(1)),
    )


def filling(stands_ms: float) -> np.ndarray:
    """A queue that is empty at first, and then stands."""
    waits = stands_ms + 5 * np.abs(np.sin(np.arange(BINS)))
    waits[0] = 0.0
    return waits


@pytest.mark.parametrize("is_opened", [1, 0])
def test_a_flow_that_began_alone_met_an_empty_queue(is_opened: int) -> None:
    """The means of the second are 6 ms too long, as those of one that paces may be."""
    trips, flows = tables([20.0, 80.0, 50.0], filling(3.0), [0, 3, 5])
    mean_ns = pl.col("mean_ns") + pl.when(pl.col("connection") == 1).then(6e6).otherwise(0.0)
    seen = hidden(trips.with_columns(mean_ns), flows.with_columns(is_opened=pl.lit(is_opened)))
    assert seen is not None
    first, *_ = seen.flows["hidden_ms"].to_list()
    assert (first == pytest.approx(0.0, abs=0.1)) == bool(is_opened)


def test_a_moment_in_which_only_one_flow_sent_is_no_other_queue() -> None:
    """The queue empties while the second flow repairs losses and sends nothing; the third meets that."""
    waits = filling(30.0)
    trips, flows = tables([20.0, 80.0, 50.0], waits, [0, 1, 8])
    least_ns = pl.when(pl.col("connection") == 2).then(50_000_000).otherwise(pl.col("least_ns"))
    seen = hidden(trips.with_columns(least_ns=least_ns), flows)
    assert seen is not None
    assert seen.flows["hidden_ms"].to_list() == pytest.approx([0.0, waits[1:].min(), 0.0], abs=1e-6)


def test_who_comes_later_never_saw_the_empty_queue() -> None:
    waits = filling(30.0)
    seen = found([20.0, 80.0, 50.0], waits, [0, 1, 5])
    assert seen is not None
    hides = [0.0, waits[1:].min(), waits[5:].min()]
    assert seen.flows["hidden_ms"].to_list() == pytest.approx(hides, abs=1e-6)
    assert seen.usual_ms == pytest.approx(hides[1], abs=0.2)


def test_what_all_met_stays() -> None:
    seen = found([20.0, 80.0], filling(30.0), [1, 1])
    assert seen is not None and seen.flows["hidden_ms"].to_list() == pytest.approx([0.0, 0.0], abs=1e-6)


def test_queues_of_their_own_are_left_alone() -> None:
    """The later flow met an emptier queue than the earlier one ever did."""
    waits = np.stack((np.full(BINS, 20.0), np.full(BINS, 20.0)))
    waits[0, 20], waits[1, 5] = 15.0, 0.0
    assert found([20.0, 80.0], waits, [0, 5]) is None


def test_an_impossible_level_is_not_believed() -> None:
    """A flow whose smallest sample is far below its mean would take more off the others than they have."""
    waits = np.stack([*[np.full(BINS, 12.0)] * 3, np.full(BINS, 60.0)])
    waits[:3, 8], waits[3, 9] = 1.0, 0.0
    seen = found([10.0, 11.0, 12.0, 100.0], waits, [0, 0, 0, 2])
    assert seen is None or max(seen.flows["hidden_ms"]) < 10.0


def test_few_samples_tell_nothing() -> None:
    few = FEWEST_SAMPLES * FEWEST_BINS - 1
    assert found([20.0, 80.0], filling(30.0)[:few], [0, 1], sampled=1) is None
    assert found([20.0, 80.0], filling(30.0), [0, BINS - FEWEST_BINS + 1]) is None
    assert found([20.0], filling(30.0), [0]) is None


def test_how_alike_flows_wait() -> None:
    chance = np.random.default_rng(1)
    shared, noise = chance.exponential(10.0, BINS), chance.exponential(1.0, (3, BINS))
    one = likeness(*tables([20.0, 80.0, 40.0], shared + noise, [0, 1, 3]))
    assert one is not None and one > 0.95
    apart = likeness(*tables([20.0, 80.0, 40.0], chance.exponential(10.0, (3, BINS)), [0, 1, 3]))
    assert apart is not None and abs(apart) < 0.35
    assert likeness(*tables([20.0], shared, [0])) is None
    assert likeness(*tables([20.0, 80.0], shared, [0, BINS - 6])) is None  # fewer bins than pairs
    assert likeness(*tables([20.0, 80.0], np.full(BINS, 5.0), [0, 0])) is None  # nothing varies


def test_a_queue_that_stands_hides_in_no_round_trip(tmp_path: Path) -> None:
    """One flow begins alone; five more begin while the queue stands, and never see it empty."""
    path = tmp_path / "standing.pcapng"
    scenario = {
        "run": {"duration": "30 s", "seed": 3, "stack": "linux"},
        "bottleneck": {"rate": "20 Mbps", "delay": "2 ms", "buffer": "100 ms"},
        "flows": [
            {"name": "first", "rtt": "60 ms", "congestion": "reno"},
            {"name": "later", "rtt": "15 ms", "count": 5, "congestion": "reno", "start": "uniform(5 s, 8 s)"},
        ],
    }
    (result,) = bufferlab.run(scenario, progress=False, pcap=path)
    seen = bufferlab.observe(path)
    assert timed(seen.long)["rtt_ms"].to_list() == pytest.approx([15.0] * 5 + [60.0], rel=0.1)
    (link,) = result.queues.filter(group="all").to_dicts()
    waits = seen.waits or {}
    assert waits["p95_ns"] / 1e6 == pytest.approx(link["wait_p95_ms"], rel=0.1)
    assert waits["depth_ns"] / 1e6 == pytest.approx(100.0, rel=0.1)


def test_no_round_trip_is_shorter_than_its_path(tmp_path: Path) -> None:
    """One of 40 ms was 4: it began before the queue filled, and lost what others waited while it lasted."""
    path = tmp_path / "senders.pcapng"
    link = {
        "run": {"duration": "20 s", "warmup": "0 s", "seed": 3, "stack": "linux"},
        "bottleneck": {"rate": "20 Mbps", "delay": "2 ms", "buffer": "600 packets"},
        "flows": [
            {
                "count": 4,
                "rtt": "40 ms",
                "congestion": "cubic-linux(hystart)",
                "window": "100 KB",
                "start": "uniform(0 s, 2 s)",
            }
        ],
    }
    bufferlab.run(link, progress=False, pcap=path)
    assert timed(bufferlab.observe(path).long)["rtt_ms"].to_list() == pytest.approx([40] * 4, rel=0.02)


def test_flows_with_few_samples_are_compared_in_wider_bins(tmp_path: Path) -> None:
    """In a capture of 10 s round trips of 15 and 50 ms were 83 to 158, and the median wait half as long."""
    path = tmp_path / "senders.pcapng"
    common = {"stack": "linux", "duration": "10 s", "warmup": "0 s", "seed": 148}
    link = {
        "run": common,
        "bottleneck": {"rate": "20 Mbps", "delay": "2 ms", "buffer": "5 bdp"},
        "flows": [
            {
                "count": 3,
                "rtt": "15 ms",
                "congestion": "reno",
                "window": "200 KB",
                "start": "uniform(0 s, 2 s)",
            },
            {
                "count": 3,
                "rtt": "50 ms",
                "congestion": "cubic-linux(hystart)",
                "start": "uniform(0 s, 8 s)",
            },
        ],
    }
    (result,) = bufferlab.run(link, progress=False, pcap=path)
    seen = bufferlab.observe(path)
    (queue,) = result.queues.filter(pl.col("group") == "all").to_dicts()
    assert seen.waits is not None
    assert seen.waits["median_ns"] / 1e6 == pytest.approx(queue["wait_p50_ms"], rel=0.1)
    assert float(timed(seen.long)["rtt_ms"][-1]) < 60


@pytest.mark.parametrize("place", ["senders", "receivers"])
def test_nothing_hides_where_flows_that_pause_meet_an_empty_queue_again_and_again(
    place: str, tmp_path: Path
) -> None:
    """8.7 ms were taken off 40 ms, and half of the packets were said to wait 17.8 ms where it was 3.2 ms."""
    path = tmp_path / "link.pcapng"
    video = {"kind": "on-off", "size": "1 MB", "off": "3 s"}
    flows = [
        {"name": "video", "count": 4, "rtt": "40 ms", "application": video, "start": "uniform(0 s, 3 s)"}
    ]
    bottleneck = {"rate": "40 Mbps", "delay": "2 ms", "buffer": "150 packets"}
    link = {
        "run": {"duration": "40 s", "seed": 3, "stack": "linux"},
        "bottleneck": bottleneck,
        "flows": flows,
    }
    bufferlab.run(link, progress=False, pcap=path, pcap_at=[place])
    found = bufferlab.observe(path)
    assert len(found.pausing) == 4
    assert found.long["rtt_ms"].to_list() == pytest.approx([40.0] * 4, abs=1.0)
    assert "by packets: moments without any do not count" in " ".join(str(found).split())
