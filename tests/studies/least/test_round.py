"""What is shown of a round of runs."""

from __future__ import annotations

import pytest

from bufferlab.studies.least.round import progress_text


@pytest.mark.parametrize(
    ("passed_s", "text"),
    [
        (3.0, "this round: 3 of 14 runs, about 11 s left"),
        (2.7, "this round: 3 of 14 runs"),
        (60.0, "this round: 3 of 14 runs, about 4 min left"),
        (24.0, "this round: 3 of 14 runs, about 88 s left"),
    ],
)
def test_time_left_is_shown_if_it_is_notable(passed_s: float, text: str) -> None:
    assert progress_text(3, 14, passed_s) == text


def test_nothing_is_left_after_the_last_run() -> None:
    assert progress_text(14, 14, 1000.0) == "this round: 14 of 14 runs"
