"""Plain bisection."""

from __future__ import annotations

import math

import pytest

from bufferlab.searching.plain import interpolated


def test_interpolation_finds_where_a_curve_reaches_the_target() -> None:
    asked: list[int] = []

    def curve(packets: int) -> float:
        asked.append(packets)
        return 1 - 1 / (1 + packets)

    grid = [round(1.25**power) for power in range(4, 40)]
    assert interpolated(curve, grid, 0.99) == pytest.approx(99, rel=0.02)
    assert len(set(asked)) <= 7
    assert interpolated(curve, grid, 0.1) == grid[0]
    assert interpolated(curve, grid, 1.0) == math.inf
