"""A switch's memory: what cells and the packet on the wire take of it."""

from __future__ import annotations

from typing import Any

import pytest

from bufferlab.experiment.simulation import simulate
from bufferlab.scenario import Scenario

CELLS_BYTES = 8 * 208
"""What a full packet takes: 1500 bytes and 64 about it in cells of 208."""


def measured(queue: str | dict[str, Any], buffer: str, **link: Any) -> dict[str, float]:
    scenario = {
        "run": {"duration": "20 s", "warmup": "5 s", "stack": "linux"},
        "bottleneck": {"rate": "10 Mbps", "buffer": buffer, "queue": queue} | link,
        "flows": [
            {"count": 4, "rtt": "40 ms", "segment": "1460 B", "header": "40 B", "start": "uniform(0 s, 1 s)"}
        ],
    }
    result = simulate(Scenario.from_dict(scenario), 1)
    assert result is not None
    return dict(result.queues.row(0, named=True))


def test_cells_of_a_byte_that_are_free_at_the_start_are_a_fifo() -> None:
    plain = {"discipline": "switch", "cell": "1 B", "metadata": "0 B", "frees": "start"}
    assert measured(plain, "30 KB") == measured("fifo", "30 KB")


@pytest.mark.parametrize(("frees", "on_the_wire"), [("start", 0), ("end", 1)])
def test_full_packets_take_eight_cells_and_the_one_on_the_wire_as_well(frees: str, on_the_wire: int) -> None:
    switch = {"discipline": "switch", "frees": frees}
    of_cells = measured(switch, f"{20 * CELLS_BYTES} B")
    of_packets = measured("fifo", f"{20 - on_the_wire} packets")
    assert of_cells == of_packets


def test_a_link_that_varies_frees_the_room_of_what_has_left() -> None:
    """The buffer has room for a single packet, which must find it free once the link is idle."""
    varying = measured("switch", "1 packet", changes=[{"at": "10 s", "rate": "20 Mbps"}])
    constant = measured("switch", "1 packet")
    assert varying["departed_packets"] > constant["departed_packets"] > 1000
