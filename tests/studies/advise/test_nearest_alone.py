"""What is nearest to targets that nothing meets with one control of a mix alone, and how that is said."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from bufferlab.render.advise.head import head
from bufferlab.studies.advise.advising import advise
from bufferlab.studies.advise.entry import Users
from bufferlab.studies.advise.nearest_alone import NearestAlone, nearest_alone
from bufferlab.studies.choosing.closest import off
from bufferlab.studies.internet import BBR_DECIDES
from bufferlab.studies.targets import Values, parse_targets

from ...advised import FIFO, advised, fifo_today, runs, site
from ...small import dumbbell

TARGETS = ("loss <= 0.1 %", "wait_mean <= 15 ms")
MIXED = site(Users("downloads", "bulk", 4, "cubic"), Users("others", "bulk", 4, "bbr"))
SHORT: Values = {**FIFO, "loss": 0.03, "wait_mean_ms": 1.0}


@pytest.mark.parametrize(
    ("start", "loss", "size"),
    [
        (4, lambda size: 1 / size, 64),  # until the wait counts for more than the loss
        (512, lambda size: 1 / size, 64),
        (16, lambda _size: 0.0005, 16),  # which meets both
        (3, lambda _size: 0.0005, 3),
    ],
)
def test_it_is_looked_for_in_the_direction_that_comes_nearer(
    start: int, loss: Callable[[int], float], size: int
) -> None:
    targets = parse_targets(TARGETS, [])

    def measure(packets: int) -> tuple[Values, ...]:
        return ({"loss": loss(packets), "wait_mean_ms": (packets / 16) ** 2},)

    found = nearest_alone(
        "cubic alone", start, (1, 1000), targets, measure=measure, off=lambda each: off(each, targets)
    )
    assert found.size == size and (found.missed == ()) == (loss(7) < 0.001)


@pytest.mark.parametrize(
    ("size", "lost", "then"),
    [
        (500, 0.004, "closest is about 500 packets: loss 0.4 % (asked 0.1 %)"),
        (500, 0.0005, "about 500 packets meet the targets"),
        (500, 0.03, "least far off is about 500 packets: loss 3 % (asked 0.1 %)"),
        (20, 0.004, None),  # about as much
    ],
)
def test_what_is_closest_with_one_control_is_said_where_it_is_far_from_the_mix_s(
    size: int, lost: float, then: str | None
) -> None:
    advice = dataclasses.replace(advised({"fifo": (14, runs(SHORT))}, TARGETS, where=MIXED))
    values = runs({**FIFO, "loss": lost, "wait_mean_ms": 14.0})
    missed = tuple(each for each in advice.targets if lost > 0.001 and each.name == "loss")
    alone = NearestAlone("cubic alone", size, missed, tuple(values))
    assumed = (f"a mix: {BBR_DECIDES}",)
    found = dataclasses.replace(advice, nearest_alone=alone, assumed=assumed)
    begin = "The assumed mix of congestion controls decides: with cubic alone, "
    if then is None:
        assert not any(each.startswith(begin) for each in head(found))
        return
    assert f"{begin}{then}. 'bufferlab observe' tells yours from a capture." in head(found)
    now = dataclasses.replace(fifo_today(FIFO), alone=tuple(runs({**FIFO, "loss": 0.001})))
    now = dataclasses.replace(now, values=tuple(runs({**FIFO, "loss": 0.02})), missed=advice.targets)
    counted = "Drop counters tell: today's queue loses 2 % with the mix, 0.1 % with cubic alone."
    assert f"{begin}{then}. {counted}" in head(dataclasses.replace(found, today=now))


def test_an_answer_that_misses_has_it_of_a_mix_and_none_else(tmp_path: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text(dumbbell().replace('name = "far"', 'name = "far"\ncongestion = "bbr"'))
    targets = ["wait_mean < 1 us", "utilization >= 90 %"]
    found = advise(file, targets, queues="fifo", bounds="4..40", quick=True).nearest_alone
    assert found is not None and found.title.endswith(" alone") and found.missed and found.values
    easy = advise(file, ["utilization >= 10 %"], queues="fifo", bounds="4..40", quick=True)
    assert easy.nearest_alone is None
