"""Scaled-down twins: the same flows with the same windows, but fewer, on a slower link.

A twin has 1/s of every link's rate and of every group's flows; round-trip times, congestion controls, starts
and what one flow does stay. That the twin's waits, losses and shares are those of the large link is the
scaling hypothesis of K. Psounis, R. Pan, B. Prabhakar and D. Wischik, "The scaling hypothesis: simplifying
the prediction of network performance using scaled-down simulations", ACM SIGCOMM CCR 33(1), 2003. How far it
holds is measured by `bufferlab validate scaling`.

| buffer | the twin's | what is kept |
| --- | --- | --- |
| "600 packets", "1 MB" | divided by s, as in that paper | the time that it takes to drain |
| "5 ms", "0.1 bdp" | as written | the same |
| "stanford" | as written: BDP/sqrt(n) of the twin | buffer over deviation of the sum of n windows |

The sum of n independent windows deviates by a share of 1/sqrt(n) (G. Appenzeller, I. Keslassy, N. McKeown,
"Sizing Router Buffers", SIGCOMM 2004, section 3), so the twin's relative deviation is larger. The twin's
BDP/sqrt(n) follows it: its waits are sqrt(s) times as long, their share of the buffer about stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from bufferlab.buffers import Buffer
from bufferlab.errors import InputError
from bufferlab.scenario import Scenario
from bufferlab.scenario.applications import ShortFlows
from bufferlab.scenario.models import Link
from bufferlab.scenario.queues import Red

SCALABLE_QUEUES: Final = ("fifo", "red", "pie", "drr")
"""Disciplines whose drops are a share of what arrives; CoDel's come so many a second whatever the rate."""


def scale(scenario: Scenario, factor: int) -> Scenario:
    """Make the twin with 1/`factor` of the rates and flows.

    Args:
        scenario: The large link.
        factor: By what to divide, 1 or more.

    Raises:
        InputError: If the factor does not divide a group's flows, or a queue does not scale.
    """
    if factor < 1:
        raise InputError("is too small", key="scale", value=factor, accepted="1 or more")
    if factor == 1:
        return scenario
    try:
        return scenario.with_overrides(dict(_changes(scenario, factor)))
    except InputError as error:
        raise error.at(file=scenario.file) from None


def _changes(scenario: Scenario, factor: int) -> Iterator[tuple[str, object]]:
    for index, link in enumerate(scenario.links):
        yield from _of_link(link, f"links[{index}]", factor)
    for index, flow in enumerate(scenario.flows):
        place = f"flows[{index}]"
        if isinstance(flow.application, ShortFlows):
            # one process brings all of them: fewer come, each as large as before
            if flow.application.load_bps is not None:
                yield f"{place}.application.load", f"{_divided(flow.application.load_bps, factor)} bps"
            else:
                yield f"{place}.application.interval", f"{flow.application.interval_ps * factor} ps"
        elif flow.count % factor:
            raise InputError(
                f"is not divided by {factor}",
                key=f"{place}.count",
                value=flow.count,
                accepted="a number of flows that the scale divides",
            )
        else:
            yield f"{place}.count", flow.count // factor


def _of_link(link: Link, place: str, factor: int) -> Iterator[tuple[str, object]]:
    if link.queue.discipline not in SCALABLE_QUEUES:
        raise InputError(
            "does not scale",
            key=f"{place}.queue",
            value=link.queue.discipline,
            accepted=f"one of {', '.join(SCALABLE_QUEUES)}",
        )
    yield f"{place}.rate", f"{_divided(link.rate_bps, factor)} bps"
    sizes = {"buffer": link.buffer, "mark_above": link.mark_above}
    sizes |= {f"changes[{index}].buffer": change.buffer for index, change in enumerate(link.changes)}
    if isinstance(link.queue, Red):
        sizes |= {
            "queue.min_threshold": link.queue.min_threshold,
            "queue.max_threshold": link.queue.max_threshold,
        }
    for key, given in sizes.items():
        if given is not None and given.kind in {"packets", "bytes"}:
            yield f"{place}.{key}", _smaller(given, factor)


def _smaller(given: Buffer, factor: int) -> str:
    return f"{_divided(given.amount, factor)} {'B' if given.kind == 'bytes' else 'packets'}"


def _divided(amount: Fraction | int, factor: int) -> int:
    return max(1, round(Fraction(amount) / factor))
