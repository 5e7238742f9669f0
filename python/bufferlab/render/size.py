"""How `bufferlab size` tells which buffers meet the constraints."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from bufferlab.errors import InputError
from bufferlab.results.metrics.metric import BYTES, MILLISECONDS, PACKETS
from bufferlab.studies.size import Demand, Feasibility, Targets
from bufferlab.units import PS_PER_S, format_time

_NEEDED_BY: Final = {"utilization": "Theorem 2", "loss": "(13)"}


def targets_text(targets: Targets) -> str:
    """The constraints in words."""
    parts = [f"utilization {targets.utilization:.10g}"]
    if targets.max_loss is not None:
        parts.append(f"loss at most {targets.max_loss:g} with probability {targets.confidence:g}")
    if targets.max_delay_s is not None:
        parts.append(f"delay at most {_time(targets.max_delay_s)}")
    return ", ".join(parts)


def targets_given(targets: Targets) -> tuple[bool, bool, bool]:
    """Which of utilization, loss and delay are asked for."""
    return True, targets.max_loss is not None, targets.max_delay_s is not None


def range_text(demand: Demand, found: Feasibility) -> list[str]:
    """The range of buffers that meets all constraints; or the conflict, what it costs and what would help."""
    if not math.isfinite(found.least_bytes):
        return [
            "Infeasible in theory: the windows of so few flows vary too much to reach a utilization of "
            f"{demand.targets.utilization:.10g} with any buffer."
        ]
    if not found.feasible:
        return [
            f"Infeasible in theory: {_conflict(demand, found)}.",
            *_given_up(demand, found),
            *_ways_out(found),
        ]
    least = f"from {_size(demand, found.least_bytes)} ({found.binding}, {_NEEDED_BY[found.binding]})"
    most = (
        "" if found.delay_bytes is None else f" to {_size(demand, found.delay_bytes, down=True)} (delay, C·λ)"
    )
    text = f"Feasible in theory if flows are not synchronized: {least}{most or ' upward'}."
    if found.any_buffer_bounds_loss:
        text += " The loss bound holds for any buffer (12)."
    return [text]


def infeasible(demand: Demand, found: Feasibility, max_delay: str) -> InputError:
    """The error for constraints that no buffer meets: the conflict, and what would resolve it.

    Args:
        demand: What was asked.
        found: That there is no such buffer.
        max_delay: The delay bound as written.
    """
    ways = _ways(found)
    return InputError(
        f"cannot be met with the other constraints: {_conflict(demand, found)}",
        key="--max-delay",
        value=max_delay,
        accepted=f"all else as asked, {' or '.join(ways)}" if ways else None,
    )


def _conflict(demand: Demand, found: Feasibility) -> str:
    """Which constraints cannot be met together."""
    needs = {"utilization": found.utilization_bytes, "loss": found.loss_bytes or 0.0}
    room = found.delay_bytes or 0.0
    beyond = [f"{name} needs {_need(demand, value)}" for name, value in needs.items() if value > room]
    binding = f": {found.binding} binds" if len(beyond) > 1 else ""
    return f"delay allows {_size(demand, room, down=True)}, but {' and '.join(beyond)}{binding}"


def _need(demand: Demand, size_bytes: float) -> str:
    return _size(demand, size_bytes) if math.isfinite(size_bytes) else "more than any buffer"


def _given_up(demand: Demand, found: Feasibility) -> list[str]:
    given = found.compromise
    if given is None:
        return []
    parts = []
    if given.utilization_given_up > 0:
        parts.append(
            f"utilization is at most {given.utilization:.4g} instead of "
            f"{demand.targets.utilization:.10g} (18)"
        )
    if given.loss_added > 0:
        parts.append(f"loss is at least {given.loss_added:.3g} higher (19)")
    return [f"If the delay bound is kept, {' and '.join(parts)}."]


def _ways_out(found: Feasibility) -> list[str]:
    ways = _ways(found)
    unchanged = "With the other constraints unchanged, any one of these is enough"
    return [f"{unchanged}: {', '.join(ways)}."] if ways else []


def _ways(found: Feasibility) -> list[str]:
    """Single changes that would make the constraints fit."""
    words = {
        "delay": lambda value: f"a delay of {_time(_up(value))}",
        "loss": lambda value: f"a loss of {_up(value):g}",
        "utilization": lambda value: f"a utilization of {_down(value):.10g}",
        "flows": lambda value: f"{value:.0f} flows or more",
    }
    return [words[way.constraint](way.value) for way in found.ways_out]


def _size(demand: Demand, size_bytes: float, *, down: bool = False) -> str:
    exact = size_bytes / demand.packet_bytes
    packets = math.floor(exact) if down else math.ceil(exact)
    drain_ms = size_bytes * 8e3 / demand.rate_bps
    return f"{packets} {PACKETS.shown} ({BYTES.quantity(size_bytes)}, {MILLISECONDS.quantity(drain_ms)})"


def _time(seconds: float) -> str:
    return format_time(round(seconds * PS_PER_S))


def _up(value: float) -> float:
    """Rounded to three digits, never down, so that the value shown is sufficient."""
    return _rounded(value, math.ceil)


def _down(value: float) -> float:
    """Rounded to three digits after the nines, never up."""
    missing = _rounded(1.0 - value, math.ceil)
    return round(1.0 - missing, 12)


def _rounded(value: float, towards: Callable[[float], int]) -> float:
    if value <= 0:
        return value
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{towards(value / step * (1.0 - 1e-12)) * step:.3g}")
