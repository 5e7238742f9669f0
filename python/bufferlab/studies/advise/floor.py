"""What is asked of a link where nobody says how busy it shall be.

Bounds on what users feel are met best by a buffer that leaves the link idle: one packet keeps every call
clear. So the link's use is bounded besides. The bounds are our choice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

from bufferlab.resolved import feels_waits, is_endless
from bufferlab.scenario import Scenario
from bufferlab.studies.targets import Target, make_target, want_largest

FLOOR: Final = 0.99
"""Utilization that flows without end shall have of the link."""

USUAL_FLOOR: Final = 0.9
"""The same of a discipline at the delay that its specification aims at: that gives up some use by design, and
is what everybody runs and tests. Of a link with calls, pages, pings or videos the same of every queue: their
users feel the waits that the last per cents take. So it is of a home's line: a FIFO that keeps one direction
full spoils the other, whose acknowledgments wait in it."""

MOST_LOSS: Final = 0.01
"""Loss that other traffic may have, which does not fill the link whatever the buffer."""

_HOME: Final = "--home"
"""What stands for the file of a scenario that two rates of a home's line stand for."""

_USE: Final = ("utilization", "throughput", "goodput", "completion")
"""Beginnings of the names of metrics that suffer if the link is left idle."""


def default_targets(base: Scenario, index: int) -> tuple[Target, ...]:
    """What is asked of a link if nothing is said: its use, or of traffic that cannot fill it, the loss.

    Args:
        base: The scenario.
        index: Index of the link.
    """
    if has_endless(base, index):
        return (make_target("utilization", floor_of(base, index)),)
    return (make_target("loss", MOST_LOSS),)


def floor_beside(targets: Sequence[Target], base: Scenario, index: int) -> Target | None:
    """The use of the link that is asked for beside targets; `None` if they say enough of it.

    Bounds on waits alone ask for the largest buffer that keeps them, which needs no floor.

    Args:
        targets: What is asked for.
        base: The scenario.
        index: Index of the link.
    """
    says_enough = any(target.metric.name.startswith(_USE) for target in targets)
    if says_enough or want_largest(targets) or not has_endless(base, index):
        return None
    return make_target("utilization", floor_of(base, index))


def floor_of(base: Scenario, index: int) -> float:
    """The utilization that flows without end shall have, if nobody says it: less where others feel waits.

    Args:
        base: The scenario.
        index: Index of the link.
    """
    name = base.resolved["links"][index]["name"]
    crossing = [flow["application"] for flow in base.resolved["flows"] if name in flow["path"]]
    is_felt = any(feels_waits(each) for each in crossing)
    return USUAL_FLOOR if is_felt or is_home(base) else FLOOR


def is_home(base: Scenario) -> bool:
    """Whether a scenario is what two rates of a home's line stand for, which nobody wrote."""
    return base.file == _HOME


def has_endless(base: Scenario, index: int) -> bool:
    """Whether TCP flows that always have something to send cross a link."""
    name = base.resolved["links"][index]["name"]
    return any(is_endless(flow) and name in flow["path"] for flow in base.resolved["flows"])


def relaxed(targets: Sequence[Target], floor: Target) -> tuple[Target, ...]:
    """The targets for a discipline at its usual setting."""
    lower = dataclasses.replace(floor, bound=USUAL_FLOOR)
    return tuple(lower if target == floor else target for target in targets)
