"""What is concluded from captures of a link whose truth is known."""

from __future__ import annotations

import dataclasses
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import bufferlab
from bufferlab import Findings, InputError
from bufferlab.captured.flows import timed, waits_over_time
from bufferlab.captured.scenario import NOTHING, packets_of
from bufferlab.captured.waits import with_depth

from .conftest import Captured, link_of


@pytest.fixture(scope="module")
def at_senders(captured: Captured) -> Findings:
    return bufferlab.observe(captured.at_senders)


@pytest.fixture(scope="module")
def at_receivers(captured: Captured) -> Findings:
    return bufferlab.observe(captured.at_receivers)


@pytest.mark.parametrize("place", ["at_senders", "at_receivers"])
def test_the_link_and_its_traffic(place: str, request: pytest.FixtureRequest) -> None:
    found: Findings = request.getfixturevalue(place)
    assert found.rate_bps == pytest.approx(20e6, rel=0.01)
    assert (found.rate_error_bps or 0.0) < 0.02 * 20e6
    assert found.long_flows == pytest.approx(5.0, abs=0.01)
    assert len(found.short) == 107  # as the run counts transfers of all of its time
    assert found.short["new_bytes"].median() == 20_000
    assert 0.97e6 < float(found.datagrams["ip_bytes"].sum()) * 8 / 30 < 1.01e6


def test_more_is_offered_before_the_queue_than_carried_behind_it(
    at_senders: Findings, at_receivers: Findings
) -> None:
    assert at_senders.is_offered and not at_receivers.is_offered
    offered, carried = at_senders.utilization(), at_receivers.utilization()
    assert offered is not None and carried is not None
    assert offered > 1.005 and 0.99 < carried < 1.002


def test_round_trips_of_long_flows_are_those_of_the_path(at_senders: Findings) -> None:
    """20 and 80 ms with up to 0.1 ms of noise in the hosts."""
    assert timed(at_senders.long)["rtt_ms"].to_list() == pytest.approx([20, 20, 20, 80, 80], abs=0.2)


def test_short_flows_that_never_meet_an_empty_queue(at_senders: Findings) -> None:
    """40 ms. Their smallest round trips are half as long again, as the queue never empties."""
    short = timed(at_senders.short)
    assert float((short["path_rtt_ns"] / 1e6).median()) > 58  # type: ignore[arg-type]
    assert float(short["rtt_ms"].median()) == pytest.approx(40.5, abs=2)  # type: ignore[arg-type]


def test_short_flows_and_a_call_behind_a_bloated_uplink(tmp_path: Path) -> None:
    """Long flows that begin in a full queue exceed their own smallest round trip by little."""
    path = tmp_path / "uplink.pcapng"
    long = {"congestion": "cubic-linux(hystart)", "rtt": "50 ms"}
    uplink: dict[str, Any] = {
        "run": {"duration": "60 s", "warmup": "0 s", "seed": 6, "stack": "linux"},
        "bottleneck": {"rate": "10 Mbps", "delay": "5 ms", "buffer": "400 packets"},
        "flows": [
            {"name": "first", **long, "start": "4 s"},
            {"name": "later", **long, "count": 2, "start": "uniform(5 s, 40 s)"},
            {
                "name": "mails",
                "rtt": "80 ms",
                "application": {"kind": "short-flows", "size": "60 kB", "interval": "2 s"},
            },
            {
                "name": "call",
                "rtt": "50 ms",
                "application": {"kind": "udp", "packet": "200 B", "interval": "20 ms"},
            },
        ],
    }
    bufferlab.run(uplink, progress=False, pcap=path)
    found = bufferlab.observe(path)
    short = timed(found.short)
    assert float((short["path_rtt_ns"] / 1e6).median()) > 400  # type: ignore[arg-type]
    assert 70 < float(short["rtt_ms"].median()) < 110  # type: ignore[arg-type]
    # the first flow is over before a long one waits
    assert float(short.sort("first_ns")["rtt_ms"][0]) == pytest.approx(80, abs=2)
    flows: Any = found.scenario(mix=[("reno", 1.0)]).to_dict()["flows"]
    (call,) = (each for each in flows if each["name"] == "call")
    assert 45 < float(call["rtt"].removesuffix(" ms")) < 60
    # once it is full, the queue is never near empty, whoever has samples
    waits = waits_over_time(found.observation, 0, 0, is_ahead=True, long=found.long)
    stands = waits.filter(pl.col("start_ns") > 10e9)["wait_ms"]
    assert len(stands) > 100 and float(stands.min()) > 150 and float(stands.max()) < 550  # type: ignore[arg-type]
    # beside the load, the picture has the long TCP flows, without the call
    beside = found.figure().axes[-1]
    assert beside.get_ylabel() == "long flows"
    assert float(np.max(np.asarray(beside.lines[0].get_ydata()))) == pytest.approx(3.0)


