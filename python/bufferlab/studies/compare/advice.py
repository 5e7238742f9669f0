"""Which queue to run: a rule, applied to what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.display import significant
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS
from bufferlab.stats import estimate

UTILIZATION_SLACK: Final = 0.02
"""How far below the best a queue's utilization may be, as a part of the best."""

FAIR: Final = 0.95
"""Jain's index from which flows count as treated equally."""

FAIR_SLACK: Final = 0.02
"""If no queue is that fair: largest distance to the fairest one."""

RULE: Final = (
    "the lowest mean wait among queues that are busy (utilization within "
    f"{FRACTION.quantity(UTILIZATION_SLACK)} of the best) and fair (Jain index of at least {FAIR:g} or, if "
    f"none reaches that, within {FAIR_SLACK:g} of the best)"
)

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Advice:
    """The queue to run.

    Attributes:
        queue: Its name; `None` if no packet was measured.
        reason: Why, with the numbers.
        rule: The rule that was applied.
    """

    queue: str | None
    reason: str
    rule: str = RULE


def advise(rows: Sequence[Row], waits_ms: Mapping[str, Sequence[float | None]]) -> Advice:
    """Apply the rule.

    Args:
        rows: One per queue: `queue`, `utilization`, `jain_index`, `wait_mean_ms`, means over the seeds.
        waits_ms: The mean wait of each seed by queue, seeds in the same order.
    """
    measured = [row for row in rows if row["wait_mean_ms"] is not None and row["utilization"] is not None]
    if not measured:
        return Advice(None, "no packet was measured")
    best = max(row["utilization"] for row in measured)
    busy = [row for row in measured if is_busy(row["utilization"], best)]
    bar = _fair_from(busy)
    fair = [row for row in busy if _jain(row) >= bar]
    ranked = sorted(fair, key=_wait)
    chosen = ranked[0]
    parts = [_praise(chosen, len(ranked), bar)]
    if len(ranked) > 1:
        parts.append(_margin(chosen, ranked[1], waits_ms))
    elif len(busy) > 1:
        parts.append(_next_in_fairness(max((row for row in busy if row is not chosen), key=_jain)))
    refused = [row for row in measured if row not in fair and _wait(row) < _wait(chosen)]
    parts += [_refusal(row, best) for row in sorted(refused, key=_wait)]
    return Advice(chosen["queue"], "; ".join(parts))


def is_busy(utilization: float, best: float) -> bool:
    """Whether a utilization is as good as the best."""
    return utilization >= best * (1 - UTILIZATION_SLACK)


def _fair_from(rows: Sequence[Row]) -> float:
    """The Jain index from which a queue counts as fair."""
    fairest = max(map(_jain, rows))
    return FAIR if fairest >= FAIR else fairest - FAIR_SLACK


def _jain(row: Row) -> float:
    """The Jain index; 1 on links without flows to compare."""
    return 1.0 if row["jain_index"] is None else float(row["jain_index"])


def _wait(row: Row) -> float:
    return float(row["wait_mean_ms"])


def _wait_text(row: Row) -> str:
    return MILLISECONDS.quantity(_wait(row), digits=3)


def _praise(chosen: Row, candidates: int, bar: float) -> str:
    lower = f" (Jain index of at least {significant(bar, 3)}, as none reaches {FAIR:g})"
    bar_text = "" if bar >= FAIR else lower
    which = "the only busy and fair queue" if candidates == 1 else f"of {candidates} busy and fair queues"
    wait = "with a mean wait of" if candidates == 1 else "the one with the lowest mean wait,"
    return (
        f"{which}{bar_text}, {wait} {_wait_text(chosen)} "
        f"(utilization {_percent(chosen['utilization'])}, Jain index {significant(_jain(chosen), 3)})"
    )


def _margin(chosen: Row, second: Row, waits_ms: Mapping[str, Sequence[float | None]]) -> str:
    """How much longer packets wait at the next best, seed by seed."""
    pairs = zip(waits_ms[second["queue"]], waits_ms[chosen["queue"]], strict=True)
    more = estimate(None if a is None or b is None else a - b for a, b in pairs)
    if more.mean == 0 and not more.half_width:
        return f"{second['queue']} is equal"
    if more.mean is None or more.half_width is None:
        difference = MILLISECONDS.quantity(_wait(second) - _wait(chosen), digits=2)
        return f"next is {second['queue']}, {difference} longer (one seed, so no confidence)"
    difference = f"{MILLISECONDS.quantity(more.mean, more.half_width, digits=2)} longer"
    if more.mean <= more.half_width:
        return f"{second['queue']} is not significantly different ({difference})"
    return f"next is {second['queue']}, {difference}"


def _next_in_fairness(row: Row) -> str:
    fairness = f"Jain index {significant(_jain(row), 3)}"
    return f"next in fairness is {row['queue']} ({fairness}, mean wait {_wait_text(row)})"


def _refusal(row: Row, best: float) -> str:
    wait = f"{row['queue']} waits {_wait_text(row)} but is"
    if not is_busy(row["utilization"], best):
        return f"{wait} not busy (utilization {_percent(row['utilization'])})"
    return f"{wait} not fair (Jain index {significant(_jain(row), 3)})"


def _percent(share: float) -> str:
    return FRACTION.quantity(share)
