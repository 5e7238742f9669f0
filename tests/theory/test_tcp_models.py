"""Throughput models on worked values."""

from __future__ import annotations

import numpy as np
import pytest

from bufferlab.theory import tcp_models


def test_mathis_on_a_worked_value() -> None:
    # 0.87 * 11680 bit / (0.1 s * 0.01)
    assert tcp_models.mathis_rate_bps(1460, 0.1, 1e-4) == pytest.approx(10.1616e6)


def test_loss_ratio_model_gives_the_document_405_at_25_ms() -> None:
    ratio = tcp_models.loss_ratio_model(0.010, 0.990, 0.012e-2, 0.2e-2)
    assert ratio == pytest.approx(405, rel=0.003)


def test_loss_ratio_is_not_a_number_without_losses() -> None:
    assert np.isnan(tcp_models.loss_ratio_model(0.01, 0.99, 0.0, 0.0))


def test_equal_loss_model_gives_the_document_ratio_at_300_ms() -> None:
    assert tcp_models.equal_loss_ratio_model(0.010, 0.990, 0.230) == pytest.approx(1220 / 240)


@pytest.mark.parametrize(("b", "expected"), [(0.0, 0.75), (0.5, 27 / 28), (1.0, 1.0), (3.0, 1.0)])
def test_reno_utilization(b: float, expected: float) -> None:
    assert tcp_models.reno_utilization(b) == pytest.approx(expected)


def test_sawtooth_on_a_worked_value_below_the_bdp() -> None:
    # pipe 100, window 75 … 150: 25 round trips of 0.1 s, then 6.25 s with a queue; (150² − 75²)/2 packets
    tooth = tcp_models.reno_sawtooth(1000.0, 0.1, 50.0)
    assert tooth.period_s == pytest.approx(8.75)
    assert tooth.packets == pytest.approx(8437.5)
    assert tooth.utilization == pytest.approx(27 / 28)
    assert tooth.loss == pytest.approx(1 / 8437.5)


def test_sawtooth_at_and_above_the_bdp_never_idles() -> None:
    at = tcp_models.reno_sawtooth(1000.0, 0.1, 100.0)
    above = tcp_models.reno_sawtooth(1000.0, 0.1, 300.0)
    assert at.utilization == pytest.approx(1.0)
    assert above.utilization == pytest.approx(1.0)
    # 3/8 (1+b)² D²/C
    assert at.period_s == pytest.approx(0.375 * 200**2 / 1000)
    assert above.period_s == pytest.approx(0.375 * 400**2 / 1000)


@pytest.mark.parametrize("buffer_packets", [0.0, 30.0, 100.0, 250.0])
def test_sawtooth_means_agree_with_a_numeric_integral(buffer_packets: float) -> None:
    rate, rtt, ack_every = 1000.0, 0.1, 2.0
    pipe = rate * rtt
    window = np.linspace((pipe + buffer_packets) / 2, pipe + buffer_packets, 200_001)
    middle = (window[1:] + window[:-1]) / 2
    step = np.diff(window)
    queue = np.maximum(middle - pipe, 0.0)
    seconds = ack_every * np.maximum(rtt, middle / rate) * step
    packets = ack_every * middle * step
    tooth = tcp_models.reno_sawtooth(rate, rtt, buffer_packets, ack_every)
    assert tooth.period_s == pytest.approx(seconds.sum(), rel=1e-6)
    assert tooth.packets == pytest.approx(packets.sum(), rel=1e-6)
    assert tooth.wait_mean_s == pytest.approx(
        (queue / rate * packets).sum() / packets.sum(), rel=1e-5, abs=1e-12
    )
    assert tooth.backlog_mean_packets == pytest.approx(
        (queue * seconds).sum() / seconds.sum(), rel=1e-5, abs=1e-9
    )


def test_sawtooth_utilization_is_the_closed_form() -> None:
    for b in (0.0, 0.1, 0.5, 0.9, 1.0, 2.0):
        tooth = tcp_models.reno_sawtooth(5000.0, 0.05, b * 250.0)
        assert tooth.utilization == pytest.approx(float(tcp_models.reno_utilization(b)))


def test_sawtooth_refuses_nonsense() -> None:
    with pytest.raises(ValueError, match="positive"):
        tcp_models.reno_sawtooth(0.0, 0.1, 10.0)
