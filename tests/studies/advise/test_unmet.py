"""What settings meet of several targets that none meets together, in the document as in the box."""

from __future__ import annotations

import dataclasses

import pytest

from bufferlab.render.advise.unmet import helps, shorter_wait, without_one
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.advising import advise
from bufferlab.studies.advise.beyond import Beyond
from bufferlab.studies.advise.unmet import alone, by_chance
from bufferlab.studies.choosing.thresholds import HEAVY_LOSS
from bufferlab.studies.least.lacking import runs_lack
from bufferlab.studies.targets import Values, make_target

from ...advised import FIFO, FQ_CODEL, advised, entry, runs
from ...render.boxes import box

TARGETS = ("utilization >= 99 %", "loss <= 0.1 %")
OTHER: dict[int, Values] = {
    20: {**FIFO, "utilization": 0.995, "loss": 0.0011},
    30: {**FIFO, "utilization": 0.999, "loss": 0.004},
}


@pytest.fixture
def advice() -> Advice:
    """FIFO with 14, 20 and 30 packets, and FQ-CoDel, which miss a target each."""
    small = runs({**FIFO, "utilization": 0.8, "loss": 0.0})
    made = advised({"fifo": (14, small), "fq_codel": (5000, runs({**FQ_CODEL, "loss": 0.02}))}, TARGETS)
    fifo = entry("fifo", 14, small, made.targets, other=OTHER)
    return dataclasses.replace(made, entries={**made.entries, fifo.name: fifo})


def test_the_setting_that_misses_one_target_by_least(advice: Advice) -> None:
    assert advice.to_dict()["nearly"] == {
        "target": "loss at most 0.1 %",
        "queue": "fifo",
        "setting": "20 packets",
        "value": pytest.approx(0.0011),
        "runs": 1,
    }


def test_which_queue_meets_each_target_alone(advice: Advice) -> None:
    used, lost = advice.to_dict()["helps"]
    assert (used["target"], lost["target"]) == ("utilization at least 99 %", "loss at most 0.1 %")
    assert [each["queue"] for each in used["met_by"]] == ["fifo", "fq_codel"]
    assert used["met_by"][0]["met"] == ["20 packets", "30 packets"] and used["met_by"][0]["tried"] == 3
    assert lost["met_by"] == [{"queue": "fifo", "met": ["14 packets"], "tried": 3, "larger_packets": None}]
    assert lost["not_by"] == ["fq_codel"] and lost["nearest"] is None
    said = helps(advice) or ""
    assert "Utilization at least 99 %: fifo from 20 packets on, fq_codel, target 5 ms." in said
    assert "Loss at most 0.1 %: fifo up to 14 packets (not with 20 packets); not fq_codel." in said


def test_what_some_sizes_between_miss_is_said_to_be_not_sure(advice: Advice) -> None:
    """How many of how many settings do tells a reader nothing."""
    barely: dict[int, Values] = {9: {**FIFO, "utilization": 0.991}, **OTHER}
    fifo = entry("fifo", 14, runs({**FIFO, "utilization": 0.98}), advice.targets, other=barely)
    said = helps(dataclasses.replace(advice, entries={**advice.entries, fifo.name: fifo})) or ""
    assert "Utilization at least 99 %: fifo from 9 packets on (not surely: some between miss it), fq" in said


def test_a_larger_buffer_that_meets_a_target_alone(advice: Advice) -> None:
    lost = advice.targets[1]
    larger = {"fifo": (Beyond(lost, 400, True, 4, ()),)}
    found = dataclasses.replace(advice, beyond=larger).to_dict()["helps"][1]["met_by"]
    assert [each["larger_packets"] for each in found] == [400]


def test_what_nothing_meets_has_what_comes_nearest() -> None:
    targets = ("wait_p99 < 3 ms", "loss <= 0.1 %")
    wait, _ = advised({"fifo": (14, runs(FIFO))}, targets).to_dict()["helps"]
    assert wait["met_by"] == [] and wait["perhaps"] is None
    assert (wait["nearest"]["queue"], wait["nearest"]["value"]) == ("fifo", pytest.approx(41.0, rel=0.01))


def test_the_document_s_rows_and_checks_agree_on_what_is_missed(advice: Advice) -> None:
    found = advice.to_dict()
    assert any(each["behind"] is None and each["missed"] for each in found["queues"])  # the answer
    for each in found["queues"]:
        assert each["missed"] == [check["target"] for check in each["checks"] if not check["met"]]


def test_what_can_be_had_without_one_target(advice: Advice) -> None:
    without_use, without_loss = advice.to_dict()["instead"]
    assert without_use == {
        "without": "utilization at least 99 %",
        "queue": "fifo",
        "setting": "14 packets",
        "verdict": "met",
        "loss": None,
        "value": 0.8,
    }
    assert (without_loss["queue"], without_loss["verdict"]) == ("fq_codel", "met")
    said = without_one(advice) or ""
    assert "Without utilization at least 99 %, fifo, 14 packets meets the other (utilization 80 %);" in said
    assert "without loss at most 0.1 %, fq_codel, target 5 ms meets the other (loss " in said


