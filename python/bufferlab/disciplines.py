"""Lowers the queues of scenarios to disciplines of the plan."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from bufferlab.buffers import Buffer, Limit, LinkTraffic, limit
from bufferlab.errors import InputError
from bufferlab.scenario.queues import Codel, Drr, FqCodel, Pie, Queue, Red, SplitBuff, SplitBuffBlind
from bufferlab.scenario.trips import RttSource
from bufferlab.units import PS_PER_S

_PACKET_BYTES: Final = 1000
"""A typical packet where no flow says one."""

_LEAST_PACKETS: Final = 5
_RATIO: Final = 3


def lower_limit(buffer: Buffer, key: str, traffic: LinkTraffic | None) -> Limit:
    """Turn a buffer into the plan's limit.

    Raises:
        InputError: If its word depends on flows and there are none; it names the key.
    """
    try:
        return limit(buffer, traffic)
    except InputError as error:
        raise error.at(key=key) from None


def lower_queue(queue: Queue, key: str, rate_bps: int, traffic: LinkTraffic | None) -> dict[str, Any]:
    """Lower a link's queue to the plan's discipline, but for its limit.

    Args:
        queue: As the scenario has it.
        key: The scenario's key of the queue, for messages.
        rate_bps: The link's rate.
        traffic: What crosses the link; None if nothing does.

    Raises:
        InputError: If thresholds contradict each other or depend on flows that there are not.
    """
    lowered: dict[str, Any] = {}
    match queue:
        case Codel():
            lowered = _codel(queue)
        case FqCodel():
            names = ("flows", "quantum_bytes", "drop_batch")
            lowered = _codel(queue) | {name: getattr(queue, name) for name in names}
        case Pie():
            lowered = _pie(queue)
        case Red():
            lowered = _red(queue, key, rate_bps, traffic)
        case Drr():
            lowered = {"quantum_bytes": queue.quantum_bytes}
        case SplitBuff():
            lowered = _splitbuff(queue)
        case SplitBuffBlind():
            lowered = {"sub_buffers": queue.sub_buffers}
    return {"kind": queue.discipline, **lowered}


def _codel(queue: Codel | FqCodel) -> dict[str, Any]:
    return {
        "target_ps": queue.target_ps,
        "interval_ps": queue.interval_ps,
        "ecn": queue.ecn,
        "ce_threshold_ps": queue.ce_threshold_ps,
        "control_law": queue.control_law,
    }


def _pie(queue: Pie) -> dict[str, Any]:
    return {
        "target_ps": queue.target_ps,
        "t_update_ps": queue.update_ps,
        "alpha": queue.alpha,
        "beta": queue.beta,
        "max_burst_ps": queue.burst_ps,
        "ecn": queue.ecn,
    }


def _red(queue: Red, key: str, rate_bps: int, traffic: LinkTraffic | None) -> dict[str, Any]:
    packet_bytes = queue.mean_packet_bytes or (traffic.packet_bytes if traffic else _PACKET_BYTES)
    lower, upper = _thresholds(queue, key, traffic, rate_bps, packet_bytes)
    return {
        "min_threshold": lower,
        "max_threshold": upper,
        "weight": queue.weight,
        "max_p": queue.max_p,
        "gentle": queue.gentle,
        "adaptive": queue.adaptive,
        "ecn": queue.ecn,
        "mean_packet_bytes": packet_bytes,
    }


def _thresholds(
    queue: Red, key: str, traffic: LinkTraffic | None, rate_bps: int, packet_bytes: int
) -> tuple[dict[str, int], dict[str, int]]:
    """RED's thresholds: what is not given follows from what is, or from the target delay.

    Floyd, Gummadi and Shenker (2001), and ns-2's `queue/red.cc`: the lower one is half of what the link sends
    in the delay, at least 5 packets; the upper one is three times the lower.
    """
    given = {
        name: lower_limit(buffer, f"{key}.{name}", traffic)
        for name in ("min_threshold", "max_threshold")
        if (buffer := getattr(queue, name)) is not None
    }
    lower, upper = (_sized(given.get(name)) for name in ("min_threshold", "max_threshold"))
    if lower is None and upper is None:
        packets = round(Fraction(queue.target_delay_ps * rate_bps, 2 * 8 * packet_bytes * PS_PER_S))
        lower = ("packets", max(_LEAST_PACKETS, packets))
    if lower is None and upper is not None:
        lower = (upper[0], max(1, upper[1] // _RATIO))
    if upper is None and lower is not None:
        upper = (lower[0], _RATIO * lower[1])
    if lower is None or upper is None or lower[0] != upper[0] or lower[1] >= upper[1]:
        text = queue.max_threshold.text if queue.max_threshold else ""
        raise InputError(
            "does not go with min_threshold",
            key=f"{key}.max_threshold",
            value=text,
            accepted="more than min_threshold, in packets if that is in packets, in bytes if in bytes",
        )
    return dict([lower]), dict([upper])


def _sized(limit: Limit | None) -> tuple[str, int] | None:
    """Unit and number of a limit."""
    return next(iter(limit.items())) if isinstance(limit, dict) else None


def _splitbuff(queue: SplitBuff) -> dict[str, Any]:
    return {
        "sub_buffers": queue.sub_buffers,
        "update_ps": queue.update_ps,
        "first_update_ps": queue.first_update_ps,
        "smoothing": queue.smoothing,
        "rtt": _rtt_source(queue.rtt),
        "weighted": queue.weighted,
        "thresholds": queue.thresholds,
        "hysteresis": queue.hysteresis,
        "mean": queue.mean,
    }


def _rtt_source(source: RttSource) -> dict[str, Any]:
    match source.kind:
        case "header":
            return {"kind": "header"} if source.bits is None else {"kind": "quantized", "bits": source.bits}
        case "handshake":
            return {"kind": "handshake", "flows": source.flows}
        case "timestamps":
            return {"kind": "timestamps", "flows": source.flows}
        case "oracle":
            return {"kind": "oracle"}
