"""One buffer out of those that the rules give, with the reason for it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from bufferlab.results.metrics.metric import CONFIDENCE_SUFFIX, FRACTION
from bufferlab.theory.constraints import Feasibility, feasibility
from bufferlab.theory.demand import Demand
from bufferlab.theory.rules import get_rule
from bufferlab.theory.single_flow import single_flow_utilization

MANY_FLOWS = 500
"""Number of flows from which synchronization is very rare (Appenzeller et al. 2004, section 3.2)."""

SYNCHRONIZED_BELOW = 100
"""Number of flows below which synchronization is common (the same section)."""


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


def recommend(
    demand: Demand, verification: pl.DataFrame | None, found: Feasibility | None = None
) -> Recommendation:
    """Choose a rule: by simulation if there was one, else by theory and what is known about synchronization.

    Args:
        demand: The link and its flows; `flows` must be one number.
        verification: Frame of `bufferlab.studies.size.verify.simulate_buffers`, or `None`.
        found: What `feasibility` says of the demand; it is asked if not given.
    """
    if verification is None:
        return _by_theory(demand, found or feasibility(demand))
    return _by_simulation(demand, verification)


def _by_theory(demand: Demand, found: Feasibility) -> Recommendation:
    name, why = _wanted(demand, found)
    most = found.delay_bytes
    if most is None or float(get_rule(name).buffer_bytes(demand)) <= most:
        return _chosen(name, demand, why, verified=False)
    why = f"it is the largest buffer that the delay bound allows. {_cut(demand, found, name)}"
    return _chosen("delay", demand, why, verified=False)


def _wanted(demand: Demand, found: Feasibility) -> tuple[str, str]:
    """The rule to take without a delay bound, and why."""
    flows = int(demand.flow_count)
    if flows < SYNCHRONIZED_BELOW or (flows < MANY_FLOWS and not demand.desynchronized):
        return _for_synchronized(demand, found)
    if flows >= MANY_FLOWS:
        why = f"from {MANY_FLOWS} flows on, synchronization is very rare and windows average out"
    else:
        why = f"different round-trip times or sender jitter keep {flows} flows from synchronizing"
    least = "heterogeneous" if found.loss_bytes is None else "heterogeneous-loss"
    if found.least_bytes > float(get_rule("stanford").buffer_bytes(demand)):
        return least, f"{why}, but the {found.binding} constraint needs more than BDP/√n"
    check = "" if flows >= MANY_FLOWS else "; check it with --verify"
    more = "" if found.loss_bytes is None else " and, in theory, meets the loss bound"
    return "stanford", f"{why}, so BDP/√n keeps the link busy{more}{check}"


def _for_synchronized(demand: Demand, found: Feasibility) -> tuple[str, str]:
    flows = int(demand.flow_count)
    if flows >= SYNCHRONIZED_BELOW:
        why = f"{flows} flows with equal round-trip times and no jitter can reduce their windows together"
    else:
        why = f"synchronization is common below {SYNCHRONIZED_BELOW} flows"
    fall = float(get_rule("single-flow").buffer_bytes(demand))
    if max(fall, demand.bdp_bytes) < found.least_bytes < math.inf:
        least = "heterogeneous" if found.loss_bytes is None else "heterogeneous-loss"
        return least, f"{why}, and the {found.binding} constraint needs more than the BDP"
    if fall < demand.bdp_bytes and fall >= min(found.least_bytes, demand.bdp_bytes):
        return "single-flow", f"{why}, and then only (1/β − 1)·BDP keeps the link busy"
    return "bdp", f"{why}, and then only the full BDP keeps the link busy"


def _cut(demand: Demand, found: Feasibility, wanted: str) -> str:
    """What the delay bound costs, in words."""
    if found.feasible:
        text = f"In theory it still meets all constraints; {wanted} would leave more room for synchronization"
        if wanted in {"bdp", "single-flow"}:
            kept = demand.protocols
            room = (found.delay_bytes or 0.0) / demand.bdp_bytes
            least = min(float(single_flow_utilization(room, each.beta)) for each in kept)
            share = FRACTION.quantity(least, digits=3)
            text += f": synchronized flows would use {share} of the link just after a loss"
        return text
    if found.compromise is None:
        return "In theory no buffer reaches the utilization with so few flows"
    given = found.compromise
    parts = []
    if given.utilization_given_up > 0:
        parts.append(
            f"utilization falls from {demand.targets.utilization:.4g} to at most {given.utilization:.4g}"
        )
    if given.loss_added > 0:
        parts.append(f"loss grows by at least {FRACTION.quantity(given.loss_added, digits=3)}")
    return f"In theory it has a cost: {', '.join(parts)}"


def _by_simulation(demand: Demand, verification: pl.DataFrame) -> Recommendation:
    targets = demand.targets
    tried = _within(verification, demand)
    rules = tried.filter(pl.col("rule") != "").sort("buffer_packets", maintain_order=True)
    wanted = FRACTION.quantity(targets.utilization, digits=10)
    if targets.max_loss is not None:
        wanted += f" with a loss of at most {FRACTION.quantity(targets.max_loss, digits=10)}"
    good = rules.filter(_keeps(demand))
    if good.is_empty():
        best = rules.sort("utilization", "buffer_packets", descending=[True, False]).row(0, named=True)
        within = "" if targets.max_delay_s is None else " within the delay bound"
        closest = f"this one comes closest, {_share(best, demand)}"
        why = f"in simulation no rule{within} reaches {wanted}; {closest}"
        return _chosen(best["rule"], demand, why, verified=True)
    least = good.row(0, named=True)
    why = f"in simulation the smallest rule that reaches {wanted}: {_share(least, demand)}"
    smaller = rules.filter(pl.col("buffer_packets") < least["buffer_packets"])
    if not smaller.is_empty():
        below = smaller.row(-1, named=True)
        why += f"; {below['rule']} ({below['buffer_packets']} packets) reaches only {_share(below, demand)}"
    between = tried.filter(_keeps(demand)).sort("buffer_packets")
    if between["buffer_packets"][0] < least["buffer_packets"]:
        packets = between["buffer_packets"][0]
        why += f". A buffer of {packets} packets, which no rule gives, also met the target"
    return _chosen(least["rule"], demand, why, verified=True)


def _within(verification: pl.DataFrame, demand: Demand) -> pl.DataFrame:
    """What was simulated and the delay bound allows; the bound itself is a rule, so there is something."""
    if demand.targets.max_delay_s is None:
        return verification
    return verification.filter(pl.col("buffer_packets") <= int(get_rule("delay").buffer_packets(demand)))


def _keeps(demand: Demand) -> pl.Expr:
    kept = pl.col("utilization") >= demand.targets.utilization
    if demand.targets.max_loss is None:
        return kept
    return kept & (pl.col("loss") <= demand.targets.max_loss)


def _share(row: dict[str, float], demand: Demand) -> str:
    text = FRACTION.quantity(row["utilization"], row["utilization" + CONFIDENCE_SUFFIX])
    if demand.targets.max_loss is None:
        return text
    return f"{text} with a loss of {FRACTION.quantity(row['loss'])}"


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
