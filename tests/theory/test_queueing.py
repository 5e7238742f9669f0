"""Elementary queues on worked values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bufferlab.theory import queueing


def test_md1_and_mm1_at_load_four_fifths() -> None:
    assert queueing.md1_mean_wait_s(0.8, 1.0) == pytest.approx(2.0)
    assert queueing.md1_mean_queue_packets(0.8, 1.0) == pytest.approx(1.6)
    assert queueing.mm1_mean_wait_s(0.8, 1.0) == pytest.approx(4.0)


def test_md1_scales_with_the_service_time() -> None:
    assert queueing.md1_mean_wait_s(8000.0, 1e-4) == pytest.approx(2e-4)


def test_md1_distribution_starts_as_in_the_textbook() -> None:
    load = 0.8
    chance = queueing.md1_system_distribution(load, 3)
    grown = math.exp(load)
    assert chance == pytest.approx(
        [1 - load, (1 - load) * (grown - 1), (1 - load) * grown * (grown - 1 - load)]
    )


@pytest.mark.parametrize("load", [0.3, 0.8, 0.95])
def test_md1_distribution_sums_to_one_and_has_the_mean_of_pollaczek_and_khinchine(load: float) -> None:
    chance = queueing.md1_system_distribution(load, 600)
    assert chance.sum() == pytest.approx(1.0, abs=1e-9)
    expected = load + queueing.md1_mean_queue_packets(load, 1.0)
    assert np.dot(np.arange(600), chance) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("load", "capacity", "blocking"),
    [(0.5, 3, 0.125 / 1.875), (1.0, 4, 0.2), (2.0, 3, 8 / 15), (0.7, 1, 0.7 / 1.7), (0.0, 2, 0.0)],
)
def test_mm1k_blocking(load: float, capacity: int, blocking: float) -> None:
    assert queueing.mm1k_blocking(load, capacity) == pytest.approx(blocking)


def test_mm1k_means() -> None:
    # weights 8, 4, 2, 1 of 15
    assert queueing.mm1k_mean_system_packets(0.5, 3) == pytest.approx(11 / 15)
    assert queueing.mm1k_mean_queue_packets(0.5, 3) == pytest.approx(11 / 15 - 7 / 15)
    # Little: 4/15 waiting over an accepted rate of 0.5 * 14/15
    assert queueing.mm1k_mean_wait_s(0.5, 3, 1.0) == pytest.approx((4 / 15) / (0.5 * 14 / 15))


def test_mm1k_with_much_room_is_mm1() -> None:
    assert queueing.mm1k_mean_wait_s(0.8, 400, 1.0) == pytest.approx(queueing.mm1_mean_wait_s(0.8, 1.0))


def test_mm1k_does_not_overflow() -> None:
    assert queueing.mm1k_blocking(10.0, 5000) == pytest.approx(0.9)


def test_unstable_or_impossible_queues_are_refused() -> None:
    with pytest.raises(ValueError, match="load"):
        queueing.md1_mean_wait_s(1.0, 1.0)
    with pytest.raises(ValueError, match="capacity"):
        queueing.mm1k_blocking(0.5, 0)
    with pytest.raises(ValueError, match="count"):
        queueing.md1_system_distribution(0.5, 0)
