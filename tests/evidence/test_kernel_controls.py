"""Controls that ns-2's Agent/TCP/Linux has as well: what today's kernel does, as recorded, ours do."""

from __future__ import annotations

import csv
from importlib import resources
from pathlib import Path
from statistics import fmean

import pytest

from bufferlab.experiment.simulation import simulate
from bufferlab.scenario import Scenario
from bufferlab.studies.crosscheck import COMPARED

Place = tuple[str, int, int]
"""Control, flows, packets of buffer."""

EXAMPLE = Path(__file__).parents[2] / "examples" / "kernel.toml"
PACKET_MS = 1514 * 8 / 1e4
FIGURES = {each.name: each for each in COMPARED if each.name != "largest_share"}


def recorded() -> dict[tuple[Place, str], dict[str, float]]:
    """The figures of each place by each side, kernel and ns2."""
    path = resources.files("bufferlab.evidence.kernels") / "data" / "controls.csv"
    rows = csv.DictReader(line for line in path.read_text("utf-8").splitlines() if line[0] != "#")
    return {
        ((row["control"], int(row["flows"]), int(row["buffer_packets"])), row["side"]): {
            name: float(row[name]) for name in FIGURES
        }
        for row in rows
    }


ROWS = recorded()
PLACES = [place for place, side in ROWS if side == "kernel"]


def ours(place: Place) -> dict[str, float]:
    control, flows, buffer_packets = place
    scenario = Scenario.load(
        EXAMPLE,
        {
            "flows.bulk.congestion": control,
            "flows.bulk.count": flows,
            "flows.bulk.delayed_ack": False,
            "flows.bulk.start": "uniform(0 s, 1 s)",
            "bottleneck.buffer": f"{buffer_packets} packets",
        },
    )
    results = [simulate(scenario, seed) for seed in (1, 2)]
    return {
        name: fmean(each.of(result) or 0.0 for result in results if result is not None)
        for name, each in FIGURES.items()
    }


def beyond(place: Place, figures: dict[str, float]) -> list[str]:
    """Figures that are further from the kernel's than `crosscheck` allows."""
    kernel = ROWS[place, "kernel"]
    return [n for n, each in FIGURES.items() if abs(figures[n] - kernel[n]) > each.margin(kernel[n])]


@pytest.mark.parametrize("place", [each for each in PLACES if each[0] in {"scalable", "westwood", "htcp"}])
def test_ours_does_what_the_kernels_does(place: Place) -> None:
    assert beyond(place, ours(place)) == []


@pytest.mark.parametrize("place", [each for each in PLACES if each[:2] == ("vegas", 1)])
def test_a_lone_vegas_keeps_two_to_four_packets_waiting(place: Place) -> None:
    """Alpha and beta (Linux's tcp_vegas.c); where between them depends on how it began. ns-2's keeps one."""
    sides = (ROWS[place, "kernel"], ours(place), ROWS[place, "ns2"])
    kernel, own, ns2 = (each["wait_mean_ms"] / PACKET_MS for each in sides)
    assert 2 < kernel < 4.5
    assert 2 < own < 4.5
    assert ns2 < 1


@pytest.mark.parametrize("control", ["scalable", "westwood"])
def test_ns2s_does_something_else(control: str) -> None:
    place = (control, 1, 20)
    assert "loss" in beyond(place, ROWS[place, "ns2"])
