"""Each of several targets for itself: larger buffers are tried until one meets it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

from bufferlab.studies.advise.beyond import Beyond, beyond, edged
from bufferlab.studies.least import Bench, Case, Least, Run
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Values, parse_targets

TARGETS = parse_targets(("loss <= 1 %", "wait_mean < 10 ms"), [])
LOSS, WAIT = TARGETS

PLAIN: dict[str, Any] = {
    "size": None, "checks": (), "closest": 10, "confidence": 0.0, "confirmed": False, "beyond": None,
    "conflict": TARGETS, "islands": (), "lower": 1, "upper": 1000, "values": {}, "memory": Memory(TARGETS),
}  # fmt: skip


def law(size: int) -> Values:
    """A buffer of 400 packets loses 1 %, and each packet waits a tenth of a millisecond."""
    return {"loss": 4.0 / size, "wait_mean_ms": size / 10.0}


class Laws:
    """Measures by the law, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def measure(self, wanted: Mapping[Case, list[int]]) -> dict[tuple[Case, int], Values]:
        self.asked += [case.size for case in wanted]
        return {(case, seed): law(case.size) for case, seeds in wanted.items() for seed in seeds}


def searched(sizes: tuple[int, ...], targets: Any = TARGETS) -> Least:
    memory = Memory(targets)
    memory.add({Run(size, 1): law(size) for size in sizes})
    return cast(Least, SimpleNamespace(memory=memory))


def found(least: Least, most: int) -> tuple[tuple[Beyond, ...], list[int]]:
    bench = Laws()
    return beyond("fifo", least, cast(Bench, bench), seeds=[1, 2], most=most), bench.asked


def test_the_first_doubled_buffer_that_meets_a_target_is_found() -> None:
    assert found(searched((10, 120)), 10_000) == (
        (Beyond(LOSS, 480, is_met=True, runs=2, values=(law(480), law(480))),),
        [240, 480],
    )


def test_no_buffer_above_the_most_is_tried() -> None:
    assert found(searched((10, 120)), 300) == (
        (Beyond(LOSS, 300, is_met=False, runs=2, values=(law(300), law(300))),),
        [240, 300],
    )


def test_what_grows_with_the_buffer_and_what_some_buffer_met_are_not_tried() -> None:
    assert found(searched((200, 500)), 10_000) == ((), [])


def test_one_target_has_no_conflict() -> None:
    assert found(searched((10, 120), TARGETS[:1]), 10_000) == ((), [])


def test_where_each_target_begins_to_be_missed_is_known_to_a_tenth() -> None:
    bench = Laws()
    least = dataclasses.replace(Least(**PLAIN), memory=searched((10, 60, 120, 1000)).memory)
    sharper = edged("fifo", least, cast(Bench, bench), seeds=[1, 2]).memory
    waits = [size for size in sharper.sizes if sharper.meets(size, WAIT)]
    loses = [size for size in sharper.sizes if sharper.meets(size, LOSS)]
    assert 91 <= max(waits) <= 100 and 400 <= min(loses) <= 440
    assert least.memory.sizes == [10, 60, 120, 1000]  # what the search found stays as it was
    assert len(bench.asked) < 14
