"""A letter for what load adds to a round trip.

Source: DSLReports, "Bufferbloat Grades" (https://www.dslreports.com/faq/17930): the increase of the
round-trip delay when the connection is fully utilized; below 5 ms A+, 30 ms A, 60 ms B, 200 ms C, 400 ms D,
else F (there is no E). DSLReports takes the mean of both directions' increases; here each group has a grade
of its own.
"""

from __future__ import annotations

from typing import Final

BOUNDS_MS: Final = ((5.0, "A+"), (30.0, "A"), (60.0, "B"), (200.0, "C"), (400.0, "D"))
"""Increases below which a grade is given, ms."""

WORST: Final = "F"


def grade(increase_ms: float) -> str:
    """The grade of an increase of the round-trip time under load.

    >>> grade(4.9), grade(5.0), grade(400.0)
    ('A+', 'A', 'F')
    """
    return next((letter for bound_ms, letter in BOUNDS_MS if increase_ms < bound_ms), WORST)
