"""Targets that nothing can meet: what a flow group gets with the links to itself is the best that it can get.

A page takes its round trips, a call its propagation delay, and a flow gets no more than the link's rate,
whatever the queue. To search a buffer for less would take minutes, and end with one that is no nearer than
any other. So a few runs of the group alone are made first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

from bufferlab.errors import InputError
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import prepare
from bufferlab.scenario import Scenario
from bufferlab.studies.buffers import with_buffer
from bufferlab.studies.least import Bench, Case
from bufferlab.studies.targets import Target, mean_over_runs

SEEDS: Final = 2
"""Runs of each group alone."""

BUFFERS: Final = ("0.1 bdp", "1 bdp")
"""Buffers that a group alone is given: one may lose of its own bursts, the other let them wait."""

NEAR: Final = 0.05
"""Missed by less than this share, a target may be met by another queue: it is not refused. Our choice."""

_BEST_ALONE: Final = (
    "exchange_",
    "completion_",
    "loaded_rtt_",
    "rtt_increase_",
    "wait_",
    "call_",
    "goodput_",
)
"""Beginnings of the names of metrics of which a group gets the best with the links to itself."""


def refuse_impossible(base: Scenario, link: str, targets: Iterable[Target], runner: Runner) -> int:
    """Refuse targets of flow groups that these miss by far even with the links to themselves.

    Args:
        base: The scenario.
        link: Name of the link in question.
        targets: What is asked.
        runner: Runs the simulations.

    Returns:
        How many runs it took.

    Raises:
        InputError: A target cannot be met.
    """
    runs = 0
    for group in dict.fromkeys(each.group for each in targets if _is_best_alone(each)):
        those = [each for each in targets if each.group == group and _is_best_alone(each)]
        bench = _bench(base, link, str(group), runner)
        seeds = [int(base.run["seed"]) + each for each in range(SEEDS)]
        for target in those:
            found = [_found(bench, size, target, seeds) for size in range(len(BUFFERS))]
            known = [value for value in found if value is not None]
            if len(known) == len(found) and not any(_is_near(target, value) for value in known):
                best = max(known) if target.at_least else min(known)
                raise InputError(
                    f"cannot be met: alone on the link, without other traffic, {group} has "
                    f"{target.show_measured(best)}",
                    key="target",
                    value=str(target),
                    accepted=f"a bound of {target.show(best)} or {'less' if target.at_least else 'more'}",
                )
        runs += bench.runs
    return runs


def _is_best_alone(target: Target) -> bool:
    return target.group is not None and target.metric.name.startswith(_BEST_ALONE)


def _bench(base: Scenario, link: str, group: str, runner: Runner) -> Bench:
    flows = cast("list[dict[str, Any]]", base.to_dict()["flows"])
    those = [
        written | {"name": group}
        for written, flow in zip(flows, base.flows, strict=True)
        if flow["name"] == group
    ]
    lone = prepare(base, {"flows": those, "advise": None})
    index = [each["name"] for each in base.links].index(link)
    return Bench(link, lambda case: with_buffer(lone, index, BUFFERS[case.size]), runner)


def _found(bench: Bench, size: int, target: Target, seeds: Sequence[int]) -> float | None:
    values = bench.measure({Case("alone", size): list(seeds)}).values()
    return mean_over_runs(target.name, values).mean


def _is_near(target: Target, value: float) -> bool:
    return target.margin(value) >= -NEAR * abs(value)
