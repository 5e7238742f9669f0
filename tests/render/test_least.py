"""What is said of an answer: how sure it is, and what other buffers do."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from functools import partial

from bufferlab.render.least import (
    ceiling_text,
    gap,
    how_sure,
    is_sharp,
    neighbors,
    percent,
    target_text,
)
from bufferlab.studies.least import Goal, Least, least
from bufferlab.studies.targets import Values, make_target, parse_target

BUSY = make_target("utilization", 0.9)
QUICK = make_target("wait_mean_ms", 50.0)


def searched(goal: Goal, measure: Callable[[int], Values]) -> Least:
    search = least(goal)
    step = next(search)
    while True:
        try:
            step = search.send({run: measure(run.size) for run in step.runs})
        except StopIteration as end:
            found: Least = end.value
            return found


def link(size: int) -> Values:
    """90 % from 20 packets on, but for buffers around 300; 0.5 ms of wait a packet."""
    used = 0.7 if 250 <= size <= 400 else min(0.89 + 0.0005 * size, 1.0)
    return {"utilization": used, "wait_mean_ms": size * 0.5}


def test_a_buffer_that_misses_again_is_a_warning() -> None:
    goal = Goal((BUSY,), 1, 1000, guess=300)
    lines = dict(neighbors(searched(goal, link), goal))
    assert lines["why not smaller"].startswith("1")
    assert "miss: utilization 89." in lines["why not smaller"]
    assert lines["beware"] == "larger buffers may miss a target again: 251, 300 packets do"
    assert "why not larger" not in lines


def test_the_end_of_the_range_is_none() -> None:
    goal = Goal((BUSY, QUICK), 1, 200)
    found = searched(goal, link)
    lines = dict(neighbors(found, goal))
    assert found.islands == () and "beware" not in lines
    assert lines["why not larger"] == "200 packets miss: mean wait 100 ms"


def test_what_misses_by_a_hair_is_not_rounded_to_the_bound() -> None:
    goal = Goal((make_target("utilization", 1.0),), 1, 1000)
    full = searched(goal, lambda size: {"utilization": 1.0 if size >= 50 else 0.9999996})
    assert dict(neighbors(full, goal))["why not smaller"].endswith("miss: utilization 99.99996 %")


def test_an_answer_at_the_end_says_so() -> None:
    goal = Goal((BUSY,), 30, 1000)
    assert dict(neighbors(searched(goal, link), goal))["why not smaller"] == "none was allowed"


def test_without_chance_nothing_is_known_about_it() -> None:
    found = searched(Goal((BUSY,), 1, 1000), link)
    assert how_sure(found.checks, found.confidence).startswith("all 2 runs are identical")


def bending(by: float, size: int) -> Values:
    return {"utilization": 0.5 + by * size}


def test_where_none_meets_it_says_why_nothing_larger_was_tried() -> None:
    given = searched(Goal((BUSY,), 1, 10), lambda _size: {"utilization": 0.5})
    assert (given.size, ceiling_text(given)) == (None, "")
    flat = searched(Goal((BUSY,), 1, 10, most=80), lambda _size: {"utilization": 0.5})
    assert ceiling_text(flat) == ". From 6 to 10 packets, utilization stays at 50 %"
    bent = searched(Goal((BUSY,), 1, 10, most=80), partial(bending, -0.001))
    assert (bent.upper, ceiling_text(bent)) == (
        10,
        ". From 1 packet on, no larger buffer comes notably nearer: utilization is 49 % to 49.9 %",
    )
    hill = searched(Goal((BUSY,), 1, 10, most=80), lambda size: {"utilization": 0.5 - 0.03 * abs(size - 6)})
    assert ceiling_text(hill).startswith(". From 6 packets on, no larger buffer comes notably nearer")
    silent = searched(Goal((BUSY,), 1, 10, most=80), lambda _size: {"utilization": None})
    assert ceiling_text(silent).endswith("utilization is unknown in 100, then 100 % of the runs")
    rising = searched(Goal((BUSY,), 1, 10, most=80), lambda size: {"utilization": 0.5 + size**0.5 / 30})
    assert (rising.upper, ceiling_text(rising)) == (
        80,
        ". Larger buffers come nearer, but none above 80 packets was tried: --bounds 80..320 goes further",
    )


def test_a_confidence_claims_no_more_than_is_known() -> None:
    assert (percent(0.97549), percent(0.99999), percent(0.95)) == ("97.5 %", "> 99.9 %", "95 %")


def test_targets_in_words() -> None:
    assert target_text(BUSY) == "utilization at least 90 %"
    assert target_text(QUICK) == "mean wait at most 50 ms"
    assert target_text(parse_target("call.r > 80", ["call"])) == "call: rating R at least 80"


def test_how_far_the_least_is_known_is_said() -> None:
    goal = Goal((BUSY,), 1, 1000)
    sharp = searched(goal, link)
    assert is_sharp(sharp, goal)
    blurred = dataclasses.replace(sharp, size=sharp.closest, beyond=4)
    assert not is_sharp(blurred, goal)
    assert gap(blurred, goal) == f"between 5 and {sharp.closest} packets"
    unknown = dataclasses.replace(sharp, beyond=None)
    assert gap(unknown, goal) == f"between 1 and {sharp.closest} packets"
    said = dict(neighbors(blurred, goal))["why not smaller"]
    assert re.fullmatch(r"\d+ packets: not proven to miss \(utilization .*\); 4 packets miss: .*", said)
