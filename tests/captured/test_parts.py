"""The table of long flows: what each got, or each group of them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import bufferlab
from bufferlab.captured.parts import MOST, parts_of

from .conftest import Captured


def test_few_long_flows_are_a_row_each(captured: Captured) -> None:
    for capture in (captured.at_senders, captured.at_receivers):
        seen = bufferlab.observe(capture)
        parts = parts_of(seen)
        assert len(parts) == len(seen.long) == MOST
        assert all(part.name.startswith("connection ") and part.flows == 1 for part in parts)
        assert [part.rtt_ms < 40 for part in parts] == [True] * 3 + [False] * 2
        truth = captured.result.flows.group_by("group").agg(pl.col("goodput_bps").mean())
        means = dict(truth.iter_rows())
        for of, own in (("near", parts[:3]), ("far", parts[3:])):
            assert sum(part.goodput_bps for part in own) / len(own) == pytest.approx(means[of], rel=0.1)
        waits = [part.wait_ms for part in parts]
        assert waits == pytest.approx([captured.link["wait_p50_ms"]] * MOST, rel=0.2)
        assert seen.to_dict()["long_parts"][0]["name"] == parts[0].name


def test_many_are_a_row_a_group_and_none_have_no_table(tmp_path: Path) -> None:
    path = tmp_path / "link.pcapng"
    groups = [{"count": 4, "rtt": "20 ms"}, {"count": 3, "rtt": "70 ms"}]
    link = {
        "run": {"duration": "10 s", "warmup": "0 s", "seed": 5, "stack": "linux"},
        "bottleneck": {"rate": "14 Mbps", "delay": "2 ms", "buffer": "30 ms"},
        "flows": [{"congestion": "cubic-linux(hystart)", **each} for each in groups],
    }
    bufferlab.run(link, progress=False, pcap=path, pcap_at=["receivers"])
    seen = bufferlab.observe(path)
    parts = parts_of(seen)
    assert [part.flows for part in parts] == [4, 3]
    assert all(part.name.startswith("long-") and part.name.endswith("ms") for part in parts)
    lines = str(seen).splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith(f" {parts[0].name}"))
    assert len(lines[first:]) == 2 and len(lines) - first <= MOST
    other = bufferlab.observe(path, direction="out")
    assert not parts_of(other) and "goodput, Mbps" not in str(other)
