"""One Reno flow draws the textbook's sawtooth, and random loss gives the square-root law."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.special import stdtrit

from bufferlab.results import RunSet
from bufferlab.simulation import run
from bufferlab.sizing import tcp_models

RATE_BPS = 20_000_000
WIRE_BYTES = 1000
RATE_PACKETS_S = RATE_BPS / 8 / WIRE_BYTES
PROPAGATION_S = 0.1
RTT_S = PROPAGATION_S + 1 / RATE_PACKETS_S  # a packet's own transmission belongs to the round trip
PIPE_PACKETS = RATE_PACKETS_S * RTT_S


def lone_flow(buffer_packets: int, *, delayed_ack: int, duration_s: float) -> RunSet:
    """One flow with SACK at 20 Mbps and 100 ms, out of slow start early."""
    return run(
        {
            "run": {
                "duration": f"{duration_s:.0f} s",
                "warmup": f"{duration_s / 4:.0f} s",
                "seed": 1,
                "stack": "rfc",
            },
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
                    "delayed_ack": delayed_ack,
                    "initial_ssthresh": round(PIPE_PACKETS),
                }
            ],
        },
        progress=False,
    )


@pytest.mark.parametrize("delayed_ack", [1, 2])
@pytest.mark.parametrize("buffer_over_bdp", [0.1, 0.25, 0.5, 0.75, 1.0, 2.0])
def test_sawtooth(buffer_over_bdp: float, delayed_ack: int) -> None:
    buffer_packets = round(buffer_over_bdp * PIPE_PACKETS)
    tooth = tcp_models.reno_sawtooth(RATE_PACKETS_S, RTT_S, buffer_packets, delayed_ack)
    periods = 40
    runs = lone_flow(buffer_packets, delayed_ack=delayed_ack, duration_s=periods * tooth.period_s / 0.75)
    queue = runs.queues.row(by_predicate=(pl.col("group") == "all"), named=True)
    # The fluid leaves out the round trip of recovery and what a window in whole segments adds: a few parts in
    # D = 250. A period cut off at either end of the window moves a mean by less than half its swing / 40 periods.
    fluid = 3 / PIPE_PACKETS
    cut = 0.5 / periods
    assert queue["utilization"] == pytest.approx(tooth.utilization, abs=fluid + cut * (1 - tooth.utilization))
    assert queue["sojourn_mean_ms"] == pytest.approx(
        tooth.wait_mean_s * 1e3, rel=2 * fluid + cut, abs=3e3 / RATE_PACKETS_S
    )
    # one loss a period: whole numbers of them fall into the window
    cuts = runs.flows["recoveries"].item()
    measured_periods = runs[0].measured_s / tooth.period_s
    assert cuts == pytest.approx(measured_periods, abs=1 + measured_periods * 2 * fluid)


@pytest.mark.parametrize("loss", [0.0005, 0.002, 0.008])
@pytest.mark.parametrize(
    ("delayed_ack", "constant"),
    [(2, tcp_models.MATHIS_CONSTANT_RANDOM), (1, tcp_models.MATHIS_CONSTANT_RANDOM_PER_SEGMENT)],
)
def test_square_root_law_under_random_loss(loss: float, delayed_ack: int, constant: float) -> None:
    rtt_s, mss_bytes = 0.05, 1000
    runs = run(
        {
            "run": {"duration": "600 s", "warmup": "20 s", "seed": 1, "stack": "rfc"},
            "bottleneck": {"rate": "10 Gbps", "buffer": "unlimited", "loss": loss},
            "flows": [
                {
                    "rtt": "50 ms",
                    "segment": f"{mss_bytes} B",
                    "delayed_ack": delayed_ack,
                    "ack_delay": "10 ms",
                    "count": 4,
                }
            ],
        },
        seeds=3,
        progress=False,
    )
    goodputs = runs.flows["goodput_bps"].to_numpy()
    law_bps = float(tcp_models.mathis_rate_bps(mss_bytes, rtt_s, loss, constant))
    half = stdtrit(goodputs.size - 1, 0.9995) * goodputs.std(ddof=1) / np.sqrt(goodputs.size)
    assert half < 0.06 * law_bps
    # the constants are printed with two digits; timeouts and windows in whole segments take a few per cent at
    # windows of 10 segments (p = 0.008), less at larger ones
    model = 0.01 + 0.6 * np.sqrt(loss)
    assert abs(goodputs.mean() - law_bps) < half + model * law_bps
