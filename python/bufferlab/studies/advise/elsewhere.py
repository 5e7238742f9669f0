"""What users wait for or lose at other links of a scenario than the one in question.

Links share nothing but the flows that cross several of them. So a call that is bad since another queue is
full stays bad whatever is chosen here, and an answer that does not say so would be held against the queue.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.runner import Runner
from bufferlab.resolved import is_rated
from bufferlab.results.result import Result
from bufferlab.results.summary import queue_values
from bufferlab.scenario import Scenario
from bufferlab.stats import estimate
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.least.candidates import CHECK_SEEDS

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedFlow

SEEDS: Final = 3
"""Runs that are looked at: as many as compare queues at first."""

FELT_MS: Final = 5.0
"""A mean wait elsewhere that is reported, ms: CoDel's target, the standing wait that a queue may have
(RFC 8289, section 4.3)."""

FELT_LOSS: Final = 0.01
"""A loss elsewhere that is reported; our choice, as that of `advise` for a link's own."""

MOST: Final = 0.5
"""Of what a group waits or loses in all, this share is most of it."""

Felt = Mapping[str, float | None]
"""Waits and losses by \"metric group link\"."""


@dataclass(frozen=True)
class Spoiled:
    """A group that waits or loses mostly at another link.

    Attributes:
        group: Name of the group.
        link: Name of the other link.
        what: Whether it waits there, ms, or loses.
        there: How much at that link.
        total: How much at all links that it crosses.
    """

    group: str
    link: str
    what: Literal["wait", "loss"]
    there: float
    total: float


def spoiled(
    base: Scenario, index: int, answer: Entry, settled: Collection[str] = (), *, runner: Runner
) -> tuple[Spoiled, ...]:
    """What rated groups wait for or lose mostly at another link, with the answer in place.

    Args:
        base: The scenario.
        index: Index of the link in question.
        answer: Its answer.
        settled: Links that have answers of their own in place, so that nothing better is known for them.
        runner: Runs the simulations.
    """
    here = str(base.links[index]["name"])
    mute = {here, *settled}
    crossed = {flow["name"]: _crossed(flow) for flow in base.flows if is_rated(flow["application"])}
    if all(link in mute for links in crossed.values() for link in links):
        return ()
    first = int(base.run["seed"]) + CHECK_SEEDS
    experiment = Experiment(
        "",
        {"elsewhere": answer.queue.scenario(base, index, answer.setting)},
        felt_at_links,
        seeds=lambda _key: list(range(first, first + SEEDS)),
        parameters=lambda key: {"case": key},
    )
    runs = [done.value for done in runner.all(experiment) if done.seed is not None]
    return tuple(_mostly_elsewhere(runs, mute, crossed))


def felt_at_links(result: Result) -> dict[str, float | None]:
    """The mean wait, ms, and the loss of each group at each link, by "metric group link"."""
    return {
        f"{what} {row['group']} {row['link']}": row[metric]
        for row in queue_values(result)
        for what, metric in (("wait", "wait_mean_ms"), ("loss", "loss"))
    }


def _mostly_elsewhere(
    runs: list[Felt], mute: Collection[str], crossed: Mapping[str, Collection[str]]
) -> Iterator[Spoiled]:
    bounds: tuple[tuple[Literal["wait", "loss"], float], ...] = (("wait", FELT_MS), ("loss", FELT_LOSS))
    for group, links in crossed.items():
        for what, least in bounds:
            known = {link: _mean(runs, f"{what} {group} {link}") for link in links}
            total = sum(known.values())
            for link, there in known.items():
                if link not in mute and there >= least and there > MOST * total:
                    yield Spoiled(group, link, what, there, total)


def _mean(runs: list[Felt], name: str) -> float:
    """Mean over runs; nothing where a group did not come."""
    return estimate(run.get(name) or 0.0 for run in runs).mean or 0.0


def _crossed(flow: ResolvedFlow) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*flow["path"], *flow["reverse_path"]]))
