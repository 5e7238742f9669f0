"""Grades, responsiveness and calls, by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from bufferlab.results.latency.bloat import grade
from bufferlab.results.latency.emodel import G711, G729A, rating
from bufferlab.results.latency.responsiveness import responsiveness, trimmed_mean
from bufferlab.results.latency.voice import assess, burst_ratio, codec_of, mean_of
from bufferlab.scenario import Scenario

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedApplication

MS = 10**9


@pytest.mark.parametrize(
    ("below_ms", "letter", "next_letter"),
    [(5, "A+", "A"), (30, "A", "B"), (60, "B", "C"), (200, "C", "D"), (400, "D", "F")],
)
def test_grades_change_where_dslreports_says(below_ms: float, letter: str, next_letter: str) -> None:
    assert grade(below_ms - 0.001) == letter
    assert grade(below_ms) == next_letter


def test_a_shorter_round_trip_under_load_is_no_bloat() -> None:
    assert grade(-1.0) == "A+"


def test_responsiveness_is_the_mean_of_both_kinds_of_probes() -> None:
    found = responsiveness([20.0, 40.0], [100.0])
    assert found.foreign == 60_000 / 30
    assert found.loaded == 600
    assert found.rpm == (2000 + 600) / 2


def test_responsiveness_needs_both_kinds() -> None:
    assert responsiveness([20.0], []).rpm is None
    assert responsiveness([], [20.0]).foreign is None


def test_the_largest_twentieth_is_trimmed() -> None:
    assert trimmed_mean([1000.0, *range(1, 20)]) == 10
    assert trimmed_mean([3.0]) == 3
    assert trimmed_mean([]) is None


def every_20_ms(packets: int) -> NDArray[np.float64]:
    return np.arange(packets, dtype=np.float64) * 0.02


def call(packet: str = "200 B", **changes: object) -> ResolvedApplication:
    udp = {"kind": "udp", "record": True, "interval": "20 ms", "packet": packet, **changes}
    flows = [{"rtt": "20 ms", "application": udp}]
    bottleneck = {"rate": "1 Mbps", "buffer": "10 packets"}
    return Scenario.from_dict({"run": {"duration": "1 s"}, "bottleneck": bottleneck, "flows": flows}).flows[
        0
    ]["application"]


def test_codecs_by_their_rates() -> None:
    assert codec_of(call()) is G711
    assert codec_of(call("60 B")) is G729A
    assert codec_of(call("61 B")) is G711
    assert codec_of(call("40 B")) is None
    assert codec_of(call(record=False)) is None
    assert codec_of(call(arrivals="poisson")) is None
    assert codec_of(call(interval="201 ms")) is None  # RFC 3551, section 4.2
    assert codec_of({"kind": "bulk"}) is None


def test_a_call_without_trouble_has_the_best_rating() -> None:
    sent = every_20_ms(100)
    found = assess(sent, sent + 0.030, 20 * MS, G711, reached_s=10)
    assert found is not None
    assert (found.lost, found.late, found.burst_ratio) == (0, 0, 1)
    assert found.delay_ms == pytest.approx(50)  # 20 ms of speech in a packet, 30 ms on the way
    assert found.buffer_ms == pytest.approx(0)
    assert found.rating == pytest.approx(93.2, abs=0.05)


def test_a_straggler_is_late_rather_than_waited_for() -> None:
    sent = every_20_ms(1000)
    came = sent + 0.030
    came[500] += 0.470
    found = assess(sent, came, 20 * MS, G711, reached_s=30)
    assert found is not None
    assert found.late == 0.001
    assert found.rating == pytest.approx(rating(50, 0.001))


def test_what_is_lost_and_what_is_under_way() -> None:
    sent = every_20_ms(10)
    came = sent + 0.030
    came[[3, 4, 9]] = np.nan
    found = assess(sent, came, 20 * MS, G729A, reached_s=0.2)
    assert found is not None
    assert found.lost == pytest.approx(2 / 9)  # the last may still come
    assert found.burst_ratio == pytest.approx(2 * (1 - 2 / 9))
    assert found.delay_ms == pytest.approx(20 + 5 + 30)
    assert assess(sent, np.full(10, np.nan), 20 * MS, G711, reached_s=1) is None  # it may still come


def test_a_call_of_which_nothing_came_is_as_bad_as_can_be() -> None:
    sent = every_20_ms(10)
    dead = assess(sent, np.full(10, np.nan), 20 * MS, G711, reached_s=2)
    clear = assess(sent, sent + 0.030, 20 * MS, G711, reached_s=2)
    assert dead is not None and clear is not None
    assert (dead.rating, dead.score, dead.lost) == (0.0, 1.0, 1.0)
    assert mean_of([dead, clear], "rating") == pytest.approx(clear.rating / 2)
    assert mean_of([dead, clear], "delay_ms") == clear.delay_ms
    assert mean_of([dead], "delay_ms") is None


def test_a_buffer_of_the_best_length() -> None:
    """Half of the packets take 10 ms longer: worth waiting for, as below 100 ms waiting costs nothing."""
    sent = every_20_ms(100)
    found = assess(sent, sent + 0.02 + 0.01 * (np.arange(100) % 2), 20 * MS, G711, reached_s=10)
    assert found is not None
    assert (found.late, found.lost) == (0, 0)
    assert found.buffer_ms == pytest.approx(10)


def test_burst_ratio_of_all_and_none() -> None:
    assert burst_ratio(np.array([True, True])) == 1
    assert burst_ratio(np.array([False, False])) == 1
