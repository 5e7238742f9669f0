"""Where users fare no better at a few delays, the least delay need not be searched."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bufferlab.render.advise.view import advice_view
from bufferlab.scenario import Scenario
from bufferlab.stats import Estimate
from bufferlab.studies.advise.advising import advise
from bufferlab.studies.advise.around import Around, looked_around
from bufferlab.studies.advise.course import Course
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.targets import Values, make_target

from ...advised import FIFO, FQ_CODEL, advised

GOODPUT = Aspect("throughput", "goodput", "goodput_bps", "more")
CALLS = Aspect("calls", "call: rating R", "call_r", "more")
EXAMPLES = Path(__file__).parents[3] / "examples"

BUSY = make_target("utilization", 0.9)

ANSWER: list[Values] = [{"goodput_bps": 10e6, "call_r": 90.0, "utilization": 0.95}] * 2


def runs(goodput: float, call_r: float = 90.0, used: float = 0.95) -> list[Values]:
    return [
        {"goodput_bps": goodput * (1 + by), "call_r": call_r, "utilization": used} for by in (-0.01, 0.01)
    ]


def around(measured: dict[int, list[Values]], **weights: float) -> Around:
    asked = dict.fromkeys(measured, (BUSY,))
    kinds = {"throughput": 1.0, "calls": 1.0} | weights
    return looked_around(measured, ANSWER, asked, [GOODPUT, CALLS], kinds)  # type: ignore[arg-type]


def test_what_is_best_of_those_that_meet_is_kept() -> None:
    found = around({400: runs(11e6, used=0.8), 3000: runs(9e6), 20_000: runs(8e6)})
    assert found.tried == 3 and found.best == 3000
    assert found.gain == pytest.approx(1.1**0.5 - 1, abs=1e-3)
    assert around({400: runs(9e6, used=0.8)}).best is None


@pytest.mark.parametrize(
    ("goodput", "usual_meets", "promises"),
    [(10e6, True, False), (10.8e6, True, True), (9.5e6, False, True), (8e6, False, False)],
)
def test_a_search_is_worth_it_where_users_may_notice(
    goodput: float, usual_meets: bool, promises: bool
) -> None:
    found = around({3000: runs(8e6), 20_000: runs(goodput)})
    assert found.is_promising(usual_meets=usual_meets) == promises


def test_what_decides_first_is_looked_at_alone() -> None:
    traded = {3000: runs(5e6, call_r=95.0)}
    assert not around(traded).is_promising(usual_meets=True)
    assert around(traded, calls=10.0).gain == pytest.approx(95 / 90 - 1)


def test_delays_that_promise_nothing_are_looked_at_and_not_searched() -> None:
    found = advise(
        EXAMPLES / "home-gateway.toml",
        queues="fq_codel,codel",
        sensitivity=False,
        threads=1,
        progress=False,
        overrides={"run.duration": "15 s"},
    )
    assert found.met and found.answer.setting == found.answer.queue.usual
    assert all(entry.least is None and entry.around >= 5 for entry in found.entries.values())
    looked = f"at {found.answer.around} delays from the least to the largest users fare no better"
    assert f"no other was searched: {looked}" in advice_view(found, explain=True).text(400)


LINE = """
run = { name = "line", duration = "12 s", warmup = "4 s" }
bottleneck = { rate = "5 Mbps", delay = "1 ms", buffer = "40 packets" }
flows = [
  { name = "long", count = 4, rtt = "30 ms", rtt_spread = 0.5, congestion = "cubic" },
  { name = "ping", rtt = "30 ms", application = { kind = "ping", interval = "200 ms" } },
]
"""


def test_quick_searches_a_delay_where_packets_would_wait_long_else() -> None:
    """FQ-CoDel at its usual 5 ms misses the loss by little; a FIFO that meets it has them wait 57 ms."""
    base = Scenario.from_toml(LINE)
    asked: dict[str, Any] = {"queues": "fifo,fq_codel", "quick": True, "threads": 1, "progress": False}
    found = advise(base, ["loss < 2 %"], **asked)
    fifo, usual, own = sorted(found.entries.values(), key=lambda each: (each.queue.knob, each.setting))
    assert fifo.checks[0].met and not usual.checks[0].met and (usual.setting, usual.around) == (5000, 0)
    assert found.answer is own and own.least is not None and own.checks[0].met
    waits = [each.mean("wait_mean_ms").mean or 0.0 for each in (own, fifo)]
    assert waits[0] < 30 < waits[1]
    # where nothing stands, only the usual delay is tried
    early = advise(base, ["loss < 4 %"], **asked)
    assert all(each.least is None for each in early.entries.values() if each.queue.knob == "target")


@pytest.mark.parametrize(("wait_ms", "is_checked"), [(6.02, True), (7.0, False)])
def test_what_misses_a_target_maybe_by_chance_is_run_again_where_users_fare_better(
    wait_ms: float, *, is_checked: bool
) -> None:
    """CAKE was out with a mean wait of 6.08 ms of 6, which 150 runs had shown to be met."""
    better = around_six(FQ_CODEL, wait_ms)
    advice = advised(
        {"fifo": (14, around_six(FIFO, 5.0)), "fq_codel": (5000, better)}, ("wait_mean <= 6 ms",)
    )
    rivals = [dataclasses.replace(each, behind=Estimate(-0.5, 0.1)) for each in advice.choice.rivals]
    choice = dataclasses.replace(advice.choice, rivals=tuple(rivals))
    checked: list[str] = []
    course = SimpleNamespace(
        settings=SimpleNamespace(check=lambda entry, _: checked.append(entry.queue.name)),
        say=lambda _: None,
        _conclude=lambda _: advice,
        _surely_misses=Course._surely_misses,
    )
    Course._reconsidered(course, dataclasses.replace(advice, choice=choice))  # type: ignore[arg-type]
    assert checked == (["fq_codel"] if is_checked else [])


def around_six(values: Values, wait_ms: float) -> list[Values]:
    """Runs whose mean wait scatters by 2 %."""
    return [{**values, "wait_mean_ms": wait_ms * by} for by in (0.98, 0.99, 1.0, 1.01, 1.02)]
