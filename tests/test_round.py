"""What is shown of a round of runs."""

from __future__ import annotations

import pytest

from bufferlab.progress import Round, progress_text


@pytest.mark.parametrize(
    ("passed_s", "text"),
    [
        (3.0, "3 of 14 runs, 21 % done, about 11 s left"),
        (2.7, "3 of 14 runs"),
        (60.0, "3 of 14 runs, 21 % done, about 4 min left"),
        (24.0, "3 of 14 runs, 21 % done, about 88 s left"),
    ],
)
def test_time_left_is_shown_if_it_is_notable(passed_s: float, text: str) -> None:
    assert progress_text("3/14", 3 / 14, passed_s) == text


def test_nothing_is_left_after_the_last_run() -> None:
    assert progress_text("14/14", 1.0, 1000.0) == "14 of 14 runs"
    assert progress_text("1/1", 1.0, 1000.0) == "1 of 1 run"


def test_runs_that_failed_are_counted() -> None:
    assert progress_text("3/14, 1 failed", 0.5, 2.0) == "3 of 14 runs, 1 failed"


def test_runs_under_way_count() -> None:
    assert progress_text("0/2", 0.25, 29.0) == "0 of 2 runs, 25 % done, about 87 s left"
    assert progress_text("0/2", 0.0, 30.0) == "0 of 2 runs"


def test_a_round_tells_of_each_run_and_in_between_at_times(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now_s)
    shown: list[str] = []
    bar = Round(shown.append)
    for tick in range(31):  # a run ends after 2 s
        now_s = tick / 10
        bar.update(now_s / 40, "1/14" if tick >= 20 else "0/14")
    assert [text.partition(" runs")[0] for text in shown] == [
        *["0 of 14"] * 2,
        *["1 of 14"] * 2,
    ]
