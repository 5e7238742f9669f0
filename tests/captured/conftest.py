"""A busy link, captured beside its senders and beside its receivers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import bufferlab
from bufferlab import Result

LINK: dict[str, Any] = {
    "run": {"duration": "30 s", "warmup": "5 s", "seed": 7, "stack": "linux"},
    "bottleneck": {"rate": "20 Mbps", "delay": "3 ms", "buffer": "40 ms"},
    "flows": [
        {"name": "near", "count": 3, "rtt": "20 ms", "congestion": "cubic-linux(hystart)"},
        {"name": "far", "count": 2, "rtt": "80 ms", "congestion": "cubic-linux(hystart)"},
        {
            "name": "web",
            "rtt": "40 ms",
            "application": {"kind": "short-flows", "size": "20 kB", "interval": "250 ms"},
        },
        {"name": "call", "rtt": "30 ms", "application": {"kind": "udp", "rate": "1 Mbps", "packet": "300 B"}},
    ],
}


def link_of(result: Result) -> dict[str, Any]:
    """The only link's row, of all flows."""
    return result.queues.filter(pl.col("group") == "all").row(0, named=True)


@dataclass(frozen=True)
class Captured:
    """A run and its captures."""

    result: Result
    at_senders: Path
    at_receivers: Path

    @property
    def link(self) -> dict[str, Any]:
        """The link's row of the run, of all flows."""
        return link_of(self.result)


@pytest.fixture(scope="session")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Captured:
    folder = tmp_path_factory.mktemp("captured")
    places = ("senders", "receivers")
    paths = [folder / f"{place}.pcapng" for place in places]
    results = [
        bufferlab.run(LINK, progress=False, pcap=path, pcap_at=[place])[0]
        for path, place in zip(paths, places, strict=True)
    ]
    return Captured(results[0], *paths)
