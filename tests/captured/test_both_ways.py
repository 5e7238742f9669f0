"""A link that is loaded in both directions: whose waits are whose, and what goes the other way."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import bufferlab
from bufferlab import Result
from bufferlab.captured.flows import timed

from .both_ways import capture, home

MS = 1e6


@pytest.fixture(scope="module")
def at_home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    path = tmp_path_factory.mktemp("home") / "port.pcapng"
    return path, capture(home(), path, {4})


def waits_ms(result: Result, link: str, group: str) -> tuple[float, float]:
    """The run's median wait and 95th percentile of a group at a link."""
    row = result.queues.filter(link=link, group=group).row(0, named=True)
    return row["wait_p50_ms"], row["wait_p95_ms"]


def test_what_acknowledgments_wait_in_the_uplink_is_no_wait_of_downloads(
    at_home: tuple[Path, Result],
) -> None:
    """They were: 52 ms in the median where packets wait 33, and no buffer was found."""
    path, result = at_home
    found = bufferlab.observe(path)
    assert found.direction == "in" and found.waits is not None
    median, late = waits_ms(result, "down", "downloads")
    assert found.waits["median_ns"] / MS == pytest.approx(median, rel=0.2)
    assert found.waits["p95_ns"] / MS == pytest.approx(late, rel=0.05)
    assert found.waits["depth_ns"] / MS == pytest.approx(60, rel=0.05)
    (said,) = (each for each in found.doubts if "acknowledgments waited at least" in each)
    assert "the shortest is nearest to the truth, and --rtt names it" in said


def test_what_acknowledgments_wait_in_the_downlink_is_no_wait_of_a_backup(
    at_home: tuple[Path, Result],
) -> None:
    """It begins in a full downlink: 70 ms were its smallest round trip before, of 40, and waits half."""
    path, result = at_home
    found = bufferlab.observe(path, direction="out")
    assert found.waits is not None
    (rtt_ms,) = timed(found.long)["rtt_ms"]
    assert rtt_ms == pytest.approx(40.5, abs=2)
    median, late = waits_ms(result, "up", "backup")
    # of the moments at which it fills the queue, a single flow has few samples
    assert found.waits["median_ns"] / MS == pytest.approx(median, rel=0.1)
    assert found.waits["p95_ns"] / MS == pytest.approx(late, rel=0.2)


def test_what_goes_the_other_way_is_said(at_home: tuple[Path, Result]) -> None:
    found = bufferlab.observe(at_home[0])
    other, text = found.other_way, " ".join(str(found).split())
    assert other is not None and (other.direction, other.long_flows) == ("out", 1)
    links = found.observation.links
    sent = int(links.filter(direction=0)["wire_bytes"][0])
    assert (other.wire_bytes, other.share) == (sent, sent / int(links["wire_bytes"].sum()))
    assert f"other way out: {100 * other.share:.2g} % of this interface's bytes, " in text
    assert "% of its payload, 1 long flow; not in the lines above (--direction out)" in text
    assert found.to_dict()["other_way"]["packets"] == other.packets


def test_without_timestamps_waits_of_both_ways_are_doubted(tmp_path: Path) -> None:
    path = tmp_path / "port.pcapng"
    capture(home(timestamps=False), path, {4})
    found = bufferlab.observe(path)
    assert not found.long.filter(pl.col("has_timestamps") == 1).height
    (said,) = (each for each in found.doubts if "acknowledgments wait there, too" in each)
    assert said.startswith("1 long flow sends the other way") and "may be too long" in said


def test_a_rate_before_a_queue_that_drops_much(tmp_path: Path) -> None:
    """Repairs acknowledge much at once: 33 % of the windows had one rate at most, and it was not known."""
    path = tmp_path / "senders.pcapng"
    link = {
        "run": {"duration": "30 s", "warmup": "0 s", "seed": 3, "stack": "linux"},
        "bottleneck": {"rate": "20 Mbps", "delay": "5 ms", "buffer": "30 ms"},
        "flows": [{"count": 4, "rtt": "100 ms", "congestion": "bbr", "start": "uniform(0 s, 2 s)"}],
    }
    bufferlab.run(link, progress=False, pcap=path)
    found = bufferlab.observe(path)
    assert found.losses is not None and found.losses > 0.05
    assert found.rate_bps == pytest.approx(20e6, rel=0.02)
