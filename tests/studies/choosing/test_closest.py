"""What is closest to targets that nothing meets: how far each is off, and what it loses."""

from __future__ import annotations

import pytest

from bufferlab.studies.choosing.closest import closest, off
from bufferlab.studies.targets import parse_targets

BOUNDS = ("wait_mean <= 10 ms", "loss <= 1 %")


def near(targets: tuple[str, ...], **given: tuple[float, float]) -> list[str]:
    """The closest of settings with a mean wait, ms, and a loss."""
    asked = parse_targets(targets, [])
    return closest(
        {name: off([{"wait_mean_ms": wait, "loss": loss}], asked) for name, (wait, loss) in given.items()}
    )


def test_what_loses_half_is_closest_though_it_waits_twice_the_bound() -> None:
    """Both are as near by their sums, and the one that came first in the order of queues lost 6.8 %."""
    assert near(BOUNDS, fifo=(10.0, 0.068), fq_codel=(20.0, 0.034)) == ["fq_codel"]
    assert near(BOUNDS, fifo=(10.0, 0.068), fq_codel=(20.0, 0.05)) == ["fifo"]
    assert near(BOUNDS, fifo=(10.0, 0.019), fq_codel=(12.0, 0.014)) == ["fifo", "fq_codel"]  # little of each


@pytest.mark.parametrize(("wait_ms", "taken"), [(16.0, ["fq_codel"]), (60.0, ["fifo"])])
def test_a_loss_counts_where_nobody_bounds_it(wait_ms: float, taken: list[str]) -> None:
    """As if 2 % were the bound: a loss of 6.8 % is as far as a wait of 34 ms."""
    assert near(BOUNDS[:1], fifo=(10.5, 0.068), fq_codel=(wait_ms, 0.02)) == taken