def test_waits_are_those_of_the_queue(at_senders: Findings, captured: Captured) -> None:
    waits = at_senders.waits
    assert waits is not None and waits["is_filled"]
    queue = captured.link
    assert waits["median_ns"] / 1e6 == pytest.approx(queue["wait_p50_ms"], rel=0.05)
    assert waits["p95_ns"] / 1e6 == pytest.approx(queue["wait_p95_ms"], rel=0.05)
    # 67 packets; they are 1248 bytes on average
    assert waits["depth_low_ns"] / 1e6 < 33.4 < waits["depth_high_ns"] / 1e6


def test_segments_sent_again_are_the_runs(at_senders: Findings, captured: Captured) -> None:
    again = int(at_senders.flows.filter(pl.col("protocol") == 6)["retransmitted_segments"].sum())
    assert again == int(captured.result.flows["whole_retransmissions"].sum())


def test_a_text_a_document_and_tables(at_senders: Findings, tmp_path: Path) -> None:
    text = " ".join(str(at_senders).split())
    assert "19.99 Mbps ± " in text and "near the sender (5 of 5 long flows)" in text
    saved = {path.name for path in at_senders.save(tmp_path / "all")}
    assert {"observe.json", "observe.txt", "observe.png", "observe.svg", "connections.parquet"} <= saved
    document = json.loads((tmp_path / "all" / "observe.json").read_text())
    assert document["rate_bps"] == at_senders.rate_bps and document["rtt_ms"]["p50"] == pytest.approx(
        20, abs=0.2
    )
    assert document["seen_from"] == {"near the sender": 5} and document["datagram_flows"] == 1
    assert document["datagrams_bps"] == pytest.approx(1e6, rel=0.02)
    assert document["short_flow_bytes"] == pytest.approx(20_000, rel=0.05)
    assert document["buffer_low_ms"] <= document["buffer_ms"] <= document["buffer_high_ms"]
    assert document["ecn_packets"] == {"ect0": 0, "ect1": 0, "ce": 0} and document["loss_episodes"] > 0
    read = pl.read_parquet(tmp_path / "all" / "connections.parquet")
    assert read.equals(at_senders.observation.connections)


def test_the_other_direction_has_acknowledgments_only(captured: Captured) -> None:
    found = bufferlab.observe(captured.at_senders, direction="in")
    assert found.direction == "in" and found.long.is_empty()
    assert "none: no flow has more than 100 kB" in str(found)


