"""Each of several targets for itself: larger buffers are tried until one meets it."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

from bufferlab.studies.advise.beyond import Beyond, beyond
from bufferlab.studies.least import Bench, Case, Least, Run
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Values, parse_targets

TARGETS = parse_targets(("loss <= 1 %", "wait_mean < 10 ms"), [])
LOSS, WAIT = TARGETS


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
