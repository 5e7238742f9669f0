"""Which side of the capture's place the queue is on, and when what waits there is not known."""

from __future__ import annotations

import dataclasses
import struct
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

import bufferlab
from bufferlab import Findings
from bufferlab.captured.doubts import impossible
from bufferlab.captured.waits import waits_of

from .both_ways import BLOCK_PACKET, blocks
from .conftest import Captured, link_of

_OPTIONS: Final = 28 + 20 + 20
"""Where TCP's options begin in a packet's block."""

_SACK: Final = 5
_HELD_NS: Final = 1_100_000
"""For so long Linux holds acknowledgments with SACK blocks back, with its timer's slack."""


def slow(*, timestamps: bool = True) -> dict[str, Any]:
    """A link on which BBR loses much, so that most acknowledgments have SACK blocks."""
    long = {"rtt": "30 ms", "start": "uniform(0 s, 1 s)", "timestamps": timestamps}
    return {
        "run": {"duration": "12 s", "warmup": "0 s", "seed": 3, "stack": "linux"},
        "bottleneck": {"rate": "10 Mbps", "delay": "1 ms", "buffer": "27 packets"},
        "flows": [
            {"name": "bbr", "count": 2, "congestion": "bbr", **long},
            {"name": "cubic", "count": 2, "congestion": "cubic-linux(hystart)", **long},
        ],
    }


def hold_back(content: bytes) -> bytes:
    """A capture beside the receivers whose kernels hold acknowledgments with SACK blocks back."""
    others, packets = bytearray(), []
    for kind, block in blocks(content):
        if kind != BLOCK_PACKET:
            others += block
            continue
        high, low = struct.unpack_from("<II", block, 12)
        at_ns = (high << 32) + low + (_HELD_NS if _has_sack(block) else 0)
        struct.pack_into("<II", block, 12, at_ns >> 32, at_ns & 0xFFFFFFFF)
        packets.append((at_ns, bytes(block)))
    return bytes(others) + b"".join(block for _, block in sorted(packets, key=lambda each: each[0]))


def _has_sack(block: bytearray) -> bool:
    options = 4 * (block[_OPTIONS - 8] >> 4) - 20
    place = _OPTIONS
    while place < _OPTIONS + options:
        if block[place] == _SACK:
            return True
        place += 1 if block[place] < 2 else max(block[place + 1], 2)
    return False


def test_held_back_acknowledgments_are_no_queue(tmp_path: Path) -> None:
    """There are more round trips to the receivers than from the senders, and each is a millisecond longer."""
    path = tmp_path / "receivers.pcapng"
    (result,) = bufferlab.run(slow(), progress=False, pcap=path, pcap_at="receivers")
    path.write_bytes(hold_back(path.read_bytes()))
    found, truth = bufferlab.observe(path), link_of(result)
    rows = found.observation.queueing.filter(direction=1).sort("is_ahead")
    before, beyond = rows.rows(named=True)
    assert beyond["samples"] > before["samples"] and 1.0e6 < beyond["median_ns"] < 1.2e6
    assert found.waits is not None and not found.is_offered
    assert found.waits["median_ns"] / 1e6 == pytest.approx(truth["wait_p50_ms"], rel=0.1)
    assert found.rate_bps == pytest.approx(10e6, rel=0.01)
    assert found.doubts == () and "losses come at" in str(found)


@pytest.mark.parametrize("is_cut", [True, False])
def test_without_timestamps_waits_before_the_place_are_not_known(tmp_path: Path, *, is_cut: bool) -> None:
    path = tmp_path / "receivers.pcapng"
    bufferlab.run(slow(timestamps=False), progress=False, pcap=path, pcap_at="receivers")
    found = bufferlab.observe(path)
    assert found.waits is None and not found.is_offered
    assert "what waits before this place shows in TCP's timestamps" in (found.why_no_waits or "")
    shown = " ".join(str(found).split())
    assert "waits not known: what waits before" in shown and "half of the packets wait" not in shown
    assert "no loss was seen" not in shown
    assert found.to_dict()["wait_ms"]["median"] is None
    # even a link that loses nothing may have a queue there
    (link,) = found.observation.links.filter(direction=1, interface=found.interface).to_dicts()
    lossless = found.observation.queueing.with_columns(loss_episodes=pl.lit(0, pl.UInt64))
    totals = {**found.observation.totals, "cut_options_packets": found.observation.packets * is_cut}
    seen = dataclasses.replace(found.observation, queueing=lossless, totals=totals)
    waiting = waits_of(seen, {**link, "is_queue_ahead": 1, "queued_100ms_windows": 3})
    assert waiting.row is None
    why = "the capture cut them off" if is_cut else "capture at the senders' side"
    assert why in (waiting.why_none or "")


def test_without_timestamps_acknowledgments_show_waits_at_the_senders(tmp_path: Path) -> None:
    path = tmp_path / "senders.pcapng"
    (result,) = bufferlab.run(slow(timestamps=False), progress=False, pcap=path)
    found, truth = bufferlab.observe(path), link_of(result)
    assert found.waits is not None and found.is_offered
    assert found.waits["p95_ns"] / 1e6 == pytest.approx(truth["wait_p95_ms"], rel=0.1)


def test_losses_beside_a_queue_that_never_filled_are_doubted(captured: Captured) -> None:
    found = bufferlab.observe(captured.at_receivers)
    assert list(impossible(found)) == []
    waits = {**(found.waits or {}), "loss_episodes": 0, "is_filled": 0}
    elsewhere = dataclasses.replace(found, waits=waits)
    (said,) = impossible(elsewhere)
    assert "beyond this place, and what waits is of the queue before it" in said
    assert "no loss was seen" not in str(elsewhere)
    short = dataclasses.replace(found, waits={**(found.waits or {}), "p95_ns": 1e6})
    assert any("next to nothing waits" in each for each in impossible(short))
    assert list(impossible(dataclasses.replace(short, losses=0.001))) == []
    assert list(impossible(dataclasses.replace(short, load_bps=found.load_bps / 2))) == []
    unknown: Findings = dataclasses.replace(found, waits=None)
    assert list(impossible(unknown)) == []
