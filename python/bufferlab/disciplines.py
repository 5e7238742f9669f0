"""Lowers the queues of scenarios to disciplines of the plan."""

from __future__ import annotations

from typing import Any

from bufferlab.buffers import Buffer, Limit, LinkTraffic, limit
from bufferlab.errors import InputError
from bufferlab.scenario.queues import Codel, Queue, SplitBuff, SplitBuffBlind
from bufferlab.scenario.trips import RttSource


def lower_limit(buffer: Buffer, key: str, traffic: LinkTraffic | None) -> Limit:
    """Turn a buffer into the plan's limit.

    Raises:
        InputError: If its word depends on flows and there are none; it names the key.
    """
    try:
        return limit(buffer, traffic)
    except InputError as error:
        raise error.at(key=key) from None


def lower_queue(queue: Queue) -> dict[str, Any]:
    """Lower a link's queue to the plan's discipline, but for its limit."""
    match queue:
        case Codel():
            return _codel(queue)
        case SplitBuff():
            return _splitbuff(queue, {"kind": "rtt", "information": _rtt_source(queue.rtt)})
        case SplitBuffBlind():
            # its sub-buffers never change, so the parameters of estimates do not matter
            like = SplitBuff(discipline="splitbuff", sub_buffers=queue.sub_buffers)
            return _splitbuff(like, {"kind": "random"})
        case _:
            return {"kind": queue.discipline}


def _codel(queue: Codel) -> dict[str, Any]:
    return {
        "kind": "codel",
        "target_ps": queue.target_ps,
        "interval_ps": queue.interval_ps,
        "ecn": queue.ecn,
        "ce_threshold_ps": queue.ce_threshold_ps,
        "control_law": queue.control_law,
    }


def _splitbuff(queue: SplitBuff, classes: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "splitbuff",
        "sub_buffers": queue.sub_buffers,
        "update_ps": queue.update_ps,
        "smoothing": queue.smoothing,
        "classes": classes,
        "weighted": queue.weighted,
    }


def _rtt_source(source: RttSource) -> dict[str, Any]:
    match source.kind:
        case "header":
            return {"kind": "header"} if source.bits is None else {"kind": "quantized", "bits": source.bits}
        case "handshake":
            return {"kind": "syn", "flows": source.flows}
        case "timestamps":
            return {"kind": "timestamps", "flows": source.flows}
        case "oracle":
            return {"kind": "oracle"}
