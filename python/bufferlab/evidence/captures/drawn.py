"""Links and traffic drawn at random, to be captured."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

DURATION_S: Final = 60

_QUEUES: Final = ("fifo",) * 7 + ("codel", "fq_codel", "pie")
_CONTROLS: Final = ("reno", "cubic-linux(hystart)", "cubic-linux(hystart)", "bbr")
_RATE_MBPS: Final = (5.0, 50.0)
_RTT_MS: Final = (10.0, 200.0)
_BUFFER_BDP: Final = (0.1, 2.0)
_MOST_LONG: Final = 12
_SHORT_SHARES: Final = (0.02, 0.2)
_DATAGRAM_SHARES: Final = (0.01, 0.1)


def drawn(number: int, *, plain: bool = False, duration_s: int = DURATION_S) -> dict[str, Any]:
    """A scenario by its number.

    One link, one or two groups of long flows with one control, in half of them short flows, in a third
    datagrams.

    Args:
        number: The seed of everything that is drawn.
        plain: FIFO only.
        duration_s: How long the run lasts, s.
    """
    chance = np.random.default_rng(number)
    rate_mbps = _between(chance, _RATE_MBPS)
    control, queue = str(chance.choice(_CONTROLS)), str(chance.choice(_QUEUES))
    groups = [_long(chance, index, control) for index in range(int(chance.integers(1, 3)))]
    flows = [*groups]
    if chance.random() < 1 / 2:
        flows.append(_short(chance, rate_mbps))
    if chance.random() < 1 / 3:
        flows.append(_datagrams(chance, rate_mbps))
    buffer = f"{_between(chance, _BUFFER_BDP):.3g} bdp"
    return {
        "run": {"duration": f"{duration_s} s", "warmup": "0 s", "seed": number, "stack": "linux"},
        "bottleneck": {
            "rate": f"{rate_mbps:.4g} Mbps",
            "delay": "1 ms",
            "buffer": buffer,
            "queue": "fifo" if plain else queue,
        },
        "flows": flows,
    }


def control_of(table: dict[str, Any]) -> str:
    """The control of the long flows, which a capture does not show."""
    return str(table["flows"][0]["congestion"])


def _between(chance: np.random.Generator, bounds: tuple[float, float]) -> float:
    """A number whose logarithm is uniform."""
    return float(np.exp(chance.uniform(*np.log(bounds))))


def _long(chance: np.random.Generator, index: int, control: str) -> dict[str, Any]:
    return {
        "name": f"long-{index}",
        "count": int(chance.integers(1, _MOST_LONG + 1)),
        "rtt": f"{_between(chance, _RTT_MS):.4g} ms",
        "rtt_spread": float(round(chance.uniform(0.0, 0.3), 3)),
        "congestion": control,
        "start": "uniform(0 s, 3 s)",
    }


def _short(chance: np.random.Generator, rate_mbps: float) -> dict[str, Any]:
    size_bytes = round(_between(chance, (5e3, 6e4)))
    interval_s = size_bytes * 8e-6 / (rate_mbps * _between(chance, _SHORT_SHARES))
    return {
        "name": "short",
        "rtt": f"{_between(chance, _RTT_MS):.4g} ms",
        "application": {"kind": "short-flows", "size": f"{size_bytes} B", "interval": f"{interval_s:.4g} s"},
    }


def _datagrams(chance: np.random.Generator, rate_mbps: float) -> dict[str, Any]:
    rate = rate_mbps * _between(chance, _DATAGRAM_SHARES)
    return {
        "name": "datagrams",
        "rtt": f"{_between(chance, _RTT_MS):.4g} ms",
        "application": {
            "kind": "udp",
            "packet": f"{int(chance.integers(100, 1400))} B",
            "rate": f"{rate:.4g} Mbps",
        },
    }
