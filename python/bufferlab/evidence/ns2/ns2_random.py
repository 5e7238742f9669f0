"""ns-2's random numbers, so that a run can start its flows at the very times of an ns-2 run.

ns-2 2.35 draws from L'Ecuyer's combined multiple recursive generator MRG32k3a (P. L'Ecuyer, Good parameters
and implementations for combined multiple recursive random number generators, Operations Research 47(1),
1999), with all six words of its state equal to the seed, and makes a float of an integer below 2³¹ − 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

_MODULUS_1 = 4_294_967_087
_MODULUS_2 = 4_294_944_443
_NORM = 2.328306549295727688e-10
_MAXIMUM = 2_147_483_647


def mrg32k3a(seed: int) -> Iterator[float]:
    """MRG32k3a with all six words of the state equal to `seed`: numbers in (0, 1)."""
    first = [seed] * 3
    second = [seed] * 3
    while True:
        new_1 = (1_403_580 * first[1] - 810_728 * first[0]) % _MODULUS_1
        new_2 = (527_612 * second[2] - 1_370_589 * second[0]) % _MODULUS_2
        first = [first[1], first[2], new_1]
        second = [second[1], second[2], new_2]
        difference = new_1 - new_2 if new_1 > new_2 else new_1 - new_2 + _MODULUS_1
        yield difference * _NORM


def uniform(seed: int, bound: float, count: int) -> list[float]:
    """The first `count` values of `[$rng uniform 0 bound]` in ns-2 after `$rng seed seed`.

    Args:
        seed: ns-2's seed, 1 or more.
        bound: Upper bound, in any unit.
        count: How many.
    """
    return [bound * (int(_MAXIMUM * draw) / _MAXIMUM) for draw in islice(mrg32k3a(seed), count)]
