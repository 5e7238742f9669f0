"""The engine's tables as data frames for people: names instead of indices, units in the columns' names.

Figures without a prefix belong to the measured window (from the warm-up's end to the run's end), those
that start with `whole_` to the whole run. Every frame has a column `seed`, so that the frames of several runs
can be stacked.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

import polars as pl

from bufferlab.results import exchanges
from bufferlab.results.metrics.expressions import Run
from bufferlab.results.metrics.flows import FLOWS
from bufferlab.results.metrics.queues import CLASSES, QUEUES, WAIT_QUANTILES
from bufferlab.results.metrics.samples import CLASS_SAMPLES, FLOW_SAMPLES, HISTOGRAMS, QUEUE_SAMPLES
from bufferlab.results.tables import PS_PER_MS, Plan
from bufferlab.results.transfers import with_sizes
from bufferlab.stats import histogram_quantiles
from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from bufferlab._core import Outcome
    from bufferlab._scenario_types import ResolvedScenario


@dataclass(frozen=True)
class Frames:
    """The frames of a run; docs/metrics.md has their columns.

    Attributes:
        flows: One row per flow.
        queues: One row per link and group, and one of group "all" per link.
        histograms: The waits of these pairs.
        queue_samples: Time series of the sampled links.
        flow_samples: Time series of the sampled flows.
        classes: One row per link and class of its queue discipline, if that has classes.
        class_samples: Time series of what such disciplines hold and estimate.
        exchanges: One row per burst, fetch, recorded datagram or ping.
    """

    flows: pl.DataFrame
    queues: pl.DataFrame
    histograms: pl.DataFrame
    queue_samples: pl.DataFrame
    flow_samples: pl.DataFrame
    classes: pl.DataFrame
    class_samples: pl.DataFrame
    exchanges: pl.DataFrame


NAMES: Final = tuple(field.name for field in fields(Frames))
"""The frames' names, which are also those of their files."""


def measured_s(resolved: ResolvedScenario, reached_ps: int) -> float:
    """Length of the measured window, s."""
    return max(reached_ps - resolved["run"]["warmup_ps"], 0) / PS_PER_S


def from_outcome(outcome: Outcome, resolved: ResolvedScenario, plan: Plan, *, brief: bool = False) -> Frames:
    """Build the frames of a run.

    Args:
        outcome: What the engine measured.
        resolved: The scenario under the run's seed.
        plan: Its plan.
        brief: Only the frames that a summary needs; the rest is empty.
    """
    run = Run(resolved, measured_s(resolved, outcome.reached_ps))
    histograms, flows = pl.DataFrame(outcome.histograms()), pl.DataFrame(outcome.flows())
    groups = flows.sort("flow")["group"]
    frames = {
        "flows": with_sizes(flows, resolved, plan).select(run.columns(FLOWS)),
        "queues": _with_quantiles(pl.DataFrame(outcome.queues()), histograms, "group").select(
            run.columns(QUEUES)
        ),
        "exchanges": exchanges.from_table(pl.DataFrame(outcome.exchanges()), groups, run),
    }
    if brief:
        return Frames(**dict.fromkeys(NAMES, pl.DataFrame()) | frames)
    return Frames(
        **frames,
        histograms=histograms.select(run.columns(HISTOGRAMS)),
        queue_samples=_queue_samples(pl.DataFrame(outcome.queue_samples()), run),
        flow_samples=_flow_samples(
            pl.DataFrame(outcome.sender_samples()), pl.DataFrame(outcome.receiver_samples()), groups, run
        ),
        classes=_with_quantiles(
            pl.DataFrame(outcome.classes()), pl.DataFrame(outcome.class_histograms()), "class"
        ).select(run.columns(CLASSES)),
        class_samples=pl.DataFrame(outcome.class_samples()).select(run.columns(CLASS_SAMPLES)),
    )


def _queue_samples(table: pl.DataFrame, run: Run) -> pl.DataFrame:
    return table.sort("link", "time_ps", maintain_order=True).select(run.columns(QUEUE_SAMPLES))


def _flow_samples(
    senders: pl.DataFrame, receivers: pl.DataFrame, groups: pl.Series, run: Run
) -> pl.DataFrame:
    table = senders.join(receivers, on=["time_ps", "flow"], how="full", coalesce=True)
    table = table.with_columns(groups.gather(table["flow"]).alias("group"))
    return table.sort("flow", "time_ps").select(run.columns(FLOW_SAMPLES))


def _with_quantiles(table: pl.DataFrame, histograms: pl.DataFrame, part: str) -> pl.DataFrame:
    """The table with the waits' quantiles; `part` names its groups or classes of a link."""
    buckets = histograms.sort("link", part, "lower_ps").partition_by("link", part, as_dict=True)
    rows: list[tuple[float | None, ...]] = []
    for link, index, longest_ps in table.select("link", part, "wait_max_ps").iter_rows():
        own = buckets.get((link, index), histograms.clear())
        found_ps = histogram_quantiles(
            own["lower_ps"].to_numpy(),
            (own["upper_ps"] - 1).to_numpy(),  # a bucket's bound belongs to the next
            own["count"].to_numpy(),
            list(WAIT_QUANTILES.values()),
            largest=longest_ps,
        )
        rows.append(
            (link, index, *(None if wait_ps is None else wait_ps / PS_PER_MS for wait_ps in found_ps))
        )
    schema = {"link": pl.UInt32, part: pl.UInt32, **dict.fromkeys(WAIT_QUANTILES, pl.Float64)}
    quantiles = pl.DataFrame(rows, schema=schema, orient="row")
    return table.join(quantiles, on=["link", part], how="left", maintain_order="left")
