"""One buffer out of those that the rules give, with the reason for it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from bufferlab.sizing.demand import Demand
from bufferlab.sizing.rules import get_rule

MANY_FLOWS = 500
"""From so many flows on synchronization is very rare (Appenzeller et al. 2004, section 3)."""

SYNCHRONIZED_BELOW = 100
"""Below so many flows synchronization is common (the same section)."""


@dataclass(frozen=True)
class Recommendation:
    """The buffer to take.

    Attributes:
        rule: Name of the rule that gives it.
        buffer_packets: The buffer, packets.
        buffer_bytes: The same in bytes.
        buffer_ms: Its drain time, ms.
        reason: Why this one, in words for the reader of a report.
        verified: Whether simulations stand behind it.
    """

    rule: str
    buffer_packets: int
    buffer_bytes: float
    buffer_ms: float
    reason: str
    verified: bool


def recommend(demand: Demand, verification: pl.DataFrame | None, target_utilization: float) -> Recommendation:
    """Choose a rule: by simulation if there was one, else by what is known about synchronization.

    Args:
        demand: The link and its flows; `flows` must be one number.
        verification: Frame of `bufferlab.sizing.verify.simulate_buffers`, or `None`.
        target_utilization: Utilization to keep, 0 … 1.
    """
    if verification is None:
        return _by_theory(demand)
    return _by_simulation(demand, verification, target_utilization)


def _by_theory(demand: Demand) -> Recommendation:
    flows = int(demand.flow_count)
    if flows >= MANY_FLOWS:
        why = (
            f"{flows} flows: synchronization is very rare from {MANY_FLOWS} on, so their windows average out"
        )
        return _chosen("stanford", demand, f"{why} and BDP/√n keeps the link busy", verified=False)
    if flows >= SYNCHRONIZED_BELOW and demand.desynchronized:
        why = f"{flows} flows that the spread of round-trip times or sender jitter keeps out of step"
        return _chosen(
            "stanford", demand, f"{why}, so BDP/√n keeps the link busy; --verify checks it", verified=False
        )
    if flows >= SYNCHRONIZED_BELOW:
        why = f"{flows} flows without spread of round-trip times or jitter can halve their windows together"
    else:
        why = f"{flows} flow{'s' if flows > 1 else ''}: synchronization is common below {SYNCHRONIZED_BELOW}"
    return _chosen("bdp", demand, f"{why}; then only the full BDP keeps the link busy", verified=False)


def _by_simulation(demand: Demand, verification: pl.DataFrame, target: float) -> Recommendation:
    rules = verification.filter(pl.col("rule") != "").sort("buffer_packets")
    good = rules.filter(pl.col("utilization") >= target)
    if good.is_empty():
        best = rules.sort("utilization", "buffer_packets", descending=[True, False]).row(0, named=True)
        why = f"no rule reaches {target:.2%} in simulation; this one comes closest with {_share(best)}"
        return _chosen(best["rule"], demand, why, verified=True)
    least = good.row(0, named=True)
    why = f"the smallest rule that keeps {target:.2%} in simulation: it reaches {_share(least)}"
    smaller = rules.filter(pl.col("buffer_packets") < least["buffer_packets"])
    if not smaller.is_empty():
        below = smaller.row(-1, named=True)
        why += f"; {below['rule']} ({below['buffer_packets']} packets) only {_share(below)}"
    between = verification.filter(pl.col("utilization") >= target).sort("buffer_packets")
    if between["buffer_packets"][0] < least["buffer_packets"]:
        why += f". No rule gives it, but {between['buffer_packets'][0]} packets kept the target as well"
    return _chosen(least["rule"], demand, why, verified=True)


def _share(row: dict[str, float]) -> str:
    half = row["utilization_ci95"]
    return f"{row['utilization']:.2%}" + ("" if math.isnan(half) else f" ± {half:.2%}")


def _chosen(name: str, demand: Demand, reason: str, *, verified: bool) -> Recommendation:
    rule = get_rule(name)
    return Recommendation(
        rule=name,
        buffer_packets=int(rule.buffer_packets(demand)),
        buffer_bytes=float(rule.buffer_bytes(demand)),
        buffer_ms=float(rule.buffer_ms(demand)),
        reason=reason,
        verified=verified,
    )
