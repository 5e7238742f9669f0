"""What captures of our own runs tell, against what the simulator counted."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import bufferlab
from bufferlab import Result
from bufferlab._core import Control, observe

MBPS, MS = 1e6, 1e6


def scenario(**more: Any) -> dict[str, Any]:
    """A buffer of 60 packets, 36 ms, that three flows fill."""
    flow = {"rtt": "40 ms", "handshake": True, "timestamps": True}
    return {
        "run": {"duration": "20 s", "warmup": "1 s", "seed": 3},
        "bottleneck": {"rate": "20 Mbps", "delay": "3 ms", "buffer": "60 packets"},
        "flows": [
            {"name": "long", "count": 3, **flow},
            {"name": "ping", "rtt": "40 ms", "application": {"kind": "ping", "interval": "100 ms"}},
        ],
        **more,
    }


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    path = tmp_path_factory.mktemp("observing") / "all.pcapng"
    places = ["senders", "receivers"]
    return bufferlab.run(scenario(), progress=False, pcap=path, pcap_at=places)[0], path


def test_connections_are_the_runs_flows(recorded: tuple[Result, Path]) -> None:
    result, path = recorded
    seen = observe(path)
    connections = pl.DataFrame(seen.connections())
    assert [name for name, *_ in seen.interfaces] == ["senders", "receivers"]
    assert seen.warnings == [] and not seen.canceled and seen.format == "pcapng"
    assert connections.height == 2 * result.flows.height == seen.totals["connections"]

    sent = connections.join(pl.DataFrame(seen.directions()).filter(sender=0), on="connection")
    at_senders = sent.filter(interface=0).sort("initiator")
    flows = result.flows
    assert at_senders["packets"].sum() == flows["whole_sent_packets"].sum() + 3  # the SYNs
    of_tcp = at_senders.filter(protocol=6)
    long = flows.filter(group="long")
    assert of_tcp["retransmitted_segments"].to_list() == long["whole_retransmissions"].to_list()
    assert (of_tcp["retransmitted_segments"] > 0).all()
    assert of_tcp["lost_before_segments"].sum() == 0
    assert connections["has_sack"].to_list() == [int(protocol == 6) for protocol in connections["protocol"]]
    # beyond the link, what it dropped is missing, and what comes again fills a hole
    of_receivers = sent.filter(interface=1, protocol=6)
    assert of_receivers["lost_before_segments"].to_list() == of_receivers["retransmitted_segments"].to_list()
    assert sent["reordered_segments"].sum() == sent["missed_bytes"].sum() == 0


def test_round_trips_are_those_of_the_path(recorded: tuple[Result, Path]) -> None:
    connections = pl.DataFrame(observe(recorded[1]).connections()).filter(protocol=6)
    # 40 ms and the transmission of a packet at least; nothing is smaller
    assert all(40 * MS <= rtt < 41 * MS for rtt in connections["path_rtt_ns"])
    assert (connections["path_rtt_low_ns"] <= connections["path_rtt_ns"]).all()
    near = {0: 1, 1: 2}
    assert connections["vantage"].to_list() == [near[place] for place in connections["interface"]]


def test_the_link_is_known_from_both_of_its_sides(recorded: tuple[Result, Path]) -> None:
    seen = observe(recorded[1])
    at_each = pl.col("direction") == pl.col("interface")  # data goes out of its senders, and in at receivers
    links = pl.DataFrame(seen.links()).filter(at_each).sort("interface")
    assert links["is_queue_ahead"].to_list() == [1, 0]
    assert links["rate_by"].to_list() == [1, 1]
    for rate, error in links.select("rate_bps", "rate_error_bps").rows():
        assert rate == pytest.approx(20 * MBPS, rel=0.01)
        assert error < 0.05 * rate
    waiting = pl.DataFrame(seen.queueing()).filter(at_each, is_filled=1).sort("interface")
    assert waiting["is_ahead"].to_list() == [1, 0]
    # losses are seen within a round trip of the full buffer, when the queue may have shrunk a little
    for depth in waiting["depth_ns"]:
        assert depth == pytest.approx(36 * MS, rel=0.15)
    seconds = pl.DataFrame(seen.seconds()).filter(direction=0, interface=0).sort("start_ns")
    assert set(seconds["long_flows"][2:]) == {3}
    assert seconds["wire_bytes"].sum() == links["wire_bytes"][0]


def test_echoes_are_the_runs_exchanges(recorded: tuple[Result, Path]) -> None:
    result, path = recorded
    seen = observe(path)
    ping = pl.DataFrame(seen.connections()).filter(protocol=1, interface=0)["connection"].item()
    (row,) = pl.DataFrame(seen.directions()).filter(connection=ping, sender=0).to_dicts()
    times = result.exchanges["duration_s"].drop_nulls().to_list()
    assert row["rtt_samples"] == len(times) > 100
    assert (row["rtt_min_ns"], row["rtt_max_ns"]) == pytest.approx((min(times) * 1e9, max(times) * 1e9))


def test_content_and_compressed_files_are_the_same_capture(
    recorded: tuple[Result, Path], tmp_path: Path
) -> None:
    content = recorded[1].read_bytes()
    (tmp_path / "a.pcapng.gz").write_bytes(gzip.compress(content, 1))
    whole = observe(recorded[1])
    for other in (observe(content), observe(str(tmp_path / "a.pcapng.gz"))):
        assert other.totals == whole.totals
        assert pl.DataFrame(other.directions()).equals(pl.DataFrame(whole.directions()), null_equal=True)


def test_a_canceled_one_gives_what_was_read(recorded: tuple[Result, Path]) -> None:
    control = Control()
    control.cancel()
    seen = observe(recorded[1], control)
    assert seen.canceled
    assert seen.totals["packets"] == 65_536


def test_limits_and_networks_are_taken(recorded: tuple[Result, Path]) -> None:
    seen = observe(recorded[1], inside=["10.128.0.0/9"], flows=2)
    assert set(pl.DataFrame(seen.connections())["direction"]) == {1}
    assert seen.totals["evicted_connections"] > 0
    joined = observe(recorded[1], joined=True)
    assert joined.totals["connections"] == 4


def test_what_is_no_capture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        observe(tmp_path / "nowhere.pcap")
    for content in (b"", b"no capture at all", b"\x00" * 100):
        with pytest.raises(ValueError, match="capture"):
            observe(content)
    with pytest.raises(ValueError, match="'192/33' is not a network"):
        observe(b"", inside=["192/33"])
