"""Which setting a queue has by what was measured, and what is asked of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import cast

import pytest

from bufferlab.experiment.runner import Runner
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.entry import warnings_about, warns_of_bytes
from bufferlab.studies.advise.floor import FLOOR, USUAL_FLOOR, default_targets
from bufferlab.studies.advise.needs import Needs
from bufferlab.studies.advise.question import Question
from bufferlab.studies.advise.queues import queues_for
from bufferlab.studies.advise.settings import Settings, nearest
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.targets import Values, parse_targets

from ...advised import FIFO, entry, runs

RATING = Aspect("calls", "call: rating R", "call.call_r", "more")
LONG_MS = 20.0

SHORT = {64: (0.0186, 9.0, 80.0), 108: (0.0114, 16.0, 80.0), 256: (0.0107, 18.0, 80.0)}
LONG = {64: (0.0186, 188.0, 80.0), 108: (0.0114, 318.0, 80.0), 256: (0.0107, 748.0, 80.0)}


def rated(at_108: float, at_256: float) -> dict[int, tuple[float, float, float]]:
    """Loss, mean wait and rating by buffer."""
    return {**SHORT, 108: (0.0114, 16.0, at_108), 256: (0.0107, 18.0, at_256)}


@pytest.mark.parametrize(
    ("measured", "targets", "size"),
    [
        (SHORT, ("loss <= 1 %",), 256),  # users fare alike, and the largest uses most of the bounds
        (LONG, ("loss <= 1 %",), 108),  # packets wait long in both
        (rated(66.0, 48.0), ("loss <= 1 %",), 108),
        (rated(66.0, 72.0), ("loss <= 1 %",), 256),
        (rated(66.0, 64.0), ("loss <= 1 %",), 256),
        (rated(10.0, 48.0), ("loss <= 1 %",), 256),  # users fare best with 64, which are not as near
    ],
)
def test_of_settings_as_near_users_decide(
    measured: Mapping[int, tuple[float, float, float]], targets: tuple[str, ...], size: int
) -> None:
    values: dict[int, Values] = {
        buffer: {"loss": loss, "wait_mean_ms": wait, "call.call_r": rating}
        for buffer, (loss, wait, rating) in measured.items()
    }
    found = entry("fifo", 256, [values.pop(256)] * 3, parse_targets(targets, []), other=values).least
    assert found is not None and found.size is None
    assert nearest(found, [RATING], {"calls": 1.0}, LONG_MS) == size


def busy(use: float, loss: float) -> Mapping[int, Values]:
    return {seed: {"utilization": use, "loss": loss + seed * 1e-5} for seed in range(8)}


def test_less_is_asked_of_our_default_only_of_what_misses_nothing_else() -> None:
    """What more runs say of another target must not leave two numbers for our default in one answer."""
    base = Scenario.from_dict(
        {
            "run": {"duration": "2 s"},
            "bottleneck": {"rate": "10 Mbps", "delay": "1 ms", "buffer": "20 packets"},
            "flows": [{"name": "bulk", "count": 2, "rtt": "20 ms"}],
        }
    )
    needs = Needs.of(base, ("loss <= 1 %",), None, default_targets(base, 0)).with_floor(base, 0)
    said: list[str] = []
    (fifo,) = queues_for("fifo", base, 0, upper=64, packet_us=1200.0, rtt_us=20_000.0)
    settings = Settings(
        Question.of(base, 0, needs.targets, needs.floor),
        [fifo],
        needs=needs,
        confidence=0.95,
        resolution=0.1,
        runner=cast(Runner, None),
        say=said.append,
        tell_round=said.append,
    )
    unmet = entry("fifo", 10, [{"utilization": 0.9, "loss": 0.02}] * 2, needs.targets, other={}).least

    def asked(use: float, loss: float) -> float:
        found = settings.entry(fifo, 20, busy(use, loss), unmet)
        return next(each.target.bound for each in found.checks if each.target.name == "utilization")

    assert asked(0.98, 0.009) == USUAL_FLOOR
    assert asked(0.98, 0.0117) == FLOOR  # checked by more runs, it misses a target that was asked for
    assert asked(0.98, 0.009) == USUAL_FLOOR
    assert asked(1.0, 0.009) == FLOOR  # which it meets as surely as the other
    assert asked(0.85, 0.009) == FLOOR


def test_a_buffer_in_bytes_is_said_to_spare_small_packets_where_some_in_packets_miss() -> None:
    """Today's 300 kB met what 173 and 291 packets missed, and a note gave numbers without a unit."""
    made = entry("fifo", 14, runs(FIFO), parse_targets(("utilization >= 99 %",), []), other={})
    assert made.least is not None
    island = dataclasses.replace(made, least=dataclasses.replace(made.least, islands=(173, 291)))
    assert island.least is not None
    assert list(warnings_about({"fifo": island.least}, {island.name: island})) == [
        "fifo: the targets are met with 14 packets, but missed with 173 packets, 291 packets"
    ]
    assert warns_of_bytes([island], "fifo") and not warns_of_bytes([island], "fq_codel")
    assert not warns_of_bytes([made], "fifo")
