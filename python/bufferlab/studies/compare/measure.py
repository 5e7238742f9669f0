"""What is compared of one run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from bufferlab.resolved import lasts
from bufferlab.results.result import Result
from bufferlab.results.summary import flow_values, queue_values
from bufferlab.results.tables import ALL
from bufferlab.stats import jain_index

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario

FIGURES: Final = (
    "utilization",
    "jain_index",
    "wait_mean_ms",
    "wait_p95_ms",
    "loss",
    "timeouts",
)
"""What is compared of the link; `jain_index` is that of the flows without end, of all if there are none."""

GROUP_FIGURES: Final = ("goodput_bps", "wait_mean_ms", "wait_p95_ms", "loss", "timeouts")
"""What is compared of each flow group."""

Row = dict[str, Any]


def figures_of_run(link: str, result: Result) -> Row:
    """`FIGURES` of a link, and as `groups` the `GROUP_FIGURES` of each flow group that crosses it."""
    crossing = _crossing(result.resolved, link)
    queue = {row["group"]: row for row in queue_values(result) if row["link"] == link}
    flows = {row["group"]: row for row in flow_values(result)}
    nothing = dict.fromkeys((*FIGURES, *GROUP_FIGURES))
    groups = [{**nothing, **queue.get(name, {}), **flows[name]} for name in crossing]
    return {
        **nothing,
        **queue.get(ALL, {}),
        "jain_index": _fairness(result, crossing),
        "timeouts": sum(group["timeouts"] for group in groups),
        "groups": groups,
    }


def _crossing(resolved: ResolvedScenario, link: str) -> dict[str, bool]:
    """The groups whose data crosses the link, and whether their flows never end."""
    return {flow["name"]: lasts(flow) for flow in resolved["flows"] if link in flow["path"]}


def _fairness(result: Result, crossing: Mapping[str, bool]) -> float | None:
    endless = [name for name, never_ends in crossing.items() if never_ends]
    flows = result.flows.filter(pl.col("group").is_in(endless or list(crossing)))
    return jain_index(flows["goodput_bps"].drop_nulls().to_list())
