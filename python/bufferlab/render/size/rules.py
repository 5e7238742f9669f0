"""What the published rules say, unverified: their buffers, and the range that meets all constraints."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from bufferlab.display import as_view
from bufferlab.render.grid import Column, Grid
from bufferlab.render.view import Heading, View
from bufferlab.results.metrics.metric import BITS_PER_S, BRIEF_SECONDS, BYTES, MILLISECONDS, PACKETS
from bufferlab.studies.size.published import Rules
from bufferlab.theory.constraints import Feasibility
from bufferlab.theory.demand import Demand
from bufferlab.theory.rules import get_rule
from bufferlab.theory.targets import Targets
from bufferlab.units import PS_PER_S, format_time

_NEEDED_BY: Final = {"utilization": "Theorem 2", "loss": "(13)"}


UNVERIFIED: Final = "unverified"

_HEADLINE: Final = (
    "What the published rules say; no run stands behind it, and in our runs such rules were off by factors: "
    "up to 9 for utilization, up to 190 for loss"
)
"""docs/controls.md (Reno, 1000 flows, 99 %) and docs/sizing.md (500 flows, 1 %) have the measurements."""

_ADVICE: Final = (
    "Use none of these buffers unchecked: without --theory, the same command measures the buffer and says "
    "how sure that is (docs/sizing.md)."
)


@as_view.register
def rules_view(rules: Rules) -> View:
    """The link, the rules' buffers, and the range, each named as what it is."""
    demand = rules.demand
    mix = ", ".join(f"{count:.0f} {name}" for name, count in demand.mix)
    return View(
        [
            f"{rules.link}: {BITS_PER_S.quantity(demand.rate_bps, digits=6)}, "
            f"mean round-trip time {BRIEF_SECONDS.quantity(demand.rtt_s)}, "
            f"{int(demand.flow_count)} long-lived flows ({mix}), "
            f"packets of {demand.packet_bytes} bytes on the wire",
            *(f"Assumed: {text}." for text in rules.assumed),
            f"Asked: {targets_text(demand.targets)}",
            Heading(_HEADLINE),
            _ADVICE,
            _grid(rules),
            *mix_text(rules),
            *(f"{UNVERIFIED}: {line}" for line in range_text(demand, rules.feasibility)),
        ]
    )


def mix_text(rules: Rules) -> list[str]:
    """What the rules make of flows that are not all Reno, in a line."""
    if {name for name, _ in rules.demand.mix} == {"reno"}:
        return []
    taken: dict[str, list[str]] = {}
    for name in rules.frame["rule"]:
        taken.setdefault(get_rule(name).controls, []).append(name)
    parts = [f"{', '.join(names)}: {text}" for text, names in taken.items()]
    return [f"What they take these flows for: {'; '.join(parts)}."]


def _grid(rules: Rules) -> Grid:
    columns: list[str | Column] = [
        *(unit.shown for unit in (PACKETS, BYTES, MILLISECONDS)),
        Column("status", "left"),
        Column("source", "left", wraps=True),
    ]
    rows = [
        [
            row["rule"],
            row["title"],
            str(row["buffer_packets"]),
            BYTES.text(row["buffer_bytes"]),
            MILLISECONDS.text(row["buffer_ms"]),
            UNVERIFIED,
            row["citation"],
        ]
        for row in rules.frame.iter_rows(named=True)
    ]
    return Grid(["rule", Column("formula", "left", wraps=True)], columns, rows)


def targets_text(targets: Targets) -> str:
    """The constraints in words."""
    parts = [f"utilization {targets.utilization:.10g}"]
    if targets.max_loss is not None:
        parts.append(f"loss at most {targets.max_loss:g} with probability {targets.confidence:g}")
    if targets.max_delay_s is not None:
        parts.append(f"delay at most {_time(targets.max_delay_s)}")
    return ", ".join(parts)


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
