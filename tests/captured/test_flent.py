"""Files of Flent as an input: runs of the simulator, written as Flent writes tests, give back their links."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

import bufferlab
from bufferlab.captured.flent import read_flent
from bufferlab.captured.scenario import Known
from bufferlab.errors import InputError
from bufferlab.render.flent import save

PINGS = {"kind": "ping", "interval": "100 ms"}


def a_test(path: Path, rate: str, buffer: str, control: str) -> Path:
    """A test of four streams, which begin after pings have seen the idle link."""
    (run,) = bufferlab.run(
        {
            "run": {"duration": "40 s", "stack": "linux"},
            "probes": {"interval": "200 ms"},
            "bottleneck": {"rate": rate, "buffer": buffer},
            "flows": [
                {"name": "up", "count": 4, "congestion": control, "rtt": "30 ms", "start": "5 s"},
                {"name": "ping", "rtt": "30 ms", "application": PINGS},
            ],
        }
    )
    save(run, path)
    return path


@pytest.mark.parametrize(
    ("rate_mbps", "packets", "control"),
    [
        (20, 100, "cubic-linux(hystart)"),
        (100, 400, "cubic-linux(hystart)"),
        (5, 40, "reno"),
        (20, 30, "reno"),
    ],
)
def test_rate_round_trip_and_buffer_of_a_fifo_are_found(
    tmp_path: Path, rate_mbps: int, packets: int, control: str
) -> None:
    file = a_test(tmp_path / "t.flent.gz", f"{rate_mbps} Mbps", f"{packets} packets", control)
    test = read_flent(file)
    assert (test.way, test.streams, test.other_streams) == ("upload", 4, 0)
    assert test.rate_bps == pytest.approx(rate_mbps * 1e6, rel=0.04)
    assert 30.0 <= test.rtt_ms <= 31.0
    # pings that find the buffer full are lost, and those that wait longest were nearly
    assert 0.9 * packets <= test.buffer_packets <= packets + 1
    assert test.waits_ms[0] <= test.waits_ms[1] <= test.waits_ms[2]


def test_its_scenario_has_the_link_the_streams_and_a_ping(tmp_path: Path) -> None:
    test = read_flent(a_test(tmp_path / "t.flent.gz", "20 Mbps", "100 packets", "reno"))
    made = test.scenario(Known(mix=[("reno", 1.0)])).resolved
    (link,) = made["links"]
    assert (
        link["rate_bps"] == pytest.approx(20e6, rel=0.04) and link["buffer"]["amount"] == test.buffer_packets
    )
    streams, ping = made["flows"]
    assert (streams["count"], ping["application"]["kind"]) == (4, "ping")
    assert test.scenario(Known(rate="50 Mbps")).resolved["links"][0]["rate_bps"] == 50_000_000


def test_a_test_both_ways_is_read_each_way(tmp_path: Path) -> None:
    """By hand: 8 s of 2 and 10 Mbit/s, pings of 20 ms and then 60."""
    file = write(
        tmp_path, {"TCP upload": [2.0] * 8, "TCP download::1": [10.0] * 8, "TCP download sum": [10.0] * 8}
    )
    test = read_flent(file)
    assert (test.way, test.streams, test.other_streams) == ("download", 1, 1)
    assert test.goodput_bps == 10e6 and test.rate_bps == pytest.approx(10e6 * 1500 / 1448)
    assert (test.rtt_ms, test.pings) == (20.0, 8) and test.waits_ms[2] == pytest.approx(40.0, rel=0.01)
    assert read_flent(file, "upload").goodput_bps == 2e6
    with pytest.raises(InputError, match="is no direction of a test"):
        read_flent(file, "sideways")


def write(folder: Path, results: dict[str, Any], **other: Any) -> Path:
    """A file of Flent's by hand."""
    series = {"Ping (ms) ICMP": [20.0, 20.0, 60.0, 60.0, 60.0, 60.0, 60.0, 60.0], **results}
    document = {
        "version": 4,
        "metadata": {"NAME": "rrul"},
        "x_values": [*range(8)],
        "results": series,
    } | other
    path = folder / "hand.flent.gz"
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    return path


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ({}, "has no TCP streams"),
        ({"TCP upload": [None] * 8}, "has no TCP streams"),
        ({"TCP upload": [1.0] * 8, "Ping (ms) ICMP": [None] * 8}, "has no pings"),
        ({"TCP upload": [1.0] + [None] * 7, "Ping (ms) ICMP": [None] + [5.0] * 7}, "no pings while"),
        ({"TCP upload": [1.0] * 7}, "is not a data file"),
        ({"TCP upload": ["fast"] * 8}, "is not a data file"),
    ],
)
def test_what_lacks_streams_or_pings_is_refused(tmp_path: Path, results: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read_flent(write(tmp_path, results))
    assert "hand.flent.gz" in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x1f\x8b",
        b"\x1f\x8b\x08\x00broken",
        b"[]",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"x_values": []}',
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not a data file"):
        read_flent(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_flent(tmp_path / "nothing")


def test_infinite_values_are_no_measurements(tmp_path: Path) -> None:
    test = read_flent(write(tmp_path, {"TCP upload": [4.0] * 7 + [math.inf]}))
    assert test.goodput_bps == 4e6 and test.pings == 7
