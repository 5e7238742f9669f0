"""Where users fare no better at a few delays, the least delay need not be searched."""

from __future__ import annotations

from pathlib import Path

import pytest

from bufferlab.render.advise.view import advice_view
from bufferlab.studies.advise.advising import advise
from bufferlab.studies.advise.around import Around, looked_around
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.targets import Values, make_target

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
