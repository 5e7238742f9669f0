"""The script's plain bisection."""

from __future__ import annotations

import math

import pytest

from bufferlab.evidence.sizing_mininet.search.live import Counters, Timing
from bufferlab.evidence.sizing_mininet.search.script import Procedure, bisected


class Staircase:
    """A link that carries 1 Mbps from a buffer on, and 0.9 Mbps below it; one reading may be spoiled."""

    def __init__(self, enough: int, spoiled_s: float = math.inf) -> None:
        self.now_s = 0.0
        self.enough = enough
        self.spoiled_s = spoiled_s
        self.packets = 10**6
        self.sent_bits = 0.0

    def set_buffer(self, packets: int) -> None:
        self.packets = packets

    def advance(self, until_s: float) -> None:
        rate_bps = 1e6 if self.packets >= self.enough else 0.9e6
        if self.now_s >= self.spoiled_s:
            rate_bps, self.spoiled_s = 0.0, math.inf
        self.sent_bits += rate_bps * (until_s - self.now_s)
        self.now_s = until_s

    def counters(self) -> Counters:
        return Counters(round(self.sent_bits / 8), 0, 0, 0, 0.0)


PROCEDURE = Procedure(
    target=0.98,
    trial=Timing(settle_s=3.0, reading_s=1.0, readings=3),
    pause_s=1.0,
    calibration=Timing(settle_s=3.0, reading_s=1.0, readings=40),
    skip=10,
)


@pytest.mark.parametrize(("enough", "answer"), [(453, 453), (300, 300), (59, 59), (3, 4), (2, 2), (1, 2)])
def test_a_script_s_bisection_may_be_one_too_high_and_never_says_one(enough: int, answer: int) -> None:
    found = bisected(Staircase(enough), 1, 453, PROCEDURE)
    assert found.packets == answer
    assert found.full_rate_bps == pytest.approx(1e6)
    assert len(found.trials[0][1].readings_bps) == 30


def test_a_script_s_first_trials_are_those_of_its_source() -> None:
    found = bisected(Staircase(2), 1, 453, PROCEDURE)
    assert [packets for packets, _ in found.trials] == [453, 227, 114, 57, 29, 15, 8, 4, 2]
    # 3 s, 40 readings, then 3 s, 3 readings and a pause
    assert [sample.began_s for _, sample in found.trials[:3]] == [0.0, 43.0, 50.0]


def test_a_median_of_three_bears_one_spoiled_reading() -> None:
    assert bisected(Staircase(59, spoiled_s=46.5), 1, 453, PROCEDURE).packets == 59
