"""Between two bounds, the buffer is taken that holds in more traffic."""

from __future__ import annotations

import dataclasses

import pytest

from bufferlab.render.advise.head import head
from bufferlab.render.advise.least import least_text
from bufferlab.render.advise.trade import narrow
from bufferlab.scenario import Scenario, Table
from bufferlab.studies.advise.advising import advise
from bufferlab.studies.advise.larger import Ladder
from bufferlab.studies.advise.roomier import are_two_sided, broken, edges_that_meet, roomier_size
from bufferlab.studies.advise.rough import Rough
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.least import Least, Run
from bufferlab.studies.targets import Values, parse_targets

from ...advised import FIFO, advised, runs

BUSY, SOON, KEPT = "utilization >= 99 %", "wait_p99 < 50 ms", "loss < 1 %"


def changed(size: int | None, *, holds: bool = False) -> Sensitivity:
    missed = () if holds else tuple(parse_targets([BUSY], []))
    return Sensitivity("other", "other", {}, missed, None if size is None else Rough(size, (14,)), 4)


@pytest.mark.parametrize(
    ("targets", "is_so"),
    [((BUSY, SOON), True), ((BUSY,), False), ((SOON,), False), ((BUSY, KEPT), False), ((KEPT, SOON), True)],
)
def test_targets_are_two_sided_where_waits_are_bounded_beside_others(
    targets: tuple[str, ...], *, is_so: bool
) -> None:
    assert are_two_sided(parse_targets(targets, [])) == is_so


@pytest.mark.parametrize(
    ("changes", "size"),
    [
        ([changed(20), changed(28)], 28),
        ([changed(20), changed(90)], 20),  # 90 packets wait too long
        ([changed(16)], None),  # less than a quarter more
        ([changed(20, holds=True)], None),
        ([changed(None)], None),
        ([changed(90)], None),
    ],
)
def test_what_holds_in_the_most_demanding_change_within_both_bounds_is_tried(
    changes: list[Sensitivity], size: int | None
) -> None:
    advice = advised({"fifo": (14, runs(FIFO))}, (BUSY, SOON), sensitivity=changes)
    memory = advice.answer.buffers
    assert memory is not None
    late: Values = {**FIFO, "wait_p99_ms": 49.0}
    memory.add({Run(40, 0): late, Run(80, 0): {**late, "wait_p99_ms": 51.0}})
    assert roomier_size(advice) == size
    assert roomier_size(advised({"fifo": (14, runs(FIFO))}, (BUSY,), sensitivity=changes)) is None


def test_what_a_fifo_runs_today_is_a_size_that_need_not_change_with_the_queue() -> None:
    def size(word: str, today: int | None, *changes: Sensitivity) -> int | None:
        advice = advised({"fifo": (14, runs(FIFO))}, (BUSY,), sensitivity=changes)
        entry = advice.answer
        if word == "llq":
            table: Table = {"discipline": "diffserv"}
            entry = dataclasses.replace(entry, queue=dataclasses.replace(entry.queue, name=word, table=table))
        return roomier_size(dataclasses.replace(advice, entries={advice.choice.name: entry}), today)

    assert size("llq", 64, changed(20)) == 64
    assert size("fifo", 64, changed(20)) is None  # it stays as it is
    assert size("llq", 15, changed(20)) is None and size("llq", None, changed(20)) is None
    assert size("llq", 64, changed(20, holds=True)) is None


def test_why_a_larger_buffer_was_taken_is_said() -> None:
    advice = advised({"fifo": (14, runs(FIFO))}, (BUSY, SOON))
    behind = advice.answer.mean("loss")
    entry = dataclasses.replace(advice.answer, setting=28, least_behind=behind, broken=3)
    text = least_text(advice.site, entry)
    assert text == "The least that meets the targets: 14 packets; 3 what-ifs miss a target with it"


def test_that_the_largest_was_taken_since_the_least_loses_more_is_said() -> None:
    advice = advised({"fifo": (14, runs({**FIFO, "loss": 0.03}))}, (BUSY, SOON))
    found = advice.answer.least
    assert found is not None
    found.memory.add({Run(28, 0): {**FIFO, "loss": 0.021}})
    entry = dataclasses.replace(advice.answer, setting=28, least_behind=advice.answer.mean("loss"))
    assert least_text(advice.site, entry) == (
        "The least that meets the targets: 14 packets; but it loses 3 %, and 28 packets, about the largest "
        "that keeps the bounds, lose 2.1 %"
    )


MANY = """
[run]
duration = "6 s"
warmup = "2 s"
[bottleneck]
rate = "20 Mbps"
delay = "2 ms"
buffer = "20 packets"
[[flows]]
count = 4
rtt = "60 ms"
rtt_spread = 0.8
start = "uniform(0 s, 100 ms)"
"""


def test_a_range_of_buffers_gives_the_one_that_holds_in_more_what_ifs() -> None:
    targets = ["utilization >= 90 %", "wait_p99 < 60 ms"]
    found = advise(
        Scenario.from_toml(MANY), targets, queues="fifo", bounds="1..150", threads=1, progress=False
    )
    least, answer = found.answer.least, found.answer
    assert found.met and least is not None and least.size is not None and answer.broken is not None
    assert answer.packets >= 1.25 * least.size and broken(found) < answer.broken
    assert [check.met for check in answer.checks] == [True, True]
    assert found.to_dict()["queues"][0]["least_broken"] == answer.broken


def test_a_larger_buffer_that_was_tried_is_known_though_it_was_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was in no table, and a line said that no larger one was tried."""
    tried = []

    def climb(ladder: Ladder, found: Least) -> None:
        tried.append(4 * found.upper)
        ladder.measure(tried[-1], ladder.seeds[:1])

    monkeypatch.setattr(Ladder, "climb", climb)
    found = advise(
        Scenario.from_toml(MANY),
        ["utilization >= 90 %"],
        queues="fifo",
        quick=True,
        threads=1,
        progress=False,
    )
    assert found.answer.buffers is not None and tried
    assert {*tried} <= {*found.answer.buffers.sizes} and found.answer.packets < min(tried)


@pytest.mark.parametrize(
    ("larger", "said"), [(15, ", with almost no room: only about 14 packets do."), (40, "runs).")]
)
def test_where_hardly_another_buffer_meets_both_bounds_that_is_said_beside_how_sure_it_is(
    larger: int, said: str
) -> None:
    advice = advised({"fifo": (14, runs(FIFO))}, (BUSY, SOON))
    memory = advice.answer.buffers
    assert memory is not None and edges_that_meet(memory, 14) is None  # the largest meets both
    late: Values = {**FIFO, "wait_p99_ms": 51.0}
    memory.add({Run(13, 0): {**FIFO, "utilization": 0.989}, Run(larger, 0): late})
    assert edges_that_meet(memory, 14) == (14, 14 if larger == 15 else 37)
    sure = next(each for each in head(advice) if each.startswith("It meets both targets: "))
    assert sure.endswith(said) and ("no room" in sure) == (larger == 15)
    used, waits = advice.answer.checks
    eased = dataclasses.replace(used, target=dataclasses.replace(used.target, bound=0.95))
    answer = dataclasses.replace(advice.answer, checks=(eased, waits))
    memory.add({Run(7, 0): {**FIFO, "utilization": 0.96}})
    held = dataclasses.replace(advice, entries={answer.name: answer})
    assert not narrow(held)  # with the use that it was held to, 7 packets do as well
