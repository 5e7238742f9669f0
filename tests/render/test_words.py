"""How a value is said beside another one."""

from __future__ import annotations

import pytest

from bufferlab.render.words import asked, beside
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS
from bufferlab.studies.targets import make_target


@pytest.mark.parametrize(
    ("whose", "said"),
    [("today", "9 ms (today 47)"), ("", "9 ms instead of 47"), ("asked", "9 ms (asked 47)")],
)
def test_it_is_said_whose_the_second_value_is_where_that_is_known(whose: str, said: str) -> None:
    assert beside(MILLISECONDS, 9.0, 47.0, whose) == said


def test_what_rounds_to_the_same_is_not_said_to_differ() -> None:
    assert beside(FRACTION, 0.0150, 0.0151, "today", digits=2) == "1.5 %, as today"
    assert beside(FRACTION, 0.0150, 0.0151, digits=2) == "1.5 %, as much"


def test_what_a_target_has_is_said_with_what_was_asked_for() -> None:
    target = make_target("loss", 0.01)
    assert asked(target, 0.03) == "loss 3 % (asked 1 %)"
    assert asked(target, 0.017394) == "loss 1.74 % (asked 1 %)"  # as the row of the link has it
    assert (
        asked(target, 0.01004, is_assumed=True, more=", else 2 %")
        == "loss 1.004 % (our default 1 %, else 2 %)"
    )
