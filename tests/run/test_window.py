"""Windows that receivers tune, in runs."""

from __future__ import annotations

from typing import Any

import pytest

import bufferlab


def goodput_mbps(**flow: Any) -> float:
    """One flow over 400 Mbps and 100 ms with a buffer that nothing fills."""
    content = {
        "run": {"duration": "6 s", "warmup": "4 s"},
        "bottleneck": {"rate": "400 Mbps", "delay": "10 ms", "buffer": "1 bdp"},
        "flows": [{"name": "one", "rtt": "100 ms", "stack": "linux", "congestion": "reno", **flow}],
    }
    return float(bufferlab.run(content, progress=False).flows["goodput_bps"].item()) / 1e6


def test_a_buffer_s_half_is_a_round_trip_s_data() -> None:
    # 3 MiB in 2172 whole segments, each 100 ms and what one takes on the link
    expected = 2172 * 1448 * 8 / 0.1 / 1e6
    assert goodput_mbps(window="auto") == pytest.approx(expected, rel=0.005)
    assert goodput_mbps(window="auto") == pytest.approx(goodput_mbps(window="3 MiB"), rel=0.001)
    # 4 MiB are less than the link needs as well
    assert goodput_mbps(window="auto(8 MiB)") > 1.3 * expected


def completion_s(**flow: Any) -> float:
    """2 MB over 1 Gbps and 100 ms."""
    transfer = {"name": "one", "rtt": "100 ms", "stack": "linux", "congestion": "reno", **flow}
    content = {
        "run": {"duration": "5 s", "warmup": "0 s"},
        "bottleneck": {"rate": "1 Gbps", "delay": "1 ms", "buffer": "1 bdp"},
        "flows": [{**transfer, "application": {"kind": "transfer", "bytes": "2 MB"}}],
    }
    return float(bufferlab.run(content, progress=False).flows["completion_s"].item())


def test_a_tuned_window_stays_ahead_of_slow_start() -> None:
    assert completion_s(window="auto") == completion_s(window="1000 MiB")
    # but for a first window that is larger than it
    late = completion_s(window="auto", initial_window=64) - completion_s(window="1000 MiB", initial_window=64)
    assert 0.09 < late < 0.2


def test_without_scaling_it_stays_at_16_bits() -> None:
    tuned = goodput_mbps(window="auto", window_scaling=False)
    # 45 segments; the measured time holds 20 round trips and a part of one
    assert tuned == pytest.approx(45 * 1448 * 8 / 0.1 / 1e6, rel=1 / 20)
    assert tuned == goodput_mbps(window="64 KiB", window_scaling=False)
