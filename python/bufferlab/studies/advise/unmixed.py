"""What becomes of an answer where a mix's most frequent congestion control is alone.

Of a link hardly anybody knows which controls its flows run, and nothing else decides a FIFO's buffer as much.
So what stands beside the answer is run in that traffic, too: whether the mix decides is seen in one table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.scenario import Scenario
from bufferlab.stats import Estimate
from bufferlab.studies.advise.beside import Judged, link_means
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.halved import Half, compared
from bufferlab.studies.advise.sensitivity import Sensitivity, Variant
from bufferlab.studies.advise.today import Today
from bufferlab.studies.choosing.choice import missed_targets
from bufferlab.studies.least import Case
from bufferlab.studies.targets import Target, Values, bounds_loss, mean_over_runs

SEEDS: Final = 4
"""Runs of each setting; our choice, as many as other changes of the traffic have at least."""

LITTLE_LOSS: Final = 0.01
"""Loss that a buffer for one control may have whatever the answer loses. Our choice."""

FAR_LESS: Final = 0.5
"""Part of the answer's buffer up to which it is worth saying that another mix needs less. Our choice."""


@dataclass(frozen=True)
class Unmixed:
    """The answer's setting with one control alone, and what is beside it there, with common seeds.

    Attributes:
        title: Which traffic it is: "cubic alone".
        changed: The groups of flows that have another control than in the scenario.
        missed: Targets that the answer's setting misses there in the mean.
        values: What its runs measured.
        least: About the least buffer that meets the targets there, and loses no more than the answer's
            there, or 1 %; `None` if that is the answer's or unknown, or each smaller one loses more.
        is_rule: Whether that is BDP/√n in place of a search, which `--quick` leaves out; it may miss targets.
        today: What the link runs now, beside the answer's setting; `None` if nobody said it.
        newer: What the link runs now measured where a control of the mix has its newer version instead; empty
            if nobody said what it runs, or there is no newer version.
        newer_least: What about the least buffer there measured; empty if it is not known.
    """

    title: str
    changed: frozenset[str]
    missed: tuple[Target, ...]
    values: tuple[Values, ...]
    least: Half | None
    today: Today | None
    is_rule: bool = False
    newer: tuple[Values, ...] = ()
    newer_least: tuple[Values, ...] = ()

    def mean(self, name: str) -> Estimate:
        """Mean of a value of the answer's setting over the runs."""
        return mean_over_runs(name, self.values)

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        return {
            "title": self.title,
            "missed": [str(target) for target in self.missed],
            **link_means(self.mean),
            "least": None if self.least is None else self.least.to_dict(),
            "today": None if self.today is None else self.today.to_dict(),
            "newer": _means(self.newer),
            "newer_least": _means(self.newer_least),
        }


def _means(runs: tuple[Values, ...]) -> dict[str, float | None] | None:
    """What the link does in the mean of runs, for a document; `None` without runs."""
    return link_means(lambda name: mean_over_runs(name, runs)) if runs else None


def change_of(changes: list[Variant]) -> Variant | None:
    """The change in which one control is alone; `None` where the flows are no mix."""
    return next((each for each in changes if each.is_alone), None)


def newer_of(changes: list[Variant]) -> Variant | None:
    """The change in which a control of a mix has its newer version; `None` where there is none."""
    return next((each for each in changes if each.is_newer), None)


def unmixed(
    base: Scenario,
    change: Variant,
    there: Entry,
    found: Sensitivity | None,
    *,
    targets: tuple[Target, ...],
    judged: Judged,
    measure: Callable[[Case], tuple[Values, ...]],
    today: Today | None,
    newer: tuple[Values, ...],
    rule: int | None,
) -> Unmixed:
    """The answer and what is beside it where one control is alone.

    Args:
        base: The scenario.
        change: The change.
        there: The answer, with the values that its setting has there.
        found: What the change came to; `None` where other traffic was not tried.
        targets: What the answer is to meet.
        judged: By what users are judged.
        measure: What a case measures there.
        today: What the link runs now, there.
        newer: What that measured with the newer version of a control.
        rule: BDP/√n, packets, which is tried where there is no search; `None` if it is not known.
    """
    is_rule = found is None and rule is not None and rule <= FAR_LESS * there.packets
    size = rule if is_rule else None if found is None or found.least is None else found.least.size
    is_other = there.queue.knob == "limit" and size not in {None, there.packets}
    case = Case(there.queue.name, size) if is_other and size is not None else None
    least = compared(there, case, targets, judged, measure)
    most = math.inf if bounds_loss(targets) else max(LITTLE_LOSS, there.mean("loss").mean or 0.0)
    while least is not None and least.size < there.packets and (least.mean("loss").mean or 0.0) > most:
        case, is_rule = Case(there.queue.name, 2 * least.size), False
        least = compared(there, case, targets, judged, measure) if case.size < there.packets else None
    pairs = zip(base.flows, change.scenario.flows, strict=True)
    return Unmixed(
        change.title,
        frozenset(flow["name"] for flow, other in pairs if flow["tcp"] != other["tcp"]),
        missed_targets(there.values, targets),
        there.values,
        least,
        today,
        is_rule,
        newer,
    )
