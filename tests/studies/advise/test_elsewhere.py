"""What users wait for at other links is reported, with how much; other links are not."""

from __future__ import annotations

import pytest

from bufferlab.experiment.simulation import simulate
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.advising import advise
from bufferlab.studies.advise.elsewhere import FELT_MS, felt_at_links
from bufferlab.studies.advise.question import prepared
from bufferlab.studies.targets import mean_over_runs

from ...small import LINE, ROW


def advised(scenario: str, link: str) -> Advice:
    return advise(
        Scenario.from_toml(scenario), ["utilization >= 10 %"], link=link, queues="fifo", quick=True, threads=1
    )


def test_a_call_that_waits_at_another_link_is_reported() -> None:
    found = advised(ROW, "near")
    (wait,) = (each for each in found.elsewhere if each.what == "wait")
    assert (wait.group, wait.link) == ("call", "far")
    assert wait.there >= FELT_MS and wait.there > wait.total / 2
    # it is what the runs measure there
    changed = found.answer.queue.scenario(prepared(Scenario.from_toml(ROW), None), 0, found.answer.setting)
    runs = []
    for seed in range(1, 4):
        result = simulate(changed, seed)
        assert result is not None
        runs.append(felt_at_links(result))
    waits = [run["wait call far"] or 0.0 for run in runs]
    assert wait.there == pytest.approx(sum(waits) / 3, rel=0.5)


def test_where_the_wait_is_here_nothing_is_reported() -> None:
    assert advised(ROW, "far").elsewhere == ()


def test_a_call_that_crosses_the_other_link_only_is_reported_too() -> None:
    found = advised(LINE, "upload")
    assert {(each.group, each.link) for each in found.elsewhere if each.what == "wait"} == {
        ("heard", "download")
    }
    assert mean_over_runs("utilization", found.answer.values).mean is not None
