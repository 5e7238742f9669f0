"""The array type of the sizing formulas, and their common checks of arguments."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


def positive(name: str, value: ArrayLike) -> FloatArray:
    """The value as an array of floats.

    Raises:
        ValueError: An element is not finite and above 0.
    """
    return _checked(name, value, 0.0, "finite and positive", strict=True)


def not_negative(name: str, value: ArrayLike) -> FloatArray:
    """The value as an array of floats.

    Raises:
        ValueError: An element is not finite and 0 or more.
    """
    return _checked(name, value, 0.0, "finite and not negative", strict=False)


def flow_numbers(value: ArrayLike) -> FloatArray:
    """Numbers of flows as an array of floats.

    Raises:
        ValueError: An element is not finite and 1 or more.
    """
    return _checked("flows", value, 1.0, "1 or more", strict=False)


def fraction(name: str, value: ArrayLike) -> FloatArray:
    """A share in [0, 1) as an array of floats.

    Raises:
        ValueError: An element is outside these bounds.
    """
    share = not_negative(name, value)
    if not np.all(share < 1.0):
        raise ValueError(f"{name} must be below 1, not {value!r}")
    return share


def _checked(name: str, value: ArrayLike, least: float, words: str, *, strict: bool) -> FloatArray:
    array = np.asarray(value, dtype=np.float64)
    inside = array > least if strict else array >= least
    if array.size == 0 or not np.all(np.isfinite(array) & inside):
        raise ValueError(f"{name} must be {words}, not {value!r}")
    return array