def test_a_capture_that_was_cut_gives_what_is_there(captured: Captured, tmp_path: Path) -> None:
    whole = captured.at_senders.read_bytes()
    cut = tmp_path / "cut.pcapng.gz"
    cut.write_bytes(gzip.compress(whole[: len(whole) // 3]))
    found = bufferlab.observe(cut)
    assert 5 < found.observation.duration_s < 15 and found.rate_bps == pytest.approx(20e6, rel=0.02)
    assert found.observation.warnings and "beware" in str(found)


def test_what_is_no_capture(captured: Captured, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("no capture, but long enough to be read as one\n" * 10)
    with pytest.raises(InputError, match=r"notes\.txt"):
        bufferlab.observe(other)
    with pytest.raises(InputError, match="cannot be read"):
        bufferlab.observe(tmp_path / "none.pcap")
    with pytest.raises(InputError, match=r"interface: '?7'? is not in the capture; accepted: 0"):
        bufferlab.observe(captured.at_senders, interface=7)
    with pytest.raises(InputError, match="direction: 'up' is not a direction; accepted: out or in"):
        bufferlab.observe(captured.at_senders, direction="up")
    with pytest.raises(InputError, match="network"):
        bufferlab.observe(captured.at_senders, inside=["here"])


def test_segments_that_hosts_joined_count_as_those_on_the_wire(tmp_path: Path) -> None:
    path = tmp_path / "offload.pcapng"
    link = {
        "run": {"duration": "20 s", "warmup": "0 s", "stack": "linux"},
        "bottleneck": {"rate": "10 Mbps", "delay": "1 ms", "buffer": "60 packets"},
        "flows": [{"rtt": "20 ms", "count": 2, "congestion": "reno", "offload": "auto", "jitter": "0 s"}],
    }
    bufferlab.run(link, progress=False, pcap=path)
    found = bufferlab.observe(path)
    assert int(found.flows["large_packets"].sum()) > 1000
    assert found.rate_bps == pytest.approx(10e6, rel=0.005)
    assert found.waits is not None and found.waits["is_filled"]
    packets, depth_s = packets_of(found, NOTHING, found.waits["depth_ns"]), found.waits["depth_ns"] / 1e9
    assert int(packets.split()[0]) == pytest.approx(depth_s * 10e6 / 8 / 1500, rel=0.05)


def test_the_screen_begins_with_what_waiting_does(captured: Captured, at_senders: Findings) -> None:
    text = " ".join(str(at_senders).split())
    assert (
        "in short half of the packets wait 27.9 ms or more, one in twenty 3" in text
        and "where a round trip takes" in text
    )
    assert "interface 0 (senders): 19.99 Mbps" in text
    other = " ".join(str(bufferlab.observe(captured.at_senders, direction="in")).split())
    assert "in short the capture does not show its rate, so no buffer follows from it alone" in other
    assert "other way out: " in other and "% of this interface's bytes, 100 % of its payload, 5 long" in other
    assert "(--direction out)" in other
    assert "own transmission" not in text
    few = dataclasses.replace(at_senders, waits={**(at_senders.waits or {}), "samples": 800})
    text = " ".join(str(few).split())
    assert "in short in the 800 round trips that were measured, half of the packets wait 2" in text
    fewer = dataclasses.replace(at_senders, waits={**(at_senders.waits or {}), "samples": 184})
    text = " ".join(str(fewer).split())
    assert "in short 184 round trips could be measured of " in text
    assert "too few to say what half of these wait; a round trip takes" in text
    text = " ".join(str(at_senders).split())
    waits = {**(at_senders.waits or {}), "median_ns": 2e6}
    brief = " ".join(str(dataclasses.replace(at_senders, waits=waits)).split())
    # a packet of mean size takes some 0.6 ms at 20 Mbps
    assert "us of it is a packet's own transmission" in brief
    waits = {**(at_senders.waits or {}), "median_ns": 200e6}
    bloated = " ".join(str(dataclasses.replace(at_senders, waits=waits, doubts=("well",))).split())
    assert "bufferbloat: half of the packets wait 200 ms or more, so a round trip of" in bloated
    assert "times as long; the buffer holds" in bloated and "; but see 'beware' accuracy" in bloated
    never = " ".join(str(dataclasses.replace(at_senders, is_never_empty=True)).split())
    assert "; the buffer holds at least " in never and "accuracy" not in never
    unread = {**(at_senders.waits or {}), "is_filled": 0}
    assert "accuracy" not in str(dataclasses.replace(at_senders, waits=unread))


def test_each_flow_waits_longer_before_its_losses_by_what_hides_in_its_own_round_trips(
    at_senders: Findings,
) -> None:
    """One began in an empty queue, the other in one of 50 ms; some losses follow a moment without samples."""
    ways = {"sender": 0, "is_ahead": 1, "at_ns": 0, "episodes": 2, "least_ns": 30_000_000}
    trips = [100_000_000] * 6 + [101_000_000] * 3 + [60_000_000] + [50_000_000] * 9 + [51_000_000]
    flows = [0] * 10 + [1] * 10
    losses = pl.DataFrame({"connection": flows, "trip_ns": trips}).with_columns(
        pl.lit(value).alias(name) for name, value in ways.items()
    )
    seen = dataclasses.replace(at_senders.observation, losses=losses)
    hides = pl.DataFrame({"connection": [0, 1], "sender": [0, 0], "hidden_ms": [0.0, 50.0]})
    row = {"is_ahead": 1, "p95_ns": 69e6, "p99_ns": 71e6}
    found = with_depth(row, seen, hides)
    assert found["is_filled"] and found["at_loss_samples"] == 40
    assert [found[f"depth{part}_ns"] / 1e6 for part in ("_low", "", "_high")] == [70.0, 70.0, 71.0]
    wider = with_depth({**row, "packet_ns": 1.2e6}, seen, hides)
    assert [wider[f"depth{part}_ns"] / 1e6 for part in ("_low", "", "_high")] == [68.8, 70.0, 72.2]
    # never less than what one in twenty waits
    assert with_depth({**row, "p95_ns": 73e6}, seen, hides)["depth_ns"] == 73e6
    # without what hides, half of the losses come at 20 ms
    apart = with_depth(row, seen, hides.with_columns(hidden_ms=0.0))
    assert not apart["is_filled"] and apart["at_loss_low_ns"] == 20e6
    # a band of some 15 % is a buffer, though a few packets wait longer, but not if many do
    late = {**row, "p99_ns": 150e6}
    assert with_depth(late, seen, hides)["is_filled"]
    assert not with_depth({**late, "p95_ns": 100e6}, seen, hides)["is_filled"]
    assert not with_depth(late, seen, hides.with_columns(hidden_ms=0.0))["is_filled"]
    few = with_depth(row, dataclasses.replace(seen, losses=losses.head(1)), hides)
    assert not few["is_filled"] and few["at_loss_samples"] == 2
    waits = {**(at_senders.waits or {}), **apart}
    text = " ".join(str(dataclasses.replace(at_senders, waits=waits)).split())
    assert "losses come at no one depth (20 ms to 71 ms for eight of ten, where one in a hundred" in text
    assert "or what was waited before them could not be read well enough" in text
    text = " ".join(str(dataclasses.replace(at_senders, waits={**waits, **few})).split())
    assert "what was waited before is known of 2 of them, and 3 are needed" in text


@pytest.mark.parametrize("place", ["senders", "receivers"])
def test_a_full_buffer_is_known_though_most_flows_began_in_its_queue(place: str, tmp_path: Path) -> None:
    """Acknowledgments are sampled more often while little waits, and most flows never saw an empty queue."""
    path = tmp_path / "link.pcapng"
    long = {"count": 2, "rtt": "40 ms", "start": "uniform(0 s, 2 s)"}
    link = {
        "run": {"duration": "20 s", "warmup": "0 s", "seed": 1, "stack": "linux"},
        "bottleneck": {"rate": "10 Mbps", "delay": "1 ms", "buffer": "60 packets"},
        "flows": [
            {"name": "a", "congestion": "bbr", **long},
            {"name": "b", "congestion": "cubic-linux(hystart)", **long},
        ],
    }
    (result,) = bufferlab.run(link, progress=False, pcap=path, pcap_at=[place])
    found, truth = bufferlab.observe(path), link_of(result)
    assert found.waits is not None and found.waits["is_filled"]
    assert found.waits["median_ns"] / 1e6 == pytest.approx(truth["wait_p50_ms"], rel=0.05)
    assert found.waits["depth_ns"] / 1e6 == pytest.approx(72.0, rel=0.05)
    assert found.waits["p95_ns"] <= found.waits["depth_ns"]


def test_pages_behind_a_full_queue_have_the_round_trips_of_their_path(tmp_path: Path) -> None:
    """They take seconds there, as long flows do, and never see it empty."""
    path = tmp_path / "pages.pcapng"
    pages = {"kind": "web", "size": "178 kB", "every": "4 s"}
    scenario = {
        "run": {"duration": "40 s", "warmup": "0 s", "seed": 4, "stack": "linux"},
        "bottleneck": {"rate": "10 Mbps", "delay": "2 ms", "buffer": "300 ms"},
        "flows": [
            {"count": 3, "rtt": "30 ms", "congestion": "cubic-linux", "timestamps": True},
            {"name": "pages", "rtt": "40 ms", "application": pages, "handshake": True, "timestamps": True},
        ],
    }
    bufferlab.run(scenario, progress=False, pcap=path, pcap_at=["receivers"])
    found = bufferlab.observe(path, inside=["10.0.0.0/9"])
    late = found.long.filter(pl.col("seconds") < 10)
    assert found.waits is not None and found.waits["median_ns"] > 150e6
    assert len(late) > 5 and all(rtt < 80 for rtt in late["rtt_ms"])