def test_a_target_that_nobody_asked_for_has_one_number(advice: Advice) -> None:
    """Less is asked of a queue at its usual delay, and the first lines may name that."""
    floor = advice.targets[0]
    name, fair = next((name, each) for name, each in advice.entries.items() if each.queue.knob == "target")
    eased = dataclasses.replace(fair.checks[0], target=dataclasses.replace(floor, bound=0.9))
    fair = dataclasses.replace(fair, checks=(eased, *fair.checks[1:]))
    needs = dataclasses.replace(advice.needs, floor=floor)
    found = dataclasses.replace(advice, needs=needs, entries={**advice.entries, name: fair})
    assert "Without our default for utilization, fifo, 14 packets meets" in (without_one(found) or "")
    assert "Our default, utilization at least 99 % (90 % at a usual delay): fifo" in (helps(found) or "")


@pytest.mark.parametrize(("wait_ms", "is_said"), [(1.9, True), (3.0, False)])
def test_what_waits_much_less_than_what_is_closest_is_named_with_its_loss(
    wait_ms: float, *, is_said: bool
) -> None:
    near = runs({**FIFO, "wait_mean_ms": 4.0, "loss": 0.0012})
    brief = runs({**FQ_CODEL, "wait_mean_ms": wait_ms, "loss": 0.02, "utilization": 0.98})
    found = advised({"fifo": (14, near), "fq_codel": (5000, brief)}, TARGETS)
    assert found.answer.queue.kind == "fifo" and not found.choice.meets
    said = "fq_codel, target 5 ms, has a mean wait of 1.9 ms instead of 4, and loses 2 % instead of 0.12."
    assert shorter_wait(found) == (said if is_said else None)
    assert (said in " ".join(box(found))) == is_said


def test_what_is_near_to_the_targets_stays_where_there_is_no_room_for_what_is_far() -> None:
    near = runs({**FIFO, "wait_mean_ms": 4.0, "loss": 0.0012, "call.loss": 0.0})
    brief = runs({**FQ_CODEL, "wait_mean_ms": 1.9, "loss": 0.02, "utilization": 0.98})
    found = advised({"fifo": (14, near), "fq_codel": (5000, brief)}, TARGETS)
    labels = [line.split(maxsplit=1)[0] for line in box(found) if line]
    assert found.answer.queue.kind == "fifo" and "or" in labels and "why" not in labels


def test_targets_that_are_met_have_nothing_of_it() -> None:
    found = advised({"fifo": (14, runs(FIFO))}).to_dict()
    assert (found["nearly"], found["helps"], found["instead"]) == (None, [], [])


@pytest.mark.parametrize(("most", "is_near"), [(0.0025, True), (0.008, False)])
def test_what_is_far_beyond_a_bound_does_not_miss_it_by_chance(most: float, *, is_near: bool) -> None:
    """Two runs that scatter widely have 0.42 % within their reach of 0.1 %."""
    lost = make_target("loss", 0.001)
    own = entry("fifo", 14, [{**FIFO, "loss": 0.0005}, {**FIFO, "loss": most}], [lost])
    assert bool(list(by_chance({own.name: own}, lost))) == is_near


def test_the_nearest_is_nearest_of_all_that_was_tried_for_each_target() -> None:
    """Buffers that were tried for one target alone came after the choice, and a nearer one was not taken."""
    line = {
        "run": {"duration": "12 s", "warmup": "4 s"},
        "bottleneck": {"rate": "5 Mbps", "delay": "1 ms", "buffer": "40 packets"},
        "flows": [{"name": "long", "count": 3, "rtt": "30 ms", "rtt_spread": 0.5, "congestion": "cubic"}],
    }
    asked = ["wait_p99 < 15 ms", "loss < 0.5 %"]
    found = advise(line, asked, queues="fifo", sensitivity=False, threads=1, progress=False)
    assert not found.choice.meets and found.answer.least is not None
    memory = found.answer.least.memory
    fit = [size for size in memory.sizes if memory.loss(size) < HEAVY_LOSS]
    lacks = {size: runs_lack(memory.values(size), found.targets) for size in fit}
    assert lacks[found.answer.setting].is_as_near(min(lacks.values())) and len(lacks) > 5


def test_a_setting_is_judged_by_the_runs_that_checked_it(advice: Advice) -> None:
    """Two runs of a search may say otherwise, and the box would contradict itself."""
    lost = advice.targets[1]
    fifo = entry("fifo", 14, runs({**FIFO, "loss": 0.002}), advice.targets, other=OTHER)
    assert fifo.least is not None
    fewer = dataclasses.replace(fifo, runs=tuple(runs({**FIFO, "loss": 0.0005})))
    (found,) = alone({fewer.name: fewer}, advice.targets, lost, {})
    assert found.met == (14,) and alone({fifo.name: fifo}, advice.targets, lost, {})[0].met == ()
