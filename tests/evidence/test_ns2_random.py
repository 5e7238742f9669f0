"""ns-2's random numbers, against what ns-2 2.35 itself prints."""

from __future__ import annotations

from itertools import islice

import pytest

from bufferlab.evidence.ns2.ns2_random import mrg32k3a, uniform


@pytest.mark.parametrize(
    ("seed", "drawn"),
    [
        (1, [0.001697884873346372, 2.7794035793186183, 0.071023302185825685]),
        (2, [0.0033694109895124153, 0.55880716096554284, 0.14202024328616458]),
        (4, [0.0067124608935380638, 1.117587960845599, 0.2840404889006356]),
    ],
)
def test_starts_are_those_that_ns2_draws(seed: int, drawn: list[float]) -> None:
    # printed by: set rng [new RNG]; $rng seed SEED; puts [format %.17g [$rng uniform 0 5]]
    assert uniform(seed, 5.0, 3) == pytest.approx(drawn, rel=1e-15)


def test_the_generator_fills_the_unit_interval() -> None:
    numbers = list(islice(mrg32k3a(12345), 20_000))
    assert 0 < min(numbers) < 1e-3
    assert 1 - 1e-3 < max(numbers) < 1
    assert sum(numbers) / len(numbers) == pytest.approx(0.5, abs=0.01)


def test_the_generator_starts_as_its_author_says() -> None:
    # L'Ecuyer et al. 2002: MRG32k3a with all seeds 12345 gives 0.127011, 0.318527, 0.309186
    assert list(islice(mrg32k3a(12345), 3)) == pytest.approx([0.127011, 0.318527, 0.309186], abs=1e-6)
