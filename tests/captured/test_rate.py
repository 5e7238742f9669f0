"""The rate of a captured link: how certain it is, and why it is not known."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import bufferlab
from bufferlab.captured.rate import always_full, rate_of
from bufferlab.captured.scenario import NOTHING, packets_of

from .both_ways import BLOCK_PACKET, blocks

FLOWS = pl.DataFrame({"vantage": [1], "packets": [1000], "has_sack": [0]})
LINK: dict[str, Any] = {
    "rate_bps": 10e6,
    "rate_error_bps": 0.0,
    "rate_by": 2,
    "is_queue_ahead": 1,
    "plateau_1s_bps": 10e6,
    "plateau_1s_share": 0.0,
    "queued_1s_windows": 0,
    "plateau_100ms_bps": 10e6,
    "plateau_100ms_share": 0.6,
    "second_1s_bps": float("nan"),
    "second_1s_share": float("nan"),
    "second_100ms_bps": 9.3e6,
    "second_100ms_share": 0.3,
    "queued_100ms_windows": 20,
    "idle_100ms_windows": 0,
}
IDLE_SECONDS: dict[str, Any] = {"second_1s_bps": 5e6, "second_1s_share": 0.4, "queued_1s_windows": 28}


@pytest.mark.parametrize(("by", "least_bps", "windows"), [(1, 12e3, 9), (2, 120e3, 12), (3, 8e3, None)])
def test_windows_that_are_all_alike_are_no_more_certain_than_a_packet(
    by: int, least_bps: float, windows: int | None
) -> None:
    """They were "± 0"."""
    link = {**LINK, "rate_by": by, "plateau_1s_share": 0.9, "queued_1s_windows": 10}
    flows = FLOWS.with_columns(vantage=pl.lit(2))
    rate = rate_of(link, flows, arrived_bps=9e6, has_waits=True)
    assert (rate.bps, rate.windows, rate.why_none) == (10e6, windows, None)
    assert rate.error_bps == pytest.approx(least_bps, rel=0.05)
    scattered = rate_of({**link, "rate_error_bps": 3e5}, flows, arrived_bps=9e6, has_waits=True)
    assert scattered.error_bps == 3e5


@pytest.mark.parametrize(
    ("link", "other"),
    [
        ({}, (None, 0.0)),  # packets that cross windows' edges
        ({"second_100ms_bps": 4e6}, (4e6, 0.3)),
        ({"second_100ms_bps": 4e6, "second_100ms_share": 0.1}, (None, 0.0)),
        # a rate by distances, and windows that carry what flows with a pace and bursts send
        ({"rate_by": 3, "second_100ms_bps": 7.5e6, "plateau_100ms_bps": 7.9e6}, (None, 0.0)),
        ({"second_100ms_bps": 4e6, "queued_100ms_windows": 9}, (None, 0.0)),
        # of windows of 1 s that are idle for a part, as flows pause, and of those of a link that varies
        (IDLE_SECONDS, (None, 0.0)),
        ({**IDLE_SECONDS, "plateau_100ms_share": 0.4}, (5e6, 0.4)),
    ],
)
def test_many_windows_with_another_rate_are_of_a_link_that_varies(
    link: dict[str, Any], other: tuple[float | None, float]
) -> None:
    flows = FLOWS.with_columns(vantage=pl.lit(2))
    rate = rate_of({**LINK, **link}, flows, arrived_bps=7e6, has_waits=True)
    assert (rate.other_bps, rate.other_share) == other


def test_a_link_may_have_the_lower_of_two_rates_more_often() -> None:
    """It was not known, as more arrives in the mean."""
    link = {**LINK, "rate_bps": 6e6, "plateau_100ms_bps": 6e6, "second_100ms_bps": 15e6}
    rate = rate_of(link, FLOWS, arrived_bps=8e6, has_waits=True)
    assert (rate.bps, rate.other_bps) == (6e6, 15e6)


@pytest.mark.parametrize("place", ["senders", "receivers"])
def test_a_link_that_varies_is_said_to(place: str, tmp_path: Path) -> None:
    """It was 29.95 Mbps ± 77 kbps, of which 75.6 % was used though packets always waited, and 290 packets."""
    path = tmp_path / "link.pcapng"
    link = {
        "run": {"duration": "30 s", "warmup": "5 s", "seed": 1, "stack": "linux"},
        "bottleneck": {
            "rate": "steps(30 Mbps for 3 s, 12 Mbps for 2 s)",
            "delay": "1 ms",
            "buffer": "120 packets",
        },
        "flows": [
            {
                "count": 5,
                "rtt": "uniform(20 ms, 60 ms)",
                "congestion": "cubic-linux",
                "start": "uniform(0 s, 2 s)",
            }
        ],
    }
    bufferlab.run(link, progress=False, pcap=path, pcap_at=[place])
    found = bufferlab.observe(path)
    assert found.rate_bps == pytest.approx(30e6, rel=0.02)
    assert found.other_rate_bps == pytest.approx(12e6, rel=0.05)
    assert found.other_rate_share == pytest.approx(0.4, abs=0.05)
    assert any("the rate varies: in" in each for each in found.doubts)
    text = " ".join(str(found).split())
    assert "but 12" in text
    assert text.partition(" long flows")[0].endswith(("Mbps", "before drops"))  # not how much of it is used
    assert found.waits is not None and found.waits["is_filled"]
    packets = int(packets_of(found, NOTHING, found.waits["depth_ns"]).split()[0])
    assert packets == pytest.approx(120, rel=0.1)
    assert found.to_dict()["other_rate_bps"] == found.other_rate_bps


@pytest.mark.parametrize("place", ["senders", "receivers"])
@pytest.mark.parametrize("seed", [211, 101])
def test_a_link_with_videos_does_not_vary(seed: int, place: str, tmp_path: Path) -> None:
    """It was 16.3 Mbps before the queue, and 19.9 in a third of the windows: in others videos pause."""
    path = tmp_path / "link.pcapng"
    video = {"kind": "video", "ladder": ["1 Mbps", "2 Mbps"], "buffer": "12 s"}
    flow = {"count": 6, "rtt": "30 ms", "congestion": "cubic-linux(hystart)", "application": video}
    link = {
        "run": {"duration": "60 s", "warmup": "5 s", "seed": seed, "stack": "linux"},
        "bottleneck": {"rate": "20 Mbps", "delay": "3 ms", "buffer": "40 ms"},
        "flows": [{**flow, "start": "uniform(0 s, 8 s)"}],
    }
    bufferlab.run(link, progress=False, pcap=path, pcap_at=[place])
    found = bufferlab.observe(path)
    assert found.rate_bps == pytest.approx(20e6, rel=0.02)
    assert found.other_rate_bps is None


@pytest.mark.parametrize(
    ("link", "asked", "said"),
    [
        ({"rate_bps": None}, {"has_waits": False}, "no round trip shows when packets wait"),
        (
            {"rate_bps": None, "queued_100ms_windows": 0},
            {},
            "packets waited long enough to tell in no window",
        ),
        (
            {"rate_bps": None, "queued_100ms_windows": 19, "plateau_100ms_share": 0.2},
            {"duration_s": 30.0},
            "packets waited in 19 of 300 windows of 100 ms, and these have no one rate",
        ),
        (
            {"rate_bps": None, "queued_100ms_windows": 244, "plateau_100ms_share": 0.43},
            {"duration_s": 30.0},
            "packets waited in 244 windows of 100 ms, but fewer than 50 % of these",
        ),
        # it was "fewer than 50 % have one rate (100 % at most)"
        (
            {"rate_bps": None, "rate_by": 0, "queued_100ms_windows": 90, "plateau_100ms_share": 1.0},
            {"duration_s": 30.0},
            "windows of 100 ms carry 10 Mbps alike, but many of 100 ms carry more: packets come in bursts "
            "or at their senders' pace, and the link is faster",
        ),
        (
            {
                "rate_bps": None,
                "queued_100ms_windows": 90,
                "plateau_100ms_share": 0.43,
                "queued_1s_windows": 2,
                "plateau_1s_share": 1.0,
            },
            {},
            "packets waited in 90 windows of 100 ms, but fewer than 50 % of these, or of those of 1 s, have "
            "one rate (43 % at most): it varies, senders have a pace of their own, or",
        ),
        (
            {"rate_bps": None, "queued_100ms_windows": 1},
            {},
            "packets waited long enough to tell in 1 window of 100 ms, and",
        ),
        (
            {"rate_bps": None, "queued_100ms_windows": 244, "plateau_100ms_share": 0.43},
            {},
            "packets waited in 244 windows of 100 ms, but fewer than 50 % of these, or of those of 1 s, have "
            "one rate (43 % at most)",
        ),
        (
            {"rate_bps": None, "queued_100ms_windows": 367, "plateau_100ms_share": 0.34},
            {"losses": 0.08},
            "packets waited in 367 windows of 100 ms, but fewer than 50 % of these, or of those of 1 s, have "
            "one rate (34 % at most): 8.0 % is lost, and repairs acknowledge much at once",
        ),
        ({}, {"arrived_bps": 20e6}, "more arrived in the mean than what its windows show"),
        (
            {"rate_by": 3, "queued_100ms_windows": 4},
            {},
            "packets waited long enough to tell in 4 windows of 100 ms, and 10 are needed, and distances "
            "between packets are those of their senders here",
        ),
    ],
)
def test_why_a_rate_is_not_known_agrees_with_what_waits(
    link: dict[str, Any], asked: dict[str, Any], said: str
) -> None:
    """It was "nothing waited long enough" beside waits of 47 ms."""
    known = {"arrived_bps": 9e6, "has_waits": True, **asked}
    rate = rate_of({**LINK, **link}, FLOWS, **known)
    assert rate.bps is None and rate.error_bps is None and rate.windows is None
    assert rate.why_none is not None and rate.why_none.startswith(said)


@pytest.mark.parametrize(("place", "from_s"), [("receivers", 45), ("senders", 24)])
def test_a_link_that_is_always_full_has_the_rate_that_it_carries(
    place: str, from_s: int, tmp_path: Path
) -> None:
    """It was three times as much, by distances, and 33 % of it used; at the senders it was not known."""
    path = tmp_path / "link.pcapng"
    flows = [("cub", "cubic-linux", 7, "36 ms", 0.3), ("bb", "bbr", 5, "50 ms", 0.2)]
    link: dict[str, Any] = {
        "run": {"duration": "60 s", "seed": 77, "stack": "linux"},
        "bottleneck": {"rate": "40 Mbps", "delay": "4 ms", "buffer": "150 packets"},
        "flows": [
            {
                "name": name,
                "congestion": control,
                "count": count,
                "rtt": rtt,
                "rtt_spread": spread,
                "start": "uniform(0 s, 3 s)",
            }
            for name, control, count, rtt, spread in flows
        ],
    }
    call = {"kind": "udp", "packet": "200 B", "interval": "20 ms"}
    link["flows"] += [{"name": "call", "rtt": "40 ms", "application": call}]
    bufferlab.run(link, progress=False, pcap=path, pcap_at=[place])
    path.write_bytes(b"".join(_ten_seconds(path.read_bytes(), from_s)))
    found = bufferlab.observe(path)
    assert found.rate_bps == pytest.approx(40e6, rel=0.01)
    assert found.rate_by.startswith("throughput")


def test_a_link_that_was_full_for_a_few_seconds_has_the_rate_that_all_of_them_carry() -> None:
    """Before the queue it was not known, and "it varies", though three seconds carried 19.98 of 20 Mbps."""
    brief = {
        "rate_by": 0,
        "rate_bps": math.nan,
        "queued_100ms_windows": 46,
        "steady_1s_windows": 3,
        "steady_1s_share": 1.0,
        "steady_1s_bps": 19.98e6,
        "steady_1s_error_bps": 88e3,
    }
    assert always_full(brief)["rate_bps"] == 19.98e6
    for changed in ({"steady_1s_share": 0.6}, {"steady_1s_windows": 2}, {"rate_by": 2}):
        assert always_full({**brief, **changed}) == {**brief, **changed}


def _ten_seconds(content: bytes, from_s: int) -> Iterator[bytes]:
    """What a capture has from a time on."""
    for kind, block in blocks(content):
        high, low = struct.unpack_from("<II", block, 12) if kind == BLOCK_PACKET else (0, 0)
        if kind != BLOCK_PACKET or 0 <= (high << 32 | low) / 1e9 - from_s < 10:
            yield bytes(block)


def test_windows_that_could_not_tell_are_not_called_idle() -> None:
    """It was "the buffer holds very few" above "it is full then"."""
    link = {**LINK, "rate_bps": None, "queued_100ms_windows": 0}
    rate = rate_of(link, FLOWS, arrived_bps=9e6, has_waits=True, losses=0.09, is_standing=True)
    assert (rate.why_none or "").startswith("flows met an empty queue too late to tell")
    assert "very few" not in (rate.why_none or "")
