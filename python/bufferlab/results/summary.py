"""The summary of one or several runs of a scenario: a document for machines, tables for people.

The document (`--json`, `summary.json`, `RunSet.summary()`) always has the same keys:

- `format` ("bufferlab-summary"), `format_version`, `version` (of Bufferlab), `name` (of the scenario),
  `duration_s`, `warmup_s`, `seeds`;
- the figures of `RUN_FIGURES`;
- `flows`: one object a flow group and one for "all" (left out if there is one group only), with `group`,
  `flows` (their number, the mean over the seeds) and the figures of `FLOW_FIGURES`;
- `queues`: one object a link and group with traffic there, and one of group "all" for each link, with `link`,
  `group` and the figures of `QUEUE_FIGURES`;
- `latency`: one object a flow group with round trips or calls, with `group`, `kind` ("TCP", "page", "ping" or
  a codec), the figures of `LATENCY_FIGURES` and `bloat_grade`; see docs/latency.md.

Transfers that had begun by the run's end are `finished_flows` or `unfinished_flows`, `completion_s` is
the mean over the finished, and `completion_least_s` that over all, the unfinished as long as they were seen
to last: the mean over all is no less. The quantiles take the unfinished for longer than what was seen of them
(Kaplan, Meier), and are `null` if too few were done. Of short flows those that begin in the measured window
count.
Likewise `exchanges` and the figures after it, of bursts, fetches, recorded datagrams and pings that begin in
the measured window, and of bursts and fetches that began before and are still under way at the run's end:
`exchanges_not_done` are those lost or under way then, `exchange_sd_s` the standard deviation,
`delay_variation_ms` that of the times between a flow's arrivals, `jitter_ms` the last estimate of RFC 3550.

A figure is its mean over the seeds, `null` if no seed has it; beside it the same key with `_ci95` is half the
width of its 95 % confidence interval over the seeds, `null` for a single one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from bufferlab.results.exchanges import begun_of, figures
from bufferlab.results.figure import Figure
from bufferlab.results.frames import ALL, transfers
from bufferlab.results.latency import LATENCY_FIGURES, latency_values, with_grades
from bufferlab.stats import censored_quantiles, estimate, jain_index
from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from bufferlab.results.result import Result

FORMAT: Final = "bufferlab-summary"
FORMAT_VERSION: Final = 2


RUN_FIGURES: Final = (
    Figure("packets", "packets that left a link"),
    Figure("events", "events of the engine"),
    Figure("cpu_s", "CPU time, s"),
    Figure("packets_per_cpu_s", "packets per CPU second"),
)

FLOW_FIGURES: Final = (
    Figure("goodput_bps", "goodput per flow, Mbps", 1e-6),
    Figure("goodput_min_bps", "least of a flow, Mbps", 1e-6),
    Figure("goodput_max_bps", "most of a flow, Mbps", 1e-6),
    Figure("goodput_total_bps", "goodput in total, Mbps", 1e-6),
    Figure("jain_index", "Jain's fairness index"),
    Figure("rtt_ms", "round-trip time, ms"),
    Figure("retransmission_fraction", "retransmitted, %", 100),
    Figure("retransmissions", "retransmissions"),
    Figure("timeouts", "timeouts"),
    Figure("recoveries", "fast recoveries"),
    Figure("reordered_packets", "packets overtaken"),
    Figure("spurious_retransmissions", "retransmitted in vain"),
    Figure("finished_flows", "transfers finished"),
    Figure("unfinished_flows", "transfers not finished"),
    Figure("completion_s", "finish: mean of done, s"),
    Figure("completion_least_s", "finish: mean, at least, s"),
    Figure("completion_p50_s", "finish: median, s"),
    Figure("completion_p95_s", "finish: 95 % within, s"),
    Figure("completion_p99_s", "finish: 99 % within, s"),
    Figure("exchanges", "exchanges done"),
    Figure("exchanges_not_done", "exchanges not done"),
    Figure("exchange_s", "exchange: mean of done, s"),
    Figure("exchange_sd_s", "exchange: deviation, s"),
    Figure("exchange_p50_s", "exchange: median, s"),
    Figure("exchange_p95_s", "exchange: 95 % within, s"),
    Figure("exchange_p99_s", "exchange: 99 % within, s"),
    Figure("delay_variation_ms", "delay variation, ms"),
    Figure("jitter_ms", "jitter (RFC 3550), ms"),
)

_LATER_FLOW_FIGURES: Final = ("reordered_packets", "spurious_retransmissions")
"""Results that older versions stored lack them."""

QUEUE_FIGURES: Final = (
    Figure("utilization", "utilization, %", 100),
    Figure("throughput_bps", "throughput, Mbps", 1e-6),
    Figure("loss", "loss, %", 100),
    Figure("dropped_packets", "packets dropped"),
    Figure("lost_packets", "packets lost at random"),
    Figure("marked_packets", "packets marked"),
    Figure("wait_mean_ms", "wait: mean, ms"),
    Figure("wait_p50_ms", "wait: median, ms"),
    Figure("wait_p95_ms", "wait: 95th percentile, ms"),
    Figure("wait_p99_ms", "wait: 99th percentile, ms"),
    Figure("wait_max_ms", "wait: longest, ms"),
    Figure("backlog_mean_packets", "backlog: mean, packets"),
    Figure("backlog_max_packets", "backlog: most, packets"),
    Figure("backlog_mean_bytes", "backlog: mean, KB", 1e-3),
    Figure("backlog_max_bytes", "backlog: most, KB", 1e-3),
)

COMPLETION_QUANTILES: Final[Mapping[str, float]] = {
    "completion_p50_s": 0.50,
    "completion_p95_s": 0.95,
    "completion_p99_s": 0.99,
}

CONFIDENCE_SUFFIX: Final = "_ci95"

Values = Mapping[str, float | None]
Document = dict[str, Any]


def summarize(results: Sequence[Result]) -> Document:
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
        **estimates(_keys(RUN_FIGURES), [_run_values(result) for result in results]),
        "flows": _over_seeds(results, flow_values, ("group",), FLOW_FIGURES),
        "queues": _over_seeds(results, queue_values, ("link", "group"), QUEUE_FIGURES),
        "latency": _latency(results),
    }


def flow_values(result: Result) -> list[Document]:
    """The figures of the flows of one run: an object a group, and one for "all" if there are several."""
    flows = result.flows.with_columns(**_completions(result))
    sources = {group["name"]: group.get("source", {}).get("kind") for group in result.plan["groups"]}
    groups = {group["group"][0]: group for group in flows.partition_by("group", maintain_order=True)}

    def row(name: str, of: pl.DataFrame) -> Document:
        # of all groups together exchanges mean nothing: pings and pages are no one kind of thing
        own = begun_of(result.exchanges, name, result.warmup_s, under_way=sources.get(name) == "tcp")
        return _flow_row(name, of) | figures(own, result.reached_ps / PS_PER_S)

    rows = [row(name, group) for name, group in groups.items()]
    return rows if len(rows) < 2 else [*rows, row(ALL, flows)]


def queue_values(result: Result) -> list[Document]:
    """The figures of the queues of one run: an object a link and group, "all" first."""
    links = [link["name"] for link in result.plan["links"]]
    keys = ["link", "group", *(figure.key for figure in QUEUE_FIGURES)]
    # results that older versions stored lack the figures that came later
    known = result.queues.select(key for key in keys if key in result.queues.columns)
    rows = [dict.fromkeys(keys) | row for row in known.to_dicts()]
    return sorted(rows, key=lambda row: (links.index(row["link"]), row["group"] != ALL))


def _flow_row(name: str, flows: pl.DataFrame) -> Document:
    totals = flows.sum()
    goodput = flows["goodput_bps"].drop_nulls()
    sent, rtt_samples = totals["sent_packets"][0], totals["rtt_samples"][0]
    rtt_sum_ms = (flows["rtt_ms"] * flows["rtt_samples"]).sum()
    return {
        "group": name,
        "flows": flows.height,
        "goodput_bps": goodput.mean(),
        "goodput_min_bps": goodput.min(),
        "goodput_max_bps": goodput.max(),
        "goodput_total_bps": goodput.sum() if goodput.len() else None,
        "jain_index": jain_index(goodput.to_list()),
        "rtt_ms": rtt_sum_ms / rtt_samples if rtt_samples else None,
        "retransmission_fraction": totals["retransmissions"][0] / sent if sent else None,
        "retransmissions": totals["retransmissions"][0],
        "timeouts": totals["timeouts"][0],
        "recoveries": totals["recoveries"][0],
        **{name: totals[name][0] if name in totals.columns else None for name in _LATER_FLOW_FIGURES},
        **_completion_row(flows.filter("counts")),
    }


def _completions(result: Result) -> dict[str, pl.Expr]:
    """Which transfers count, and for how long each was seen to last."""
    planned = transfers(result.plan)[result.flows["flow"].to_list()]
    reached_s = result.reached_ps / PS_PER_S
    began = pl.col("start_s") < reached_s
    in_window = ~planned["is_short"] | (result.flows["start_s"] >= result.warmup_s)
    return {
        "counts": began & planned["transfer_bytes"].is_not_null() & in_window,
        "lasted_s": pl.col("completion_s").fill_null(reached_s - pl.col("start_s")),
    }


def _completion_row(begun: pl.DataFrame) -> Document:
    finished = begun["completion_s"].is_not_null()
    quantiles = censored_quantiles(
        begun["lasted_s"].to_numpy(), finished.to_numpy(), list(COMPLETION_QUANTILES.values())
    )
    return {
        "finished_flows": int(finished.sum()),
        "unfinished_flows": int((~finished).sum()),
        "completion_s": begun["completion_s"].mean(),
        "completion_least_s": begun["lasted_s"].mean(),
        **dict(zip(COMPLETION_QUANTILES, quantiles, strict=True)),
    }


def _run_values(result: Result) -> Values:
    return {
        "packets": result.packets,
        "events": result.events,
        "cpu_s": result.cpu_s,
        "packets_per_cpu_s": result.packets_per_cpu_s,
    }


def _over_seeds(
    results: Sequence[Result],
    values: Callable[[Result], Iterable[Document]],
    keys: tuple[str, ...],
    figures: Sequence[Figure],
) -> list[Document]:
    rows: dict[tuple[object, ...], list[Document]] = {}
    for result in results:
        for row in values(result):
            rows.setdefault(tuple(row[key] for key in keys), []).append(row)
    return [
        dict(zip(keys, key, strict=True)) | _mean_flows(of_seeds) | estimates(_keys(figures), of_seeds)
        for key, of_seeds in rows.items()
    ]


def _mean_flows(of_seeds: Sequence[Document]) -> Document:
    """The number of flows if the rows have it: that of short flows is another with each seed."""
    if "flows" not in of_seeds[0]:
        return {}
    mean = sum(row["flows"] for row in of_seeds) / len(of_seeds)
    return {"flows": int(mean) if mean.is_integer() else mean}


def _latency(results: Sequence[Result]) -> list[Document]:
    """The groups' latency over the seeds, with the grades of their means."""
    rows = _over_seeds(results, latency_values, ("group", "kind"), LATENCY_FIGURES)
    return with_grades(rows)


def _keys(figures: Iterable[Figure]) -> list[str]:
    return [figure.key for figure in figures]


def estimates(keys: Iterable[str], of_seeds: Sequence[Values]) -> Document:
    """Mean and half the confidence interval of each key over the seeds."""
    document: Document = {}
    for key in keys:
        mean, half_width = estimate(values[key] for values in of_seeds)
        document[key] = mean
        document[key + CONFIDENCE_SUFFIX] = half_width
    return document
