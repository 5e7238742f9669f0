"""One Reno flow draws the textbook's sawtooth, and random loss gives the square-root law."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.special import stdtrit

from bufferlab.experiment.run import run
from bufferlab.results.result import RunSet
from bufferlab.theory import tcp_models

RATE_BPS = 20_000_000
WIRE_BYTES = 1000
RATE_PACKETS_S = RATE_BPS / 8 / WIRE_BYTES
PROPAGATION_S = 0.1
RTT_S = PROPAGATION_S + 1 / RATE_PACKETS_S  # a packet's own transmission belongs to the round trip
PIPE_PACKETS = RATE_PACKETS_S * RTT_S


GROWTHS = [("per-ack", 1, 1), ("per-ack", 2, 2), ("per-segment", 2, 1)]
"""What growth counts, segments an acknowledgment covers, round trips that one more segment takes."""


def lone_flow(buffer_packets: int, *, growth: str, delayed_ack: int, duration_s: float) -> RunSet:
    """One flow with SACK at 20 Mbps and 100 ms, out of slow start early."""
    return run(
        {
            "run": {"duration": f"{duration_s:.0f} s", "warmup": f"{duration_s / 4:.0f} s", "seed": 1},
            "bottleneck": {
                "rate": f"{RATE_BPS} bps",
                "delay": "10 ms",
                "buffer": f"{buffer_packets} packets",
            },
            "flows": [
                {
                    "rtt": f"{PROPAGATION_S * 1e3} ms",
                    "segment": "960 B",
                    "header": "40 B",
                    "stack": "rfc",
                    "growth": growth,
                    "delayed_ack": delayed_ack,
                    "initial_ssthresh": round(PIPE_PACKETS),
                }
            ],
        },
        progress=False,
    )


@pytest.mark.parametrize(("growth", "delayed_ack", "trips"), GROWTHS)
@pytest.mark.parametrize("buffer_over_bdp", [0.1, 0.25, 0.5, 0.75, 1.0, 2.0])
def test_sawtooth(buffer_over_bdp: float, growth: str, delayed_ack: int, trips: int) -> None:
    buffer_packets = round(buffer_over_bdp * PIPE_PACKETS)
    tooth = tcp_models.reno_sawtooth(RATE_PACKETS_S, RTT_S, buffer_packets, trips)
    periods = 40
    duration_s = periods * tooth.period_s / 0.75
    runs = lone_flow(buffer_packets, growth=growth, delayed_ack=delayed_ack, duration_s=duration_s)
    queue = runs.queues.row(by_predicate=(pl.col("group") == "all"), named=True)
    # The fluid leaves out the round trip of recovery and what a window in whole segments adds: a few parts in
    # D = 250. A period cut off at either end of the window moves a mean by less than half its swing / 40.
    fluid = 3 / PIPE_PACKETS
    cut = 0.5 / periods
    assert queue["utilization"] == pytest.approx(tooth.utilization, abs=fluid + cut * (1 - tooth.utilization))
    assert queue["wait_mean_ms"] == pytest.approx(
        tooth.wait_mean_s * 1e3, rel=2 * fluid + cut, abs=3e3 / RATE_PACKETS_S
    )
    # one loss a period: whole numbers of them fall into the window
    cuts = runs.flows["recoveries"].item()
    measured_periods = runs[0].measured_s / tooth.period_s
    assert cuts == pytest.approx(measured_periods, abs=1 + measured_periods * 2 * fluid)


def left_of_the_link(share: float, threshold_over_bdp: float) -> float:
    """Utilization by a lone flow that adds a segment a round trip, of whose window a mark leaves this share.

    The window goes from `share * (1 + K)` to `1 + K` bandwidth-delay products, where K is the threshold.
    Below one, a round takes the round-trip time, above it as much longer as the window is larger.
    """
    high = 1 + threshold_over_bdp
    low = share * high
    below = max(0.0, 1 - low)
    return (high**2 - low**2) / 2 / (below + (high**2 - max(low, 1.0) ** 2) / 2)


@pytest.mark.parametrize("threshold_over_bdp", [0.1, 0.25, 0.5, 1.0])
@pytest.mark.parametrize(("ecn", "share"), [("classic", 0.5), ("abe", 0.8)])
def test_sawtooth_of_marks(ecn: str, share: float, threshold_over_bdp: float) -> None:
    threshold_packets = round(threshold_over_bdp * PIPE_PACKETS)
    duration_s = 40 * (1 - share) * (1 + threshold_over_bdp) * PIPE_PACKETS * RTT_S
    runs = run(
        {
            "run": {"duration": f"{duration_s:.0f} s", "warmup": f"{duration_s / 4:.0f} s", "stack": "rfc"},
            "bottleneck": {
                "rate": f"{RATE_BPS} bps",
                "buffer": "3 bdp",
                "mark_above": f"{threshold_packets} packets",
            },
            "flows": [
                {
                    "rtt": f"{PROPAGATION_S * 1e3} ms",
                    "congestion": "reno",
                    "segment": "960 B",
                    "header": "40 B",
                    "ecn": ecn,
                    "growth": "per-segment",
                    "delayed_ack": False,
                    "initial_ssthresh": round(PIPE_PACKETS),
                }
            ],
        },
        progress=False,
    )
    queue = runs.queues.row(by_predicate=(pl.col("group") == "all"), named=True)
    expected = left_of_the_link(share, threshold_over_bdp)
    # as above: the round trip of the echo, whole segments, and a period that the window of time cuts off
    tolerance = 3 / PIPE_PACKETS + 0.5 / 30 * (1 - expected)
    assert queue["utilization"] == pytest.approx(expected, abs=tolerance)
    assert queue["marked_packets"] >= 20
    assert runs.flows["retransmissions"].item() == 0


@pytest.mark.parametrize("loss", [0.0003, 0.001, 0.003])
@pytest.mark.parametrize(("growth", "delayed_ack", "trips"), GROWTHS)
def test_square_root_law_under_random_loss(loss: float, growth: str, delayed_ack: int, trips: int) -> None:
    rtt_s, mss_bytes = 0.05, 1000
    runs = run(
        {
            "run": {"duration": "400 s", "warmup": "20 s", "seed": 1, "stack": "rfc"},
            "bottleneck": {"rate": "10 Gbps", "buffer": "unlimited", "loss": loss},
            "flows": [
                {
                    "count": 8,
                    "rtt": f"{rtt_s * 1e3} ms",
                    "segment": f"{mss_bytes} B",
                    "growth": growth,
                    "delayed_ack": delayed_ack,
                    "ack_delay": "10 ms",
                }
            ],
        },
        seeds=2,
        progress=False,
    )
    constant = {
        1: tcp_models.MATHIS_CONSTANT_RANDOM_PER_SEGMENT,
        2: tcp_models.MATHIS_CONSTANT_RANDOM,
    }[trips]
    law_bps = float(tcp_models.mathis_rate_bps(mss_bytes, rtt_s, loss, constant))
    goodputs = runs.flows["goodput_bps"].to_numpy()
    half = stdtrit(goodputs.size - 1, 0.9995) * goodputs.std(ddof=1) / np.sqrt(goodputs.size)
    assert half < 0.06 * law_bps, "too few losses to tell anything"
    # The law is a limit for rare losses. Between two of them 1/p packets leave in 1/(C·sqrt p) round trips;
    # the round trip of recovery, in which the window does not grow, comes on top and takes a share of at most
    # C·sqrt p. The constants are printed to three digits.
    recovery = constant * np.sqrt(loss)
    assert law_bps * (0.995 - recovery) - half < goodputs.mean() < law_bps * 1.005 + half


def test_periodic_constant_is_that_of_the_sawtooth() -> None:
    # one loss in each period of a lone flow without a buffer: the law's rate is the sawtooth's
    tooth = tcp_models.reno_sawtooth(RATE_PACKETS_S, RTT_S, 0.0, ack_every=2)
    law_bps = tcp_models.mathis_rate_bps(WIRE_BYTES, RTT_S, tooth.loss)
    assert float(law_bps) == pytest.approx(tooth.utilization * RATE_BPS, rel=0.005)
