"""A verdict for each figure, and the command with a real kernel."""

from __future__ import annotations

import pytest

from bufferlab import display
from bufferlab.kernel.cache import Kernel
from bufferlab.stats import estimate
from bufferlab.studies.crosscheck import COMPARED, Compared, Row, Verdict, crosscheck

from .conftest import link


def compared(name: str) -> Compared:
    return next(each for each in COMPARED if each.name == name)


@pytest.mark.parametrize(
    ("name", "ours", "kernels", "verdict"),
    [
        ("utilization", [0.99], [0.981], Verdict.AGREES),
        ("utilization", [0.99], [0.97], Verdict.DIFFERS),
        ("wait_mean_ms", [10.0], [10.9], Verdict.AGREES),
        ("wait_mean_ms", [10.0, 10.1, 9.9], [12.0, 12.1, 11.9], Verdict.DIFFERS),
        ("wait_mean_ms", [8.0, 12.0], [9.0, 15.0], Verdict.UNDECIDED),  # chance explains it
        ("loss", [0.01], [0.0116], Verdict.DIFFERS),
        ("loss", [0.0], [0.0], Verdict.AGREES),
        ("largest_share", [0.50], [0.54], Verdict.AGREES),
        ("largest_share", [None], [None], None),
    ],
)
def test_margins_and_chance_decide(
    name: str, ours: list[float | None], kernels: list[float | None], verdict: Verdict | None
) -> None:
    assert Row(compared(name), estimate(ours), estimate(kernels)).verdict is verdict


def test_bounds_are_stated_in_words() -> None:
    assert [each.bound for each in COMPARED] == ["1 point", "10%", "15%", "5 points"]


def test_a_reno_flow_agrees(built: Kernel) -> None:
    found = crosscheck(link(), seeds=1, by=built)
    document = found.document()
    assert [row["metric"] for row in document["rows"]] == ["utilization", "wait_mean_ms", "loss"]
    assert [row.verdict for row in found.rows[:2]] == [Verdict.AGREES, Verdict.AGREES]
    shown = display.text(found)
    assert "simulator" in shown and built.title in shown
