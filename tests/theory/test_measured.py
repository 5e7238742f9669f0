"""The estimator of a from samples, on windows whose a is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bufferlab.theory.measured import measure_characteristic
from bufferlab.theory.protocols import get_protocol


def _sawteeth(name: str, epochs: int, samples: int) -> tuple[list[float], list[float]]:
    """A window over several epochs, after a rise that belongs to none."""
    epoch = get_protocol(name).epoch(100.0, 0.1)
    times, windows = [0.0, 1.0], [1.0, 100.0]
    for number in range(epochs):
        start = 1.0 + number * epoch.duration_s
        inside = np.linspace(0.0, epoch.duration_s, samples)
        times += [start + (float(time) or 1e-9) for time in inside]
        windows += [epoch.growth(float(time)) for time in inside]
    keep = np.concatenate([[True], np.diff(times) > 0])
    return list(np.asarray(times)[keep]), list(np.asarray(windows)[keep])


@pytest.mark.parametrize("name", ["reno", "cubic-0.8", "cubic-0.7", "ctcp", "scalable"])
def test_it_finds_the_characteristic_value_of_a_known_window(name: str) -> None:
    times, windows = _sawteeth(name, epochs=6, samples=400)
    found = measure_characteristic(times, windows)
    protocol = get_protocol(name)
    assert found.characteristic == pytest.approx(protocol.characteristic(), rel=2e-3)
    assert found.overall == pytest.approx(protocol.characteristic(), rel=1e-2)
    assert found.mean == pytest.approx(protocol.epoch(100.0, 0.1).moments.mean, rel=1e-2)
    assert found.beta == pytest.approx(protocol.beta, rel=1e-2)
    assert found.epochs == 5


def test_a_linear_sawtooth_exactly() -> None:
    # two complete epochs from 50 to 100 in a second each, and unfinished ones at both ends
    times = [0.0, 0.9, 1.0, 1.9, 2.0, 2.9, 3.0, 3.5]
    windows = [20.0, 100.0, 50.0, 100.0, 50.0, 100.0, 50.0, 70.0]
    found = measure_characteristic(times, windows)
    assert found.characteristic == pytest.approx(1 / (3 * math.sqrt(3)))
    assert (found.mean, found.beta, found.epochs) == pytest.approx((75.0, 0.5, 2))
    assert found.epoch_mean_s == pytest.approx(0.9)


@settings(max_examples=30)
@given(scale=st.floats(0.01, 1e6))
def test_the_unit_of_the_window_does_not_matter(scale: float) -> None:
    times, windows = _sawteeth("reno", epochs=3, samples=20)
    plain = measure_characteristic(times, windows)
    scaled = measure_characteristic(times, np.asarray(windows) * scale)
    assert scaled.characteristic == pytest.approx(plain.characteristic)
    assert scaled.epochs == plain.epochs


@pytest.mark.parametrize(
    ("times", "windows", "message"),
    [
        ([0.0, 1.0], [1.0, 2.0], "two congestion events"),
        ([0.0, 0.0], [1.0, 2.0], "increase"),
        ([0.0, 1.0, 2.0], [1.0, 2.0], "same length"),
        ([0.0, 1.0], [1.0, 0.0], "positive"),
        ([0.0, 1.0, 2.0, 3.0], [9.0, 4.0, 9.0, 4.0], "^$"),
    ],
)
def test_samples_that_say_nothing_are_refused(times: list[float], windows: list[float], message: str) -> None:
    if message == "^$":  # an epoch of two samples is enough
        assert measure_characteristic(times, windows).epochs == 1
        return
    with pytest.raises(ValueError, match=message):
        measure_characteristic(times, windows)


def test_a_fall_in_steps_is_one_event_from_its_peak() -> None:
    """Proportional rate reduction brings a window down over a round trip; the steps are in no epoch."""
    times = [0.0, 1.0, 1.1, 1.2, 2.2, 2.3, 2.4, 3.4, 3.5]
    windows = [20.0, 100.0, 70.0, 50.0, 100.0, 80.0, 50.0, 100.0, 50.0]
    found = measure_characteristic(times, windows)
    assert (found.epochs, found.beta, found.mean) == pytest.approx((2, 0.5, 75.0))
    assert found.characteristic == pytest.approx(1 / (3 * math.sqrt(3)))
