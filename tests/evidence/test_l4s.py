"""The quick runs of L4S's figures."""

from __future__ import annotations

import pytest

from bufferlab.evidence import Request, find_reproductions


def test_prague_waits_little_and_loses_nothing() -> None:
    (found,) = find_reproductions("l4s/pair")
    (row,) = found.function(Request(quick=True, progress=False)).tables["points"].to_dicts()
    assert (row["rate_mbps"], row["rtt_ms"], row["loss"]) == (12, 20, 0)
    assert row["wait_p99_ms"] < 2.1
    assert row["utilization"] > 0.98
    assert row["classic_ms"] == pytest.approx(15, abs=3)


def test_a_step_of_two_packets_gives_prague_its_share_of_a_slow_link() -> None:
    (found,) = find_reproductions("l4s/slow")
    points = found.function(Request(quick=True, progress=False)).tables["points"]
    ratio = dict(points.select("step", "ratio").iter_rows())
    assert ratio["1 ms"] < 1 < ratio["two packets"]
