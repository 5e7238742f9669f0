"""The summary of runs of a scenario, for machines: `--json`, `summary.json`, `RunSet.summary()`.

The document always has the same keys:

- `format` ("bufferlab-summary"), `format_version`, `version` (of Bufferlab), `name` (of the scenario),
  `duration_s`, `warmup_s`, `seeds`;
- `resolved`: the scenario with defaults filled in and units resolved, under the first seed;
- the metrics of the run;
- `flows`: an object per flow group and one for "all" (left out if there is one group only), with `group`,
  `flows` (their number, the mean over the seeds) and the metrics of flow groups;
- `queues`: an object per link and group with traffic there, and one of group "all" per link, with `link`,
  `group` and the metrics of queues;
- `latency`: an object per flow group with round trips or calls, with `group`, `kind` and the metrics of
  latency.

docs/metrics.md lists the metrics. A number is the mean over the seeds, `null` if no seed has it. Beside it,
the same key with `_ci95` is half the width of the 95 % confidence interval, `null` for a single seed. Where
some seeds have a value and others do not, the same key with `_runs` is the number of those that have; the
mean is `null` there, too, if the others lack it because too few finished, and theirs would be the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, Final

from bufferlab.results.groups import flow_groups
from bufferlab.results.latency.load import groups_with_latency
from bufferlab.results.measurement import Measurement
from bufferlab.results.metrics.latency import KIND
from bufferlab.results.metrics.metric import Dimension
from bufferlab.results.metrics.registry import FLOW_GROUPS, LATENCY, QUEUE_SUMMARY, RUNS
from bufferlab.results.tables import ALL

FORMAT: Final = "bufferlab-summary"
FORMAT_VERSION: Final = 2

Document = dict[str, Any]


def summarize(results: Sequence[Measurement]) -> Document:
    """Build the summary document of runs of one scenario, at least one."""
    first = results[0]
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "version": first.version,
        "name": first.name,
        "duration_s": first.duration_s,
        "warmup_s": first.warmup_s,
        "seeds": [result.seed for result in results],
        "resolved": first.resolved,
        **RUNS.over_seeds([run_values(result) for result in results]),
        "flows": _over_seeds(results, flow_values, ("group",), FLOW_GROUPS),
        "queues": _over_seeds(results, queue_values, ("link", "group"), QUEUE_SUMMARY),
        "latency": _over_seeds(results, latency_values, ("group", KIND.name), LATENCY),
    }


def _once(values: Callable[[Measurement], list[Document]]) -> Callable[[Measurement], list[Document]]:
    """Values that a run keeps, as its measure and the store both ask for them; nobody may change them."""

    @wraps(values)
    def kept(result: Measurement) -> list[Document]:
        known: dict[str, list[Document]] = vars(result).setdefault("_values", {})
        if values.__name__ not in known:
            known[values.__name__] = values(result)
        return known[values.__name__]

    return kept


def run_values(result: Measurement) -> Document:
    """The metrics of a run."""
    return RUNS.values(result)


@_once
def flow_values(result: Measurement) -> list[Document]:
    """The metrics of a run's flow groups: an object per group, and one for "all" if there are several."""
    return [
        {"group": group.name, "flows": group.flows.height, **FLOW_GROUPS.values(group)}
        for group in flow_groups(result)
    ]


@_once
def queue_values(result: Measurement) -> list[Document]:
    """The metrics of a run's queues: an object per link and group, "all" first."""
    links = [link["name"] for link in result.resolved["links"]]
    rows = result.queues[["link", "group", *QUEUE_SUMMARY.names]].to_dicts()
    return sorted(rows, key=lambda row: (links.index(row["link"]), row["group"] != ALL))


@_once
def latency_values(result: Measurement) -> list[Document]:
    """The metrics of latency of a run's groups with round trips or calls."""
    rows = [
        {"group": group.name, KIND.name: group.kind, **LATENCY.values(group)}
        for group in groups_with_latency(result)
    ]
    _idle, *measured = LATENCY.numbers
    return [row for row in rows if any(row[name] is not None for name in measured)]


def _over_seeds(
    results: Sequence[Measurement],
    values: Callable[[Measurement], Iterable[Document]],
    keys: tuple[str, ...],
    dimension: Dimension,
) -> list[Document]:
    rows: dict[tuple[object, ...], list[Document]] = {}
    for result in results:
        for row in values(result):
            rows.setdefault(tuple(row[key] for key in keys), []).append(row)
    nothing: Document = dict.fromkeys(dimension.names)

    def means(key: tuple[object, ...], of_seeds: list[Document]) -> Document:
        lacking = [nothing] * (len(results) - len(of_seeds))
        metrics = dimension.over_seeds([*of_seeds, *lacking])
        return dict(zip(keys, key, strict=True)) | _mean_flows(of_seeds) | metrics

    return [means(key, of_seeds) for key, of_seeds in rows.items()]


def _mean_flows(of_seeds: Sequence[Document]) -> Document:
    """The number of flows if the rows have it: that of short flows is another with each seed."""
    if "flows" not in of_seeds[0]:
        return {}
    mean = sum(row["flows"] for row in of_seeds) / len(of_seeds)
    return {"flows": int(mean) if mean.is_integer() else mean}
