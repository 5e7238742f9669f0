"""The search on links made of formulas, and what it says about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from bufferlab.evidence.sizing_mininet.search.least import (
    SCAN_ROUNDS,
    Effort,
    Evaluate,
    Found,
    search_least,
    size_grid,
)
from bufferlab.evidence.sizing_mininet.search.sample import Sample
from bufferlab.progress import progress_bar

RATE_BPS = 1e8
Law = Callable[[int, int], float]
"""Utilization of a size in a round."""


def link(law: Law) -> tuple[Evaluate, list[tuple[tuple[int, ...], int]]]:
    """A link with this utilization, 1 ms of wait a packet and a loss of 0.1 over the size; and its calls."""
    calls: list[tuple[tuple[int, ...], int]] = []

    def evaluate(sizes: Sequence[int], number: int) -> list[Sample]:
        calls.append((tuple(sizes), number))
        return [Sample(RATE_BPS * law(s, number), 0.1 / s, s * 1.0, simulated_s=10, cpu_s=0.5) for s in sizes]

    return evaluate, calls


def run(law: Law, target: float, *, effort: Effort | None = None, sizes: int = 1000) -> Found:
    """Search it; 1000 packets are plenty."""
    effort = effort or Effort()
    evaluate, _ = link(law)
    with progress_bar("", visible=False) as bar:
        return search_least(
            evaluate, target, size_grid(1, sizes, effort.resolution), 1000, effort=effort, bar=bar
        )


def hyperbola(size: int, _number: int) -> float:
    """99 % at 99 packets, full at 900."""
    return 1.0 - 1.0 / (1.0 + size) if size < 900 else 1.0


def test_the_least_buffer_its_interval_and_its_price() -> None:
    found = run(hyperbola, 0.99)
    assert found.reached
    assert not found.warnings
    assert found.estimate is not None and found.high is not None
    assert found.low <= 99 <= found.high <= found.low * 1.1 + 1
    assert found.low <= found.estimate <= found.high
    assert found.spent == {
        "measurements": found.course.height,
        "simulated_s": 10.0 * found.course.height,
        "cpu_s": 0.5 * found.course.height,
    }
    assert found.course["phase"].to_list()[:5] == ["scan"] * 5


def test_full_is_what_plenty_of_buffer_gives_and_a_bad_sample_of_it_does_not_matter() -> None:
    found = run(lambda size, number: 0.2 if (size, number) == (1000, 2) else 0.9 * hyperbola(size, 0), 0.99)
    assert found.full_rate_bps == pytest.approx(0.9 * RATE_BPS)
    assert found.low <= 99 <= (found.high or 0)


def test_what_no_size_reaches() -> None:
    found = run(lambda size, _: 1.0 if size == 1000 else 0.5, 0.99, sizes=500)
    assert (found.estimate, found.high) == (None, None)
    assert found.low > 400


def test_what_the_smallest_size_reaches_already() -> None:
    found = run(lambda _size, _number: 1.0, 0.99)
    assert (found.estimate, found.low, found.high) == (1, 1, 1)


def test_all_sizes_of_a_round_share_its_number_and_no_number_comes_twice() -> None:
    evaluate, calls = link(hyperbola)
    with progress_bar("", visible=False) as bar:
        search_least(evaluate, 0.99, size_grid(1, 500, 0.1), 1000, effort=Effort(), bar=bar)
    assert [number for _, number in calls] == list(range(len(calls)))
    assert all(len(set(sizes)) == len(sizes) for sizes, _ in calls)
    assert all(1000 in sizes for sizes, _ in calls[:SCAN_ROUNDS])
    assert all(max(sizes) <= 500 for sizes, _ in calls[SCAN_ROUNDS:])


def test_a_utilization_that_falls_is_a_warning() -> None:
    found = run(lambda size, _: 0.97 if size > 300 else hyperbola(size, 0) * 0.99, 0.9)
    assert any("utilization is not monotonic in the buffer" in warning for warning in found.warnings)
    assert not run(lambda size, number: hyperbola(size, 0) - 1e-3 * (number % 2) * (size > 300), 0.9).warnings


def test_answers_that_turn_round_are_a_warning() -> None:
    """Full with 1000 packets and from 8 to 20, not in between: the search ends at one of the two."""
    found = run(lambda size, _: 1.0 if 8 <= size <= 20 or size > 300 else 0.9, 0.99)
    assert any(
        "not monotonic in the buffer, and the answer is one of several" in each for each in found.warnings
    )


def test_rounds_that_run_out_leave_a_wide_interval() -> None:
    found = run(hyperbola, 0.99, effort=Effort(rounds=9))
    assert not found.reached
    assert found.low <= 99 <= (found.high or 1000)
