"""Answers against the truth: how the truth is found, the questions, the command."""

from __future__ import annotations

import itertools
import json
import math
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from bufferlab.cli import main
from bufferlab.evidence.answers import asking
from bufferlab.evidence.answers.asking import Answer, Judge
from bufferlab.evidence.answers.questions import Question, questions
from bufferlab.evidence.answers.true_least import (
    Effort,
    FloatArray,
    Measure,
    TrueLeast,
    place_of_crossing,
    rising,
    spaced,
    true_least,
)
from bufferlab.evidence.documents import bundled_documents
from bufferlab.evidence.measured import load
from bufferlab.experiment.runner import Runner


def link(mean: Callable[[int], float], scatter: float, number: int = 0) -> Measure:
    """A made-up link: a mean margin by size, and scatter that is half the seed's and half the run's."""

    def measure(wanted: Mapping[int, int]) -> dict[int, FloatArray]:
        return {size: runs(size, count) for size, count in wanted.items()}

    def runs(size: int, count: int) -> FloatArray:
        common = np.random.default_rng(number).normal(0, scatter, (count, 1))
        own = np.random.default_rng((number, size)).normal(0, scatter, (count, 1))
        return mean(size) + (common + own) / math.sqrt(2)

    return measure


def saturating(knee: float) -> Callable[[int], float]:
    return lambda size: 0.01 - 0.01 * (size / knee) ** -2


@pytest.mark.parametrize("knee", [1.5, 6.5, 40.5, 333.3, 1500.5])
def test_the_interval_holds_the_true_size(knee: float) -> None:
    found = [true_least(link(saturating(knee), 0.001, number), 1, 2000) for number in range(12)]
    held = [
        each.low is not None and each.high is not None and each.low <= math.ceil(knee) <= each.high
        for each in found
    ]
    assert sum(held) >= 9  # of 95 %, fewer with a chance of 0.2 %
    assert all(each.size is not None and abs(each.size / math.ceil(knee) - 1) < 0.04 for each in found)


def test_the_largest_size_that_keeps_a_bound() -> None:
    found = true_least(link(lambda size: 1 - size / 333, 0.01), 1, 2000, largest=True)
    assert found.low is not None and found.high is not None and found.low <= 333 <= found.high
    assert found.islands == ()


def test_ends_of_the_range() -> None:
    assert true_least(link(lambda _: 1.0, 0.1), 1, 100).size == 1
    assert true_least(link(lambda _: 1.0, 0.1), 1, 100, largest=True).size == 100
    none = true_least(link(lambda _: -1.0, 0.1), 1, 100)
    assert none.size is None and none.islands == ()


def test_a_larger_buffer_that_misses_is_an_island() -> None:
    found = true_least(link(lambda size: -1.0 if size < 20 or size > 500 else 1.0, 0.01), 1, 2000)
    assert found.size == 20
    assert found.islands and min(found.islands) > 500


def test_more_scatter_takes_more_seeds_up_to_a_limit() -> None:
    few = true_least(link(saturating(400), 0.0005), 1, 2000)
    many = true_least(link(saturating(400), 0.01), 1, 2000, effort=Effort(seeds=48))
    assert few.seeds < many.seeds == 48


def test_pools_do_not_fall() -> None:
    assert rising(np.array([1.0, 3.0, 2.0, 2.0, 5.0])).tolist() == pytest.approx([1, 7 / 3, 7 / 3, 7 / 3, 5])
    assert place_of_crossing(np.array([-3.0, -1.0, 1.0])) == 1.5
    assert place_of_crossing(np.array([-2.0, 1.0, -2.0, 3.0])) == pytest.approx(2 + 0.5 / 3.5)
    assert place_of_crossing(np.array([1.0, 2.0])) == -math.inf
    assert place_of_crossing(np.array([-1.0])) == math.inf


def test_grid() -> None:
    assert spaced(1, 8, 2) == [1, 2, 4, 8]
    sizes = spaced(1, 3000, 1.04)
    assert sizes[0] == 1 and sizes[-1] == 3000
    assert all(b - a <= 2 or b / a < 1.06 for a, b in itertools.pairwise(sizes))


def test_scenarios_name_all_that_presets_could_change() -> None:
    asked = questions()
    assert len(asked) >= 40
    assert len({(each.scenario, each.targets) for each in asked}) == len(asked)
    for file in {each.file for each in asked}:
        text = tomllib.loads(file.read_text(encoding="utf-8"))
        assert "stack" in text["run"], file
        for flow in text["flows"]:
            if flow.get("application", {}).get("kind") not in ("udp", "ping"):
                assert {"congestion", "jitter"} <= flow.keys(), (file, flow["name"])


def test_scenarios_differ_as_promised() -> None:
    sites = [each.asked.site for each in questions()]
    assert min(site.rate_bps for site in sites) == 10**6
    assert max(site.rate_bps for site in sites) == 10**11
    flows = [sum(users.flows for users in site.users) for site in sites]
    assert min(flows) == 1 and max(flows) == 10_000


def judge_of(truth: TrueLeast) -> Judge:
    judge = Judge(Question("10m-1", ("utilization >= 98 %",)), Runner(progress=False))
    judge.truth = truth
    return judge


@pytest.mark.parametrize(
    ("packets", "off"), [(94, 0), (93, 93 / 95 - 1), (105, 0), (106, 0), (107, 107 / 105 - 1), (210, 1.0)]
)
def test_off_is_the_distance_from_the_interval(packets: int, off: float) -> None:
    judge = judge_of(TrueLeast(100, 95, 105, 32, 100, ()))
    assert judge.off(packets) == pytest.approx(off)


def test_an_answer_that_is_too_small_is_short() -> None:
    judge = judge_of(TrueLeast(26, 26, 26, 24, 100, ()))
    small, enough = (judge.judged(Answer(packets, True, 50)) for packets in (20, 30))
    assert small["short_percent"] > 1 and small["off_percent"] == pytest.approx(100 * (20 / 26 - 1))
    assert enough["short_percent"] < 0 and enough["off_percent"] > 10
    assert judge.judged(Answer(None, False, 50))["short_percent"] is None


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "answers", "--quick", "--out", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "bufferlab-answers"
    asked = questions(quick=True)
    assert len(document["size"]) == len(document["advise"]) == len(asked) >= 2
    assert {row["seed"] for row in document["size"]} == set(asking.SEEDS[:1])
    assert [row["packets"] for row in document["size"]] == [row["packets"] for row in document["advise"]]
    assert {claim["verdict"] for claim in document["claims"]} == {"agrees"}
    assert {row["rule"] for row in document["rules"]} >= {"bdp", "stanford"}
    assert (tmp_path / "answers.png").stat().st_size > 0
    (ours,) = (row for row in document["summary"] if row["who"] == "`bufferlab size`")
    assert ours["answers"] == ours["near"] == len(asked) and ours["missed"] == 0


@pytest.mark.parametrize("figure", ["size", "advise"])
def test_the_recorded_answers_keep_what_is_promised(figure: str) -> None:
    """At least 95 % are within 10 % or a packet of the truth, and at most 5 % miss a target."""
    (document,) = (each for each in bundled_documents() if each.name == "answers")
    measured = load(document, document.figures[figure])
    assert measured is not None and measured.points.height >= 30
    near = (measured.points["off_percent"].abs() <= 10).sum()
    missed = (measured.points["short_percent"] > 0).sum()
    assert near >= 0.95 * measured.points.height
    assert missed <= 0.05 * measured.points.height
